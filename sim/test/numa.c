// SPDX-License-Identifier: GPL-2.0-only
/* Stealing goes to the nearest node first, and leaves nobody out. */
#include <string.h>

#include "tap.h"
#include "world.h"

static struct krp_objpool pool;

/* A memory-less CPU, or one that was never there, counts as node 0's. */
static int node_of(unsigned int cpu)
{
	return sim_cpu_node[cpu] < 0 ? 0 : sim_cpu_node[cpu];
}

static int distance(unsigned int from, unsigned int to)
{
	return node_of(from) == node_of(to) ? 0 : sim_node_distance[node_of(from)][node_of(to)];
}

/* One object into each CPU's stash and @each into its ring, the rest out. */
static void spread(unsigned int each)
{
	struct object *out[512];
	unsigned int cpu, nr = 0, i;

	for_each_possible_cpu(cpu) {
		world_be(cpu);
		while (nr < ARRAY_SIZE(out) && (out[nr] = krp_objpool_pop(&pool)))
			nr++;
	}
	CHECK_EQ(nr, pool.nr_total);
	for_each_possible_cpu(cpu) {
		world_be(cpu);
		for (i = 0; i <= each; i++) {
			out[--nr]->owner = cpu + 1;
			CHECK_EQ(krp_objpool_push(out[nr], &pool), 0);
		}
	}
}

/* Drains from @cpu and looks where each object came from. */
static void drain(unsigned int cpu, unsigned int each)
{
	unsigned int from, last = cpu, seen[512] = { 0 }, nr = 0;
	struct object *obj;

	world_be(cpu);
	while ((obj = krp_objpool_pop(&pool))) {
		from = obj->owner - 1;
		seen[from]++;
		nr++;
		/* Nearer CPUs were empty by then; one CPU is emptied at a time. */
		CHECK(distance(cpu, from) >= distance(cpu, last));
		CHECK(from == last || seen[from] == 1);
		last = from;
	}
	CHECK_EQ(nr, sim_nr_possible * each + 1);
}

static void every_cpu_drains(const char *what)
{
	unsigned int cpu, each;

	world_begin_as_set();
	for (each = 1; each <= 3; each++) {
		for_each_possible_cpu(cpu) {
			tap_note("%s: CPU %u, %u in each ring", what, cpu, each);
			/* Last round's victim would come first: a new pool. */
			CHECK_EQ(krp_objpool_init(&pool, 5 * sim_nr_possible,
						  sizeof(struct object), GFP_KERNEL,
						  NULL, NULL, NULL), 0);
			spread(each);
			/* spread() stole, too. */
			per_cpu_ptr(pool.slots, cpu)->victim = cpu;
			drain(cpu, each);
			krp_objpool_free(&pool);
		}
	}
	world_end();
}

static void test_two_nodes(void)
{
	sim_set_cpus(8, 2);
	every_cpu_drains("two nodes");
}

/* A ring of four: two hops are farther than one. */
static void test_four_nodes(void)
{
	int from, to;

	sim_set_cpus(16, 4);
	for (from = 0; from < 4; from++)
		for (to = 0; to < 4; to++)
			sim_node_distance[from][to] = from == to ? 10 :
						      (from - to) % 2 ? 16 : 32;
	every_cpu_drains("four nodes");
}

/* Distances that differ both ways, CPUs of a node apart, node 2 without CPUs. */
static void test_odd_machine(void)
{
	static const int nodes[] = { 3, 1, 0, 3, 1, 0, 3, 1 };
	int from, to, cpu;

	sim_set_cpus(8, 4);
	for (cpu = 0; cpu < 8; cpu++)
		sim_cpu_node[cpu] = nodes[cpu];
	for (from = 0; from < 4; from++)
		for (to = 0; to < 4; to++)
			sim_node_distance[from][to] = from == to ? 10 :
						      11 + (7 * from + 13 * to) % 240;
	every_cpu_drains("odd machine");
}

/* The firmware told no distances: all nodes equally far. */
static void test_equal_distances(void)
{
	int from, to;

	sim_set_cpus(8, 4);
	for (from = 0; from < 4; from++)
		for (to = 0; to < 4; to++)
			sim_node_distance[from][to] = 10;
	every_cpu_drains("equal distances");
}

static void test_cpus_without_a_node(void)
{
	sim_set_cpus(6, 2);
	sim_cpu_node[4] = -1;
	sim_cpu_node[5] = -1;
	every_cpu_drains("no node");
}

static void test_holes_in_cpu_numbers(void)
{
	sim_set_cpus(12, 3);
	sim_set_impossible(1);
	sim_set_impossible(4);
	sim_set_impossible(11);
	every_cpu_drains("holes");
}

/* Where the last steal succeeded comes first, even from a far node. */
static void test_last_victim_first(void)
{
	int i;

	sim_set_cpus(4, 2);
	world_begin_as_set();
	CHECK_EQ(krp_objpool_init(&pool, 40, sizeof(struct object), GFP_KERNEL, NULL, NULL, NULL),
		 0);
	spread(3);
	world_be(0);
	per_cpu_ptr(pool.slots, 0)->victim = 3;
	/* Stash and ring of its own, then CPU 3's, before its neighbour's. */
	for (i = 0; i < 4; i++)
		CHECK_EQ(((struct object *)krp_objpool_pop(&pool))->owner, 0 + 1);
	for (i = 0; i < 3; i++)
		CHECK_EQ(((struct object *)krp_objpool_pop(&pool))->owner, 3 + 1);
	CHECK_EQ(((struct object *)krp_objpool_pop(&pool))->owner, 1 + 1);
	CHECK_EQ(per_cpu_ptr(pool.slots, 0)->victim, 1);
	krp_objpool_free(&pool);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(two_nodes),
	TAP_TEST(four_nodes),
	TAP_TEST(odd_machine),
	TAP_TEST(equal_distances),
	TAP_TEST(cpus_without_a_node),
	TAP_TEST(holes_in_cpu_numbers),
	TAP_TEST(last_victim_first),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
