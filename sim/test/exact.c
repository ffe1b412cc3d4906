// SPDX-License-Identifier: GPL-2.0-only
/* G1, G2 and G8: how many objects a pool gives, and that it gives them all. */
#include <stdlib.h>

#include "tap.h"
#include "world.h"

static struct krp_objpool pool;

/* A CPU alone gets all objects but those in the others' stashes. */
static void test_one_cpu_gets_all(void)
{
	static const int cpus[] = { 1, 2, 3, 4, 7, 64, 256 };
	static const int nrs[] = { 1, 2, 3, 5, 16, 100, 1000 };
	struct krp_objpool_stats st;
	size_t c, n;
	int cpu, nr;

	for (c = 0; c < ARRAY_SIZE(cpus); c++) {
		world_begin(cpus[c]);
		for (n = 0; n < ARRAY_SIZE(nrs); n++) {
			for (cpu = 0; cpu < cpus[c]; cpu += 1 + cpus[c] / 5) {
				tap_note("%d objects, CPU %d of %d", nrs[n], cpu, cpus[c]);
				world_be(cpu);
				CHECK_EQ(krp_objpool_init(&pool, nrs[n], sizeof(struct object),
							  GFP_KERNEL, NULL, NULL, NULL), 0);
				for (nr = 0; ; nr++) {
					struct object *obj = krp_objpool_pop(&pool);

					if (!obj)
						break;
					object_taken(obj, 1);
				}
				CHECK_EQ(nr, nrs[n] + 1);
				krp_objpool_stats(&pool, &st);
				CHECK_EQ(st.counts.misses, 1);
				CHECK_EQ(st.nr_free, cpus[c] - 1);
				krp_objpool_free(&pool);
			}
		}
		world_end();
	}
}

/* Objects that lie where @cpu cannot reach them. */
static int stashed_elsewhere(unsigned int cpu)
{
	unsigned int other;
	int nr = 0;

	for_each_possible_cpu(other)
		nr += other != cpu && per_cpu_ptr(pool.slots, other)->stash;
	return nr;
}

struct walk {
	struct object **out;
	long nr_out;
};

static void walk_pop(struct walk *walk, unsigned int cpu)
{
	struct object *obj = krp_objpool_pop(&pool);

	if (obj) {
		object_taken(obj, 1);
		walk->out[walk->nr_out++] = obj;
		return;
	}
	/* Nothing else runs: a miss means that there is nothing to be had. */
	CHECK(walk->nr_out >= (long)pool.nr_objs);
	CHECK_EQ(pool.nr_total - walk->nr_out, stashed_elsewhere(cpu));
}

static void walk_push(struct walk *walk)
{
	long i;

	if (!walk->nr_out)
		return;
	i = world_random() % walk->nr_out;
	object_given(walk->out[i], 1);
	CHECK_EQ(krp_objpool_push(walk->out[i], &pool), 0);
	walk->out[i] = walk->out[--walk->nr_out];
}

/*
 * Random pops and pushes from random CPUs, one after another, in phases that
 * drain and phases that fill. @cpus are possible, @used of them take part.
 */
static void walk(int cpus, int used, int nr, int grow, long steps)
{
	struct walk walk = { .out = calloc(nr + grow + cpus, sizeof(*walk.out)) };
	struct krp_objpool_stats st;
	bool grown = false;
	long step;

	tap_note("%d CPUs, %d used, %d objects + %d", cpus, used, nr, grow);
	world_begin(cpus);
	CHECK_EQ(krp_objpool_init(&pool, nr, sizeof(struct object), GFP_KERNEL,
				  NULL, NULL, NULL), 0);
	for (step = 0; step < steps; step++) {
		unsigned int cpu = world_random() % used;
		bool draining = step / (4L * nr) % 2;

		world_be(cpu);
		if (world_random() % 8 < (draining ? 5 : 3))
			walk_pop(&walk, cpu);
		else
			walk_push(&walk);
		if (grow && !grown && step > steps / 2) {
			CHECK_EQ(krp_objpool_grow(&pool, grow, GFP_KERNEL, NULL), 0);
			grown = true;
		}
	}
	while (walk.nr_out)
		walk_push(&walk);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.nr_free, pool.nr_total);

	/* Nothing stranded: whichever CPU asks gets what it was promised. */
	world_be(world_random() % used);
	while (walk.nr_out < (long)pool.nr_objs) {
		struct object *obj = krp_objpool_pop(&pool);

		if (!CHECK(obj))
			break;
		object_taken(obj, 1);
		walk.nr_out++;
	}
	krp_objpool_free(&pool);
	world_end();
	free(walk.out);
}

static void test_random_walks(void)
{
	walk(1, 1, 1, 0, 5000);
	walk(1, 1, 30, 7, 50000);
	walk(2, 2, 1, 0, 20000);
	walk(2, 2, 2, 3, 50000);
	walk(3, 3, 5, 0, 100000);
	walk(4, 4, 16, 0, 100000);
	walk(4, 4, 16, 200, 200000);
	walk(8, 8, 3, 0, 100000);
	walk(8, 8, 100, 10, 200000);
	walk(64, 64, 16, 16, 50000);
}

/* C5: most of the possible CPUs never come up. */
static void test_absent_cpus(void)
{
	walk(64, 2, 1, 0, 20000);
	walk(64, 2, 8, 0, 50000);
	walk(64, 2, 200, 50, 100000);
	walk(256, 1, 300, 0, 50000);
}

/* A CPU that leaves with its ring full and its pushes at home strands nothing. */
static void test_cpu_goes_away(void)
{
	enum { NR = 200, CPUS = 8 };
	void *out[NR + CPUS + 1];
	int cpu, nr, i;

	world_begin(CPUS);
	for (cpu = 0; cpu < CPUS; cpu++) {
		tap_note("CPU %d", cpu);
		CHECK_EQ(krp_objpool_init(&pool, NR, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
		world_be(cpu);
		for (nr = 0; (out[nr] = krp_objpool_pop(&pool)); nr++)
			;
		for (i = 0; i < nr; i++)
			CHECK_EQ(krp_objpool_push(out[i], &pool), 0);
		CHECK(per_cpu_ptr(pool.counts, cpu)->overflows);
		world_be((cpu + 3) % CPUS);
		for (nr = 0; krp_objpool_pop(&pool); nr++)
			;
		CHECK_EQ(nr, NR + 1);
		krp_objpool_free(&pool);
	}
	world_end();
}

/* C3: all pushed by one CPU, all others popping. */
static void test_one_pushes_others_pop(void)
{
	enum { NR = 500, CPUS = 16 };
	void *out[NR + CPUS + 1];
	int nr = 0, round, i, given = 0;
	void *obj;

	world_begin(CPUS);
	CHECK_EQ(krp_objpool_init(&pool, NR, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	for (round = 0; round < 20; round++) {
		tap_note("round %d", round);
		for (nr = 0, i = 0; i < CPUS - 1; nr += !!obj, i += !obj) {
			world_be(1 + i);
			obj = krp_objpool_pop(&pool);
			if (obj)
				out[nr] = obj;
		}
		/* Every one that is not in the pusher's own stash. */
		CHECK_EQ(nr, NR + CPUS - 1);
		world_be(0);
		for (given = 0; given < nr; given++)
			CHECK_EQ(krp_objpool_push(out[given], &pool), 0);
	}
	krp_objpool_free(&pool);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(one_cpu_gets_all),
	TAP_TEST(random_walks),
	TAP_TEST(absent_cpus),
	TAP_TEST(cpu_goes_away),
	TAP_TEST(one_pushes_others_pop),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
