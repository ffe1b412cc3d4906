// SPDX-License-Identifier: GPL-2.0-only
/* What the objects are like, and what happens to pointers that are none. */
#include <string.h>

#include <linux/bitops.h>

#include "tap.h"
#include "world.h"

static struct krp_objpool pool, other;

static unsigned long nr_free(struct krp_objpool *of)
{
	struct krp_objpool_stats st;

	krp_objpool_stats(of, &st);
	return st.nr_free;
}

/* Every byte of every object is its own, and objects start at words. */
static void test_layout(void)
{
	static const int sizes[] = { 1, 7, 8, 9, 24, 63, 64, 65, 200, 4096 };
	void *objs[43 + 20];
	int size, nr, k;
	size_t i;

	world_begin(4);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size = sizes[i];
		tap_note("object size %d", size);
		if (!CHECK_EQ(krp_objpool_init(&pool, 40, size, GFP_KERNEL, NULL, NULL, NULL), 0))
			continue;
		CHECK_EQ(krp_objpool_grow(&pool, 20, GFP_KERNEL, NULL), 0);
		for (nr = 0; nr < (int)ARRAY_SIZE(objs); nr++) {
			objs[nr] = krp_objpool_pop(&pool);
			if (!objs[nr])
				break;
			CHECK_EQ((unsigned long)objs[nr] % sizeof(long), 0);
			for (k = 0; k < size; k++)
				CHECK_EQ(((unsigned char *)objs[nr])[k], 0);
			memset(objs[nr], nr + 1, size);
		}
		CHECK(nr >= 60);
		while (nr--) {
			for (k = 0; k < size; k++)
				CHECK_EQ(((unsigned char *)objs[nr])[k], nr + 1);
			/* The last byte written must not have hit a header. */
			CHECK_EQ(krp_objpool_push(objs[nr], &pool), 0);
		}
		CHECK_EQ(nr_free(&pool), pool.nr_total);
		krp_objpool_free(&pool);
	}
	world_end();
}

static int number_object(void *obj, void *context)
{
	*(int *)obj = (*(int *)context)++;
	return 0;
}

static void visit(void *obj, void *data)
{
	((unsigned char *)data)[*(int *)obj]++;
}

/* Every object once, wherever it is. */
static void test_for_each(void)
{
	unsigned char seen[30 + 4 + 10 + 1] = { 0 };
	void *out[12];
	int number = 0;
	size_t i;

	world_begin(4);
	CHECK_EQ(krp_objpool_init(&pool, 30, sizeof(int), GFP_KERNEL, &number, number_object, NULL),
		 0);
	CHECK_EQ(krp_objpool_grow(&pool, 10, GFP_KERNEL, number_object), 0);
	for (i = 0; i < ARRAY_SIZE(out); i++)
		CHECK((out[i] = krp_objpool_pop(&pool)));
	/* Some home, some in another CPU's ring. */
	world_be(3);
	for (i = 0; i < ARRAY_SIZE(out) - 2; i++)
		CHECK_EQ(krp_objpool_push(out[i], &pool), 0);
	krp_objpool_for_each(&pool, visit, seen);
	for (i = 0; i < ARRAY_SIZE(seen) - 1; i++)
		CHECK_EQ(seen[i], 1);
	CHECK_EQ(seen[i], 0);
	krp_objpool_free(&pool);
	world_end();
}

static void test_null_and_foreign(void)
{
	unsigned long zeros[16] = { 0 };
	void *mine, *foreign;

	world_begin(2);
	CHECK_EQ(krp_objpool_init(&pool, 8, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	CHECK_EQ(krp_objpool_init(&other, 8, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	CHECK((mine = krp_objpool_pop(&pool)));
	CHECK((foreign = krp_objpool_pop(&other)));

	CHECK_EQ(krp_objpool_push(NULL, &pool), -EINVAL);
	CHECK_EQ(krp_objpool_drop(NULL, &pool), -EINVAL);
	CHECK_EQ(krp_objpool_push(foreign, &pool), -EINVAL);
	CHECK_EQ(krp_objpool_drop(foreign, &pool), -EINVAL);
	CHECK_EQ(krp_objpool_push(mine, &other), -EINVAL);
	/* Not the start of an object, and nothing of a pool at all. */
	CHECK_EQ(krp_objpool_push(mine + 16, &pool), -EINVAL);
	CHECK_EQ(krp_objpool_push(&zeros[8], &pool), -EINVAL);
	CHECK_EQ(nr_free(&pool), pool.nr_total - 1);
	CHECK_EQ(nr_free(&other), other.nr_total - 1);

	CHECK_EQ(krp_objpool_push(mine, &pool), 0);
	CHECK_EQ(krp_objpool_push(foreign, &other), 0);
	krp_objpool_free(&pool);
	krp_objpool_free(&other);
	world_end();
}

/* Fills @cpu's stash and ring, so that its next push goes home. */
static void fill_slot(int cpu)
{
	struct krp_objpool_counts *counts = per_cpu_ptr(pool.counts, cpu);
	unsigned long overflows = counts->overflows;
	unsigned int tries = 4 * pool.nr_total;
	void *obj;

	while (counts->overflows == overflows && CHECK(tries--)) {
		world_be(!cpu);
		obj = krp_objpool_pop(&pool);
		if (!CHECK(obj))
			return;
		world_be(cpu);
		CHECK_EQ(krp_objpool_push(obj, &pool), 0);
	}
}

/* A pointer that passed the cheap check, or skipped it, is caught at home. */
static void test_bad_pointers_at_home(void)
{
	struct krp_objpool_header saved, *header;
	struct krp_objpool_chunk *chunk;
	void *foreign, *obj, *grown = NULL;
	unsigned long before;
	int counted;

	world_begin(2);
	CHECK_EQ(krp_objpool_init(&pool, 40, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	CHECK_EQ(krp_objpool_init(&other, 40, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	fill_slot(0);
	world_be(1);
	CHECK((obj = krp_objpool_pop(&pool)));
	CHECK((foreign = krp_objpool_pop(&other)));
	world_be(0);
	before = nr_free(&pool);

	CHECK_EQ(__krp_objpool_push(foreign, &pool), -EINVAL);
	header = krp_objpool_header(obj);
	saved = *header;
	header->index++;
	CHECK_EQ(krp_objpool_push(obj, &pool), -EINVAL);
	header->index = U32_MAX;
	CHECK_EQ(krp_objpool_push(obj, &pool), -EINVAL);
	*header = saved;
	header->chunk = nr_cpu_ids + 5;
	CHECK_EQ(krp_objpool_push(obj, &pool), -EINVAL);
	header->chunk = !saved.chunk;
	CHECK_EQ(krp_objpool_push(obj, &pool), -EINVAL);
	*header = saved;
	CHECK_EQ(nr_free(&pool), before);

	CHECK_EQ(krp_objpool_push(obj, &pool), 0);
	chunk = &per_cpu_ptr(pool.slots, saved.chunk)->chunk;
	counted = atomic_read(&chunk->at_home);
	CHECK(counted >= 1);
	/* It lies at home now. */
	CHECK_EQ(krp_objpool_push(obj, &pool), -EINVAL);
	CHECK_EQ(nr_free(&pool), before + 1);
	/* Nor do refused pushes count. */
	CHECK_EQ(atomic_read(&chunk->at_home), counted);

	/* The same for an object of a grown chunk. */
	CHECK_EQ(krp_objpool_grow(&pool, 70, GFP_KERNEL, NULL), 0);
	grown = pool.grown->chunk.base + sizeof(*header);
	CHECK_EQ(krp_objpool_push(grown, &pool), -EINVAL);
	CHECK_EQ(nr_free(&pool), before + 1 + 70);

	krp_objpool_free(&pool);
	krp_objpool_free(&other);
	world_end();
}

static void test_double_push_to_stash(void)
{
	void *obj;

	world_begin(2);
	CHECK_EQ(krp_objpool_init(&pool, 8, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	CHECK((obj = krp_objpool_pop(&pool)));
	CHECK_EQ(krp_objpool_push(obj, &pool), 0);
	CHECK_EQ(krp_objpool_push(obj, &pool), -EINVAL);
	CHECK_EQ(nr_free(&pool), pool.nr_total);
	krp_objpool_free(&pool);
	world_end();
}

/* One step at a time: each counter moves when it should and only then. */
static void test_stats(void)
{
	struct krp_objpool_stats st;
	void *a, *b, *objs[32];
	int nr = 0, local, overflows = 0, i;

	world_begin(2);
	/* 4 + 2 objects: each CPU has one in its stash and two in its ring. */
	CHECK_EQ(krp_objpool_init(&pool, 4, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.nr_free, 6);
	CHECK_EQ(st.counts.local + st.counts.steals + st.counts.overflows + st.counts.misses, 0);

	/* Through the stash: nothing is counted. */
	a = krp_objpool_pop(&pool);
	CHECK_EQ(krp_objpool_push(a, &pool), 0);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.counts.local + st.counts.steals + st.counts.overflows + st.counts.misses, 0);

	a = krp_objpool_pop(&pool);
	b = krp_objpool_pop(&pool);
	CHECK(a && b && a != b);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.counts.local, 1);
	CHECK_EQ(st.nr_free, 4);

	/* The rest of the own ring, both of the other's, then nothing. */
	objs[nr++] = a;
	objs[nr++] = b;
	while ((objs[nr] = krp_objpool_pop(&pool)))
		nr++;
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(nr, 5);
	CHECK_EQ(st.counts.local, 2);
	CHECK_EQ(st.counts.steals, 2);
	CHECK_EQ(st.counts.misses, 1);
	CHECK_EQ(st.nr_free, 1);
	CHECK_EQ(st.counts.overflows, 0);

	/* One into the stash, four into the ring, none home ... */
	for (i = 0; i < nr; i++)
		CHECK_EQ(krp_objpool_push(objs[i], &pool), 0);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.counts.overflows, 0);
	CHECK_EQ(st.nr_free, 6);

	/* ... but with more objects than cells some go home. */
	CHECK_EQ(krp_objpool_grow(&pool, 10, GFP_KERNEL, NULL), 0);
	for (nr = 0; (objs[nr] = krp_objpool_pop(&pool)); nr++)
		;
	CHECK_EQ(nr, 15);
	krp_objpool_stats(&pool, &st);
	local = st.counts.local;
	CHECK_EQ(local, 2 + 4 + 10);
	for (i = 0; i < nr; i++)
		CHECK_EQ(krp_objpool_push(objs[i], &pool), 0);
	overflows = nr - 1 - (int)(per_cpu_ptr(pool.slots, 0)->mask + 1);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.counts.overflows, overflows);
	CHECK_EQ(st.nr_free, 16);
	CHECK_EQ(st.counts.misses, 2);
	krp_objpool_free(&pool);
	world_end();
}

/* A CPU has nothing left when stash, ring and home are empty, not before. */
static void test_low(void)
{
	enum { CPUS = 3, NR = 27, SHARE = (NR + CPUS) / CPUS };
	struct krp_objpool_slot *own;
	void *objs[NR + 2];
	int i, nr;

	world_begin(CPUS);
	CHECK_EQ(krp_objpool_init(&pool, NR, 8, GFP_KERNEL, NULL, NULL, NULL), 0);
	own = per_cpu_ptr(pool.slots, 0);
	for (nr = 0; nr < SHARE; nr++) {
		CHECK(!krp_objpool_low(&pool));
		CHECK((objs[nr] = krp_objpool_pop(&pool)));
	}
	/* What others have does not count. */
	CHECK(krp_objpool_low(&pool));
	for (; (objs[nr] = krp_objpool_pop(&pool)); nr++)
		;
	CHECK_EQ(nr, NR + 1);
	/* Its own, which it got first, last: they go home beside a full ring. */
	while (nr)
		CHECK_EQ(krp_objpool_push(objs[--nr], &pool), 0);
	CHECK(READ_ONCE(own->word));
	/* Until stash and ring are empty. */
	for (nr = 1 + own->mask + 1; nr; nr--)
		CHECK(krp_objpool_pop(&pool));
	CHECK(!own->stash && own->tail == atomic64_read(&own->head));
	CHECK(!krp_objpool_low(&pool));
	for (i = hweight_long(READ_ONCE(own->word)); i; i--)
		CHECK(krp_objpool_pop(&pool));
	CHECK(krp_objpool_low(&pool));
	krp_objpool_free(&pool);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(layout),
	TAP_TEST(for_each),
	TAP_TEST(null_and_foreign),
	TAP_TEST(bad_pointers_at_home),
	TAP_TEST(double_push_to_stash),
	TAP_TEST(stats),
	TAP_TEST(low),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
