// SPDX-License-Identifier: GPL-2.0-only
/*
 * C4: signals as NMIs. Threads pop and push while signals at a high rate, from
 * timers of their own and from another thread, make them do the same inside
 * pop and push, up to two deep. Every object carries its holder's mark.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "world.h"

/* glibc has no name for it. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

enum { CPUS = 3, NR = 6, KEEP = 2, LEVELS = 2 };

static struct krp_objpool pool;

/* A signal's own objects, kept from one to the next. */
struct level {
	struct object *kept[KEEP];
	unsigned int nr;
};

static struct cpu {
	struct level levels[LEVELS];
	pthread_t thread;
	bool running;
	unsigned long pairs;
	/* Signals, and those that came inside a pop or push. */
	unsigned long signals;
	unsigned long nested;
	unsigned long misses;
} cpus[CPUS];

static __thread sig_atomic_t in_pool;
static const char *source;

static void enter_pool(void)
{
	WRITE_ONCE(in_pool, in_pool + 1);
	barrier();
}

static void leave_pool(void)
{
	barrier();
	WRITE_ONCE(in_pool, in_pool - 1);
}

static struct object *pool_pop(struct cpu *self, unsigned int owner)
{
	struct object *obj;

	enter_pool();
	obj = krp_objpool_pop(&pool);
	leave_pool();
	if (obj)
		object_taken(obj, owner);
	else
		__atomic_add_fetch(&self->misses, 1, __ATOMIC_RELAXED);
	return obj;
}

static void pool_push(struct object *obj, unsigned int owner)
{
	object_given(obj, owner);
	enter_pool();
	CHECK_EQ(krp_objpool_push(obj, &pool), 0);
	leave_pool();
}

/* Two signals, each masked during its own handler only: two levels. */
static void nmi(int sig)
{
	unsigned int level_nr = sig == SIGUSR1;
	struct cpu *self = &cpus[krp_cpu];
	struct level *level = &self->levels[level_nr];
	/* Different from the thread's, so that no one gets the other's. */
	unsigned int owner = 100 * (level_nr + 1) + krp_cpu, ops;

	__atomic_add_fetch(&self->signals, 1, __ATOMIC_RELAXED);
	if (READ_ONCE(in_pool))
		__atomic_add_fetch(&self->nested, 1, __ATOMIC_RELAXED);
	for (ops = 1 + world_random() % 4; ops; ops--) {
		if (level->nr < KEEP && (!level->nr || world_random() % 2)) {
			struct object *obj = pool_pop(self, owner);

			if (obj)
				level->kept[level->nr++] = obj;
		} else if (level->nr) {
			pool_push(level->kept[--level->nr], owner);
		}
	}
}

static void work(unsigned int cpu)
{
	struct cpu *self = &cpus[cpu];
	struct object *mine[3];
	unsigned int nr, i;

	self->thread = pthread_self();
	__atomic_store_n(&self->running, true, __ATOMIC_RELEASE);
	while (!world_time_is_up()) {
		nr = 1 + self->pairs % 3;
		for (i = 0; i < nr; i++)
			mine[i] = pool_pop(self, cpu + 1);
		while (nr--)
			if (mine[nr])
				pool_push(mine[nr], cpu + 1);
		self->pairs++;
	}
}

static void work_with_timer(unsigned int cpu)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = cpu % 2 ? SIGUSR1 : SIGUSR2,
		.sigev_notify_thread_id = gettid(),
	};
	struct itimerspec every = { .it_interval.tv_nsec = 15000, .it_value.tv_nsec = 15000 };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		abort();
	work(cpu);
	timer_delete(timer);
}

static void work_or_pelt(unsigned int cpu)
{
	unsigned int i;

	if (cpu < CPUS) {
		work_with_timer(cpu);
		return;
	}
	/* Not a CPU of the pool's: it only sends. */
	while (!world_time_is_up())
		for (i = 0; i < CPUS; i++)
			if (__atomic_load_n(&cpus[i].running, __ATOMIC_ACQUIRE))
				/* A thread that has ended gets none, but may be named. */
				pthread_kill(cpus[i].thread, i % 2 ? SIGUSR2 : SIGUSR1);
}

static void count_all(void)
{
	unsigned long signals = 0, nested = 0, pairs = 0, misses = 0;
	struct krp_objpool_stats st;
	unsigned int cpu, level, nr = 0;
	struct object *obj;

	for (cpu = 0; cpu < CPUS; cpu++) {
		world_be(cpu);
		for (level = 0; level < LEVELS; level++) {
			struct level *l = &cpus[cpu].levels[level];

			while (l->nr)
				pool_push(l->kept[--l->nr], 100 * (level + 1) + cpu);
		}
		signals += cpus[cpu].signals;
		nested += cpus[cpu].nested;
		pairs += cpus[cpu].pairs;
		misses += cpus[cpu].misses;
	}
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.nr_free, pool.nr_total);
	/* Plain increments by interrupted instructions: none may be lost either. */
	CHECK_EQ(st.counts.misses, misses);
	for (cpu = 0; cpu < CPUS; cpu++) {
		world_be(cpu);
		while ((obj = krp_objpool_pop(&pool))) {
			object_taken(obj, 99);
			nr++;
		}
	}
	CHECK_EQ(nr, pool.nr_total);
	tap_say("%s: %lu rounds, %lu signals, %lu of them inside pop or push, %lu misses", source,
		pairs, signals, nested, misses);
	/* Or nothing was tested. */
	CHECK(nested >= 50);
}

static void run(const char *what, unsigned int threads, void (*fn)(unsigned int cpu))
{
	struct sigaction action = { .sa_handler = nmi, .sa_flags = SA_RESTART };

	if (WORLD_TSAN) {
		tap_skip("ThreadSanitizer delays signals");
		return;
	}
	source = what;
	__builtin_memset(cpus, 0, sizeof(cpus));
	if (sigaction(SIGUSR1, &action, NULL) || sigaction(SIGUSR2, &action, NULL))
		abort();
	world_begin(CPUS);
	CHECK_EQ(krp_objpool_init(&pool, NR, sizeof(struct object), GFP_KERNEL, NULL, NULL, NULL),
		 0);
	world_run(threads, 1500, fn);
	count_all();
	krp_objpool_free(&pool);
	world_end();
}

static void test_timers(void)
{
	run("timers", CPUS, work_with_timer);
}

static void test_timers_and_another_thread(void)
{
	run("timers and another thread", CPUS + 1, work_or_pelt);
}

static const struct tap_test tests[] = {
	TAP_TEST(timers),
	TAP_TEST(timers_and_another_thread),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
