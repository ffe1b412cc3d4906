// SPDX-License-Identifier: GPL-2.0-only
/*
 * sim-lease: every interleaving of the scenarios in world.c, by depth-first
 * search over states. A state that was reached before is not gone on from: all
 * that the future depends on is in what is compared, the world and the live
 * part of each thread's stack. States are told apart by a 64-bit hash.
 * Prints TAP; a failing schedule is given as the threads' numbers, in order.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../coro.h"
#include "world.h"

#define MAX_DEPTH	200
#define TABLE_SIZE	(1UL << 24)

struct world world;
unsigned int current;

static _Alignas(16) unsigned char stacks[MAX_THREADS][STACK_SIZE];
static const struct scenario *scenario;
static void *driver;
static const char *failure;
static unsigned char trace[MAX_DEPTH];
static unsigned long table[TABLE_SIZE], states, ends;

struct saved {
	struct world world;
	unsigned char stacks[MAX_THREADS][STACK_SIZE];
};

static struct saved saves[MAX_DEPTH];

void fail(const char *what)
{
	if (!failure)
		failure = what;
}

static void give_way(void)
{
	coro_switch(&world.thread[current].sp, driver);
}

void sim_point(enum sim_kind kind)
{
	(void)kind;
	if (current < MAX_THREADS)
		give_way();
}

void sim_touch(const void *p, size_t size, enum sim_kind kind)
{
	unsigned int i;

	(void)size;
	(void)kind;
	if (world.freed && p >= (void *)&world.what && p < (void *)(&world.what + 1))
		fail("a probe that has been freed is accessed");
	for (i = 0; i < MAX_CALLS; i++)
		if (world.lease_freed[i] && p >= (void *)&world.lease[i] &&
		    p < (void *)&world.lease[i + 1])
			fail("a lease that has been freed is accessed");
}

void wait_for(enum wait wait)
{
	struct thread *t = &world.thread[current];
	unsigned int i;

	sim_point(SIM_LOAD);
	t->mask = wait == WAIT_SRCU ? world.sections : 0;
	for (i = 0; i < MAX_THREADS; i++)
		if ((wait == WAIT_RCU && world.thread[i].in_rcu) ||
		    (wait == WAIT_HANDLERS && world.thread[i].in_handler))
			t->mask |= 1U << i;
	t->waits_for = wait;
	give_way();
	t->waits_for = WAIT_NOT;
	t->mask = 0;
}

/* A reader that ended and began anew is another: its bit is gone for good. */
static void forget_readers(void)
{
	unsigned int i, j;

	for (i = 0; i < MAX_THREADS; i++) {
		struct thread *t = &world.thread[i];

		for (j = 0; j < MAX_THREADS; j++)
			if ((t->waits_for == WAIT_RCU && !world.thread[j].in_rcu) ||
			    (t->waits_for == WAIT_HANDLERS && !world.thread[j].in_handler))
				t->mask &= ~(1U << j);
		if (t->waits_for == WAIT_SRCU)
			t->mask &= world.sections;
	}
}

static bool enabled(unsigned int i)
{
	const struct thread *t = &world.thread[i];

	if (t->done)
		return false;
	return t->waits_for == WAIT_LET_GO ? world.let_go : !t->mask;
}

static void thread_main(void)
{
	give_way();
	scenario->program[current]();
	world.thread[current].done = true;
	give_way();
}

static void step(unsigned int i)
{
	current = i;
	coro_switch(&driver, world.thread[i].sp);
	current = MAX_THREADS;
	forget_readers();
}

static size_t live(unsigned int i)
{
	if (!world.thread[i].sp || world.thread[i].done)
		return 0;
	return stacks[i] + STACK_SIZE - (unsigned char *)world.thread[i].sp;
}

static unsigned long hash(unsigned long h, const unsigned char *p, size_t n)
{
	unsigned long w;

	for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = (h ^ w) * 0xff51afd7ed558ccdUL;
		h ^= h >> 32;
	}
	return h;
}

/* True if this state has been reached before. */
static bool seen(void)
{
	unsigned long h = hash(1, (void *)&world, sizeof(world)), i;
	unsigned int t;

	for (t = 0; t < MAX_THREADS; t++)
		h = hash(h, stacks[t] + STACK_SIZE - live(t), live(t));
	h |= 1;
	for (i = h % TABLE_SIZE; table[i]; i = (i + 1) % TABLE_SIZE)
		if (table[i] == h)
			return true;
	table[i] = h;
	states++;
	if (states > TABLE_SIZE / 2)
		fail("too many states");
	return false;
}

static void explore(unsigned int depth)
{
	struct saved *save = &saves[depth];
	bool done = true, any = false;
	unsigned int i, t;

	if (depth + 1 == MAX_DEPTH)
		fail("no end");
	if (failure || seen())
		return;
	save->world = world;
	for (t = 0; t < MAX_THREADS; t++)
		memcpy(save->stacks[t] + STACK_SIZE - live(t), stacks[t] + STACK_SIZE - live(t),
		       live(t));
	for (i = 0; i < MAX_THREADS && !failure; i++) {
		done &= world.thread[i].done;
		if (!enabled(i))
			continue;
		any = true;
		trace[depth] = i;
		step(i);
		explore(depth + 1);
		if (failure)
			return;
		world = save->world;
		for (t = 0; t < MAX_THREADS; t++)
			memcpy(stacks[t] + STACK_SIZE - live(t),
			       save->stacks[t] + STACK_SIZE - live(t), live(t));
	}
	if (any)
		return;
	ends++;
	if (!done)
		fail("all wait for each other");
	world_finish();
	if (failure)
		trace[depth] = MAX_THREADS;
}

static bool run(const struct scenario *s)
{
	unsigned int i;

	scenario = s;
	failure = NULL;
	states = ends = 0;
	memset(table, 0, sizeof(table));
	memset(trace, MAX_THREADS, sizeof(trace));
	world_init();
	for (i = 0; i < MAX_THREADS; i++) {
		world.thread[i].done = !s->program[i];
		if (!s->program[i])
			continue;
		world.thread[i].sp = coro_new(stacks[i] + STACK_SIZE, thread_main);
		step(i);
	}
	explore(0);
	if (!failure)
		return true;
	printf("# %s: %s\n# the schedule: ", s->name, failure);
	for (i = 0; i < MAX_DEPTH && trace[i] < MAX_THREADS; i++)
		printf("%u", trace[i]);
	printf("\n");
	return false;
}

int main(void)
{
	const struct scenario *s;
	bool failed = false;
	int nr = 0;

	for (s = scenarios; s->name; s++) {
		bool ok = run(s);

		printf("%sok %d - lease: all schedules of %s: %lu states, %lu ends\n",
		       ok ? "" : "not ", ++nr, s->name, states, ends);
		fflush(stdout);
		failed |= !ok;
	}
	printf("1..%d\n", nr);
	return failed;
}
