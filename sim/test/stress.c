// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that are CPUs, more of them than cores, so that each is stopped at
 * any point for as long as the scheduler likes. Afterwards all is counted.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "world.h"

enum { MAX_CPUS = 32, MAILBOX = 16, MS = 500, POPS_MIN = 200 };

static struct krp_objpool pool;
static unsigned int nr_cpus, hold;

/* Exact, per CPU: whoever joins the threads adds them up. */
static struct {
	unsigned long pops, misses;
} ____cacheline_aligned counts[MAX_CPUS];

/* Objects on their way from one CPU to another. */
static struct object *mailbox[MAILBOX];

static struct object *pop(unsigned int cpu)
{
	struct object *obj = krp_objpool_pop(&pool);

	if (obj) {
		object_taken(obj, cpu + 1);
		counts[cpu].pops++;
	} else {
		counts[cpu].misses++;
	}
	return obj;
}

static void push(struct object *obj, unsigned int cpu)
{
	object_given(obj, cpu + 1);
	CHECK_EQ(krp_objpool_push(obj, &pool), 0);
}

static void begin(unsigned int cpus, int nr)
{
	nr_cpus = cpus;
	memset(counts, 0, sizeof(counts));
	memset(mailbox, 0, sizeof(mailbox));
	world_begin(cpus);
	CHECK_EQ(krp_objpool_init(&pool, nr, sizeof(struct object), GFP_KERNEL, NULL, NULL, NULL),
		 0);
}

static unsigned long count_pops(void)
{
	unsigned long pops = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		pops += counts[cpu].pops;
	return pops;
}

/* Again while a busy machine has not let enough happen to test anything. */
static void run(void (*fn)(unsigned int cpu))
{
	int tries = 20;

	do {
		world_run(nr_cpus, MS, fn);
	} while (count_pops() < POPS_MIN && --tries);
}

/* Nothing duplicated, nothing lost, every miss counted. */
static struct krp_objpool_stats end(const char *what)
{
	struct krp_objpool_stats st, result;
	unsigned long pops = count_pops(), misses = 0;
	unsigned int cpu, nr = 0;
	struct object *obj;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		misses += counts[cpu].misses;
	krp_objpool_stats(&pool, &result);
	CHECK_EQ(result.nr_free, pool.nr_total);
	CHECK_EQ(result.counts.misses, misses);
	CHECK(result.counts.local + result.counts.steals <= pops);
	for_each_possible_cpu(cpu) {
		world_be(cpu);
		while ((obj = krp_objpool_pop(&pool))) {
			object_taken(obj, 99);
			nr++;
		}
	}
	CHECK_EQ(nr, pool.nr_total);
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.nr_free, 0);
	tap_say("%s: %lu pops, %lu beside the stash, %lu stolen, %lu pushed home, %lu misses", what,
		pops, result.counts.local, result.counts.steals, result.counts.overflows, misses);
	/* Or nothing was tested. */
	CHECK(pops >= POPS_MIN);
	krp_objpool_free(&pool);
	world_end();
	return result;
}

static void pairs(unsigned int cpu)
{
	struct object *obj;

	while (!world_time_is_up()) {
		obj = pop(cpu);
		if (obj)
			push(obj, cpu);
	}
}

/* G6, seen in the counters: everyone stays with the object in its stash. */
static void test_steady_state(void)
{
	struct krp_objpool_stats st;

	begin(6, 6);
	run(pairs);
	st = end("steady state");
	CHECK_EQ(st.counts.local + st.counts.steals + st.counts.overflows + st.counts.misses, 0);
}

/* Up to @hold at a time, back in any order. */
static void bursts(unsigned int cpu)
{
	struct object *mine[16];
	unsigned int nr = 0, i;

	while (!world_time_is_up()) {
		if (nr < hold && world_random() % 2) {
			mine[nr] = pop(cpu);
			nr += !!mine[nr];
		} else if (nr) {
			i = world_random() % nr;
			push(mine[i], cpu);
			mine[i] = mine[--nr];
		}
	}
	while (nr)
		push(mine[--nr], cpu);
}

static void test_bursts(void)
{
	begin(6, 24);
	hold = 8;
	run(bursts);
	end("bursts");
}

static void test_nearly_empty(void)
{
	struct krp_objpool_stats st;

	begin(8, 1);
	hold = 4;
	run(bursts);
	st = end("nearly empty");
	CHECK(st.counts.misses);
}

static void test_more_cpus_than_objects(void)
{
	begin(MAX_CPUS, 4);
	hold = 2;
	run(bursts);
	end("32 CPUs");
}

/* Leaves @obj in the mailbox, or nothing if NULL, and takes what was there. */
static struct object *swap(struct object *obj)
{
	if (obj)
		__atomic_store_n(&obj->owner, 77, __ATOMIC_RELAXED);
	return __atomic_exchange_n(&mailbox[world_random() % MAILBOX], obj, __ATOMIC_ACQ_REL);
}

/* What one pops another pushes, two at a time. */
static void hand_over(unsigned int cpu)
{
	struct object *first, *second;

	while (!world_time_is_up()) {
		first = pop(cpu);
		second = pop(cpu);
		first = swap(first);
		second = swap(second);
		if (first)
			push(first, 77 - 1);
		if (second)
			push(second, 77 - 1);
	}
}

static void empty_mailbox(void)
{
	unsigned int i;

	for (i = 0; i < MAILBOX; i++)
		if (mailbox[i])
			push(mailbox[i], 77 - 1);
}

static void test_hand_over(void)
{
	begin(5, 30);
	run(hand_over);
	empty_mailbox();
	end("hand-over");
}

/* CPU 0 empties the mailbox into the pool. */
static void only_push(void)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < MAILBOX; i++) {
		struct object *obj = __atomic_exchange_n(&mailbox[i], NULL, __ATOMIC_ACQUIRE);

		if (obj) {
			push(obj, 77 - 1);
			found = true;
		}
	}
	if (!found)
		sched_yield();
}

/* The others fill it from the pool. */
static void only_pop(unsigned int cpu)
{
	struct object *obj = pop(cpu), *none;
	unsigned int i;

	if (!obj)
		return;
	__atomic_store_n(&obj->owner, 77, __ATOMIC_RELAXED);
	for (i = 0; !world_time_is_up(); i++) {
		none = NULL;
		if (__atomic_compare_exchange_n(&mailbox[i % MAILBOX], &none, obj, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
		if (i % MAILBOX == 0)
			sched_yield();
	}
	push(obj, 77 - 1);
}

/* C3 */
static void one_way(unsigned int cpu)
{
	while (!world_time_is_up()) {
		if (cpu)
			only_pop(cpu);
		else
			only_push();
	}
}

static void test_one_pushes_others_pop(void)
{
	struct krp_objpool_stats st;

	begin(4, 40);
	run(one_way);
	world_be(0);
	empty_mailbox();
	st = end("one way");
	CHECK(st.counts.overflows);
}

enum { GROW_STEPS = 40, GROW_BY = 3 };

/* The last one is no CPU of the pool's: it makes the pool grow meanwhile. */
static void bursts_or_grow(unsigned int cpu)
{
	unsigned int i;

	if (cpu + 1 < nr_cpus) {
		bursts(cpu);
		return;
	}
	for (i = 0; i < GROW_STEPS; i++) {
		CHECK_EQ(krp_objpool_grow(&pool, GROW_BY, GFP_KERNEL, NULL), 0);
		while (world_random() % 64)
			sched_yield();
	}
}

static void test_grow_meanwhile(void)
{
	begin(5, 2);
	hold = 12;
	world_run(nr_cpus, MS, bursts_or_grow);
	CHECK_EQ(pool.nr_total, 2 + 5 + GROW_STEPS * GROW_BY);
	end("grow");
}

static const struct tap_test tests[] = {
	TAP_TEST(steady_state),
	TAP_TEST(bursts),
	TAP_TEST(nearly_empty),
	TAP_TEST(more_cpus_than_objects),
	TAP_TEST(hand_over),
	TAP_TEST(one_pushes_others_pop),
	TAP_TEST(grow_meanwhile),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
