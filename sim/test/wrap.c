// SPDX-License-Identifier: GPL-2.0-only
/*
 * G7: ring positions start near every value at which fewer bits, or the wrong
 * kind of comparison, would break, and run across it.
 */
#include <stdlib.h>

#include "tap.h"
#include "world.h"

static struct krp_objpool pool;

/* As objpool.c has it: what a filled cell of position @pos carries in bit 0. */
static unsigned long lap_of(s64 pos, u32 mask)
{
	return !(pos & ((s64)mask + 1));
}

/* Moves all that @slot's ring holds to positions from @pos on. */
static void move_ring(struct krp_objpool_slot *slot, s64 pos, s64 seen_behind)
{
	s64 head = atomic64_read(&slot->head), queued = slot->tail - head;
	u32 cells = slot->mask + 1, i;
	unsigned long *copy = calloc(cells, sizeof(*copy));

	for (i = 0; i < cells; i++) {
		s64 new = (s64)((u64)pos + i);

		if (i < queued)
			copy[new & slot->mask] = (slot->cells[(head + i) & slot->mask] & ~1UL) |
						 lap_of(new, slot->mask);
		else
			/* Left over from the lap before. */
			copy[new & slot->mask] = !lap_of(new, slot->mask);
	}
	for (i = 0; i < cells; i++)
		slot->cells[i] = copy[i];
	free(copy);
	atomic64_set(&slot->head, pos);
	slot->tail = (s64)((u64)pos + queued);
	slot->head_seen = (s64)((u64)pos - seen_behind);
}

static void move_all(s64 pos)
{
	unsigned int cpu;

	/* What was last seen of head may lie up to a ring behind. */
	for_each_possible_cpu(cpu) {
		struct krp_objpool_slot *slot = per_cpu_ptr(pool.slots, cpu);

		move_ring(slot, pos, cpu % 2 ? slot->mask : 0);
	}
}

/* Just before these. */
static const u64 edges[] = {
	0, 1ULL << 8, 1ULL << 15, 1ULL << 16, 1ULL << 31, 1ULL << 32, 1ULL << 33,
	1ULL << 48, 1ULL << 62, 1ULL << 63, (1ULL << 63) | (1ULL << 31), ~0ULL << 32,
};

enum { CPUS = 3, NR = 9 };

/* Pops and pushes a few on random CPUs until every ring has gone round. */
static void churn(unsigned int back)
{
	struct krp_objpool_stats st;
	struct object *out[NR + CPUS];
	unsigned int nr = 0, step, cpu, i;

	for (step = 0; step < 60 * back + 400; step++) {
		cpu = world_random() % CPUS;
		world_be(cpu);
		if (world_random() % 16 < (step / 32 % 2 ? 10 : 6)) {
			struct object *obj = krp_objpool_pop(&pool);

			if (!obj) {
				CHECK(nr >= NR);
				continue;
			}
			object_taken(obj, 1);
			if (!CHECK(nr < ARRAY_SIZE(out)))
				return;
			out[nr++] = obj;
		} else if (nr) {
			i = world_random() % nr;
			object_given(out[i], 1);
			CHECK_EQ(krp_objpool_push(out[i], &pool), 0);
			out[i] = out[--nr];
		}
	}
	for (i = 0; i < nr; i++)
		CHECK_EQ(krp_objpool_push(out[i], &pool), 0);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.nr_free, pool.nr_total);
}

static void test_walks_across_every_edge(void)
{
	unsigned int back;
	size_t e;

	world_begin(CPUS);
	for (e = 0; e < ARRAY_SIZE(edges); e++) {
		for (back = 0; back <= 20; back++) {
			s64 start = (s64)(edges[e] - back);
			unsigned int cpu;

			tap_note("from %#llx", (unsigned long long)start);
			CHECK_EQ(krp_objpool_init(&pool, NR, sizeof(struct object), GFP_KERNEL,
						  NULL, NULL, NULL), 0);
			move_all(start);
			churn(back);
			/* Or the edge was never crossed. */
			for_each_possible_cpu(cpu)
				CHECK((u64)per_cpu_ptr(pool.slots, cpu)->tail - (u64)start > back);
			krp_objpool_free(&pool);
		}
	}
	world_end();
}

/* A full ring refuses, an empty one gives nothing, on both sides of an edge. */
static void test_full_and_empty_at_every_edge(void)
{
	struct krp_objpool_counts *counts;
	struct krp_objpool_slot *slot;
	void *out[3 + 1 + 8 + 1];
	unsigned int back, nr, i, cells, round;
	size_t e;

	world_begin(1);
	for (e = 0; e < ARRAY_SIZE(edges); e++) {
		for (back = 0; back <= 20; back++) {
			tap_note("%u before %#llx", back, (unsigned long long)edges[e]);
			CHECK_EQ(krp_objpool_init(&pool, 3, 8, GFP_KERNEL, NULL, NULL, NULL), 0);
			CHECK_EQ(krp_objpool_grow(&pool, 8, GFP_KERNEL, NULL), 0);
			move_all((s64)(edges[e] - back));
			slot = per_cpu_ptr(pool.slots, 0);
			counts = per_cpu_ptr(pool.counts, 0);
			cells = slot->mask + 1;
			for (round = 0; round < 5; round++) {
				unsigned long before = counts->overflows;

				for (nr = 0; (out[nr] = krp_objpool_pop(&pool)); nr++)
					;
				CHECK_EQ(nr, 3 + 1 + 8);
				CHECK_EQ(slot->tail, atomic64_read(&slot->head));
				for (i = 0; i < nr; i++)
					CHECK_EQ(krp_objpool_push(out[i], &pool), 0);
				CHECK_EQ((u64)slot->tail - (u64)atomic64_read(&slot->head), cells);
				CHECK_EQ(counts->overflows - before, nr - 1 - cells);
			}
			krp_objpool_free(&pool);
		}
	}
	world_end();
}

/* The same with CPUs that really run at once. */
enum { BEFORE = 50 };
static s64 threads_start;

/* Well past the edge? */
static bool across(unsigned int cpu)
{
	s64 tail = READ_ONCE(per_cpu_ptr(pool.slots, cpu)->tail);

	return (u64)tail - (u64)threads_start > 2 * BEFORE;
}

static void churn_thread(unsigned int cpu)
{
	struct object *out[4];
	unsigned int nr = 0, patience = 10000000;

	/* A busy machine may leave a thread no time at all before it is up. */
	while (!world_time_is_up() || (!across(cpu) && patience--)) {
		if (nr < ARRAY_SIZE(out) && world_random() % 2) {
			out[nr] = krp_objpool_pop(&pool);
			if (out[nr])
				object_taken(out[nr++], cpu + 1);
		} else if (nr) {
			object_given(out[--nr], cpu + 1);
			CHECK_EQ(krp_objpool_push(out[nr], &pool), 0);
		}
	}
	while (nr) {
		object_given(out[--nr], cpu + 1);
		CHECK_EQ(krp_objpool_push(out[nr], &pool), 0);
	}
}

static void test_threads_across_edges(void)
{
	struct krp_objpool_stats st;
	unsigned int cpu;
	size_t e;

	world_begin(CPUS);
	for (e = 0; e < ARRAY_SIZE(edges); e++) {
		threads_start = (s64)(edges[e] - BEFORE);
		tap_note("from %#llx", (unsigned long long)threads_start);
		/* One per CPU: the pool is mostly empty, and rings are stolen from. */
		CHECK_EQ(krp_objpool_init(&pool, CPUS, sizeof(struct object), GFP_KERNEL,
					  NULL, NULL, NULL), 0);
		move_all(threads_start);
		world_run(CPUS, 60, churn_thread);
		krp_objpool_stats(&pool, &st);
		CHECK_EQ(st.nr_free, pool.nr_total);
		for_each_possible_cpu(cpu)
			CHECK(across(cpu));
		krp_objpool_free(&pool);
	}
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(walks_across_every_edge),
	TAP_TEST(full_and_empty_at_every_edge),
	TAP_TEST(threads_across_edges),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
