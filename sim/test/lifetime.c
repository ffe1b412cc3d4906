// SPDX-License-Identifier: GPL-2.0-only
/* drop, fini, free and grow: who gives the memory back, when, and that once. */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "world.h"

static int releases;

static int count_release(struct krp_objpool *pool, void *context)
{
	CHECK(context == &releases);
	__atomic_add_fetch(&releases, 1, __ATOMIC_RELAXED);
	return 0;
}

/* The pool's owner may free it here: its last sign of life. */
static int free_in_release(struct krp_objpool *pool, void *context)
{
	count_release(pool, context);
	memset(pool, 0xa5, sizeof(*pool));
	free(pool);
	return 0;
}

static struct krp_objpool *new_pool(int nr)
{
	struct krp_objpool *pool = malloc(sizeof(*pool));

	releases = 0;
	CHECK_EQ(krp_objpool_init(pool, nr, sizeof(struct object), GFP_KERNEL, &releases, NULL,
				  free_in_release), 0);
	return pool;
}

/* Who gives a pool up: by work items, or in the call itself. */
struct ways {
	int (*drop)(void *obj, struct krp_objpool *pool);
	void (*fini)(struct krp_objpool *pool);
};

static const struct ways ways[] = {
	{ krp_objpool_drop, krp_objpool_fini },
	{ krp_objpool_drop_now, krp_objpool_fini_now },
};

/* Event 0 is fini, event i the drop of object i: in every order. */
static void one_order(const struct ways *by, const int *order, int events)
{
	struct krp_objpool *pool = new_pool(8);
	void *out[4];
	int i;

	for (i = 1; i < events; i++)
		CHECK((out[i] = krp_objpool_pop(pool)));
	for (i = 0; i < events; i++) {
		tap_note("%d events, step %d is %d", events, i, order[i]);
		CHECK_EQ(releases, 0);
		if (!order[i])
			by->fini(pool);
		else
			CHECK_EQ(by->drop(out[order[i]], pool),
				 i < events - 1 ? -EAGAIN : 0);
	}
	CHECK_EQ(releases, 1);
	CHECK_EQ(world_allocations_live(), 0);
}

static void permute(const struct ways *by, int *order, int fixed, int events)
{
	int i, swap;

	if (fixed == events) {
		one_order(by, order, events);
		return;
	}
	for (i = fixed; i < events; i++) {
		swap = order[fixed], order[fixed] = order[i], order[i] = swap;
		permute(by, order, fixed + 1, events);
		swap = order[fixed], order[fixed] = order[i], order[i] = swap;
	}
}

static void test_fini_and_drop_in_every_order(void)
{
	int order[] = { 0, 1, 2, 3 }, events;
	size_t i;

	world_begin(3);
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		for (events = 1; events <= 4; events++)
			permute(&ways[i], order, 0, events);
	world_end();
}

/* Objects in every place: fini takes them all back, from any CPU. */
static void test_fini_finds_all(void)
{
	enum { CPUS = 5, NR = 30, MORE = 40 };
	struct krp_objpool *pool;
	void *out[NR + MORE + CPUS + 1];
	int cpu, held, nr, i;

	world_begin(CPUS);
	for (cpu = 0; cpu < CPUS; cpu++) {
		for (held = 0; held < 8; held++) {
			tap_note("fini on CPU %d, %d held", cpu, held);
			pool = new_pool(NR);
			CHECK_EQ(krp_objpool_grow(pool, MORE, GFP_KERNEL, NULL), 0);
			for (nr = 0; (out[nr] = krp_objpool_pop(pool)); nr++)
				world_be(world_random() % CPUS);
			/* Into stashes, rings and home. */
			for (i = held; i < nr; i++) {
				world_be(world_random() % 2);
				CHECK_EQ(krp_objpool_push(out[i], pool), 0);
			}
			world_be(cpu);
			krp_objpool_fini(pool);
			for (i = 0; i < held; i++) {
				CHECK_EQ(releases, 0);
				CHECK_EQ(krp_objpool_drop(out[i], pool),
					 i < held - 1 ? -EAGAIN : 0);
			}
			CHECK_EQ(releases, 1);
			CHECK_EQ(world_allocations_live(), 0);
		}
	}
	world_end();
}

static void test_drop_refuses_foreign(void)
{
	struct krp_objpool *pool, *other;
	void *out, *foreign;

	world_begin(2);
	other = new_pool(4);
	pool = new_pool(4);
	out = krp_objpool_pop(pool);
	foreign = krp_objpool_pop(other);
	krp_objpool_fini(pool);
	CHECK_EQ(krp_objpool_drop(NULL, pool), -EINVAL);
	CHECK_EQ(krp_objpool_drop(foreign, pool), -EINVAL);
	CHECK_EQ(releases, 0);
	CHECK_EQ(krp_objpool_drop(out, pool), 0);
	CHECK_EQ(releases, 1);
	krp_objpool_free(other);
	CHECK_EQ(releases, 2);
	world_end();
}

static void test_free_asks_nobody(void)
{
	struct krp_objpool pool;
	int held;

	world_begin(2);
	for (held = 0; held < 6; held++) {
		int i;

		releases = 0;
		CHECK_EQ(krp_objpool_init(&pool, 4, 8, GFP_KERNEL, &releases, NULL, count_release),
			 0);
		CHECK_EQ(krp_objpool_grow(&pool, 4, GFP_KERNEL, NULL), 0);
		for (i = 0; i < held; i++)
			CHECK(krp_objpool_pop(&pool));
		krp_objpool_free(&pool);
		CHECK_EQ(releases, 1);
		CHECK_EQ(world_allocations_live(), 0);
	}
	world_end();
}

static void test_no_release_callback(void)
{
	struct krp_objpool pool;
	void *out;

	world_begin(2);
	CHECK_EQ(krp_objpool_init(&pool, 4, 8, GFP_KERNEL, NULL, NULL, NULL), 0);
	out = krp_objpool_pop(&pool);
	krp_objpool_fini(&pool);
	CHECK(world_allocations_live());
	CHECK_EQ(krp_objpool_drop(out, &pool), 0);
	CHECK_EQ(world_allocations_live(), 0);
	world_end();
}

static int count_objinit(void *obj, void *context)
{
	++*(int *)context;
	return 0;
}

/* What growing adds can be had, and can come and go like the rest. */
static void test_grow_adds(void)
{
	static const int adds[] = { 1, 3, 64, 65, 200 };
	struct krp_objpool pool;
	struct krp_objpool_stats st;
	struct object *out[8 + 400];
	size_t bytes;
	int inits = 0, nr = 0, sum = 8, again;
	size_t i;

	world_begin(4);
	CHECK_EQ(krp_objpool_init(&pool, sum, sizeof(struct object), GFP_KERNEL, &inits,
				  count_objinit, NULL), 0);
	CHECK_EQ(inits, sum + 4);
	for (i = 0; i < ARRAY_SIZE(adds); i++) {
		tap_note("step %zu", i);
		bytes = pool.bytes;
		inits = 0;
		CHECK_EQ(krp_objpool_grow(&pool, adds[i], GFP_KERNEL, count_objinit), 0);
		CHECK_EQ(inits, adds[i]);
		CHECK(pool.bytes >= bytes + adds[i] * sizeof(struct object));
		sum += adds[i];
		CHECK_EQ(pool.nr_objs, sum);
		/* While all earlier ones are out. */
		for (; nr < sum + 1; nr++) {
			out[nr] = krp_objpool_pop(&pool);
			if (!CHECK(out[nr]))
				break;
			object_taken(out[nr], 1);
		}
		CHECK(!krp_objpool_pop(&pool));
	}
	for (again = 0; again < 3; again++) {
		world_be(again);
		while (nr--) {
			object_given(out[nr], 1);
			CHECK_EQ(krp_objpool_push(out[nr], &pool), 0);
		}
		krp_objpool_stats(&pool, &st);
		CHECK_EQ(st.nr_free, pool.nr_total);
		world_be(again + 1);
		for (nr = 0; (out[nr] = krp_objpool_pop(&pool)); nr++)
			object_taken(out[nr], 1);
		CHECK_EQ(nr, sum + 1);
	}
	krp_objpool_free(&pool);
	world_end();
}

/* Drops on all CPUs at once, and fini in their midst. */
enum { RACE_CPUS = 4, RACE_HELD = 3 };
static struct krp_objpool *race_pool;
static struct object *race_out[RACE_CPUS][RACE_HELD];
static int race_zeros;

static void race(unsigned int cpu)
{
	int i, ret;

	if (cpu == RACE_CPUS) {
		krp_objpool_fini(race_pool);
		return;
	}
	for (i = 0; i < RACE_HELD; i++) {
		race_out[cpu][i]->uses++;
		ret = krp_objpool_drop(race_out[cpu][i], race_pool);
		if (!ret)
			__atomic_add_fetch(&race_zeros, 1, __ATOMIC_RELAXED);
		else
			CHECK_EQ(ret, -EAGAIN);
	}
}

static void test_drops_race_with_fini(void)
{
	int round, cpu, i, last_was_drop = 0;

	world_begin(RACE_CPUS + 1);
	for (round = 0; round < 300; round++) {
		tap_note("round %d", round);
		race_pool = new_pool(20);
		for (cpu = 0; cpu < RACE_CPUS; cpu++)
			for (i = 0; i < RACE_HELD; i++)
				CHECK((race_out[cpu][i] = krp_objpool_pop(race_pool)));
		race_zeros = 0;
		world_run(RACE_CPUS + 1, 0, race);
		CHECK_EQ(releases, 1);
		/* Either the last drop says so or fini was last. */
		CHECK(race_zeros <= 1);
		last_was_drop += race_zeros;
		CHECK_EQ(world_allocations_live(), 0);
	}
	tap_say("a drop was last in %d of %d rounds", last_was_drop, round);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(fini_and_drop_in_every_order),
	TAP_TEST(fini_finds_all),
	TAP_TEST(drop_refuses_foreign),
	TAP_TEST(free_asks_nobody),
	TAP_TEST(no_release_callback),
	TAP_TEST(grow_adds),
	TAP_TEST(drops_race_with_fini),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
