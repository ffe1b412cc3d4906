// SPDX-License-Identifier: GPL-2.0-only
/* The machine a test runs on, and threads that are its CPUs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "world.h"

static unsigned long world_made, world_live_before;
static void *(*world_alloc)(size_t size, size_t align);
static bool world_stop;
static __thread uint64_t world_state = 1;

static void *world_counting_alloc(size_t size, size_t align)
{
	__atomic_add_fetch(&world_made, 1, __ATOMIC_RELAXED);
	return world_alloc(size, align);
}

void world_begin_as_set(void)
{
	if (!world_alloc) {
		world_alloc = sim_alloc_hook;
		sim_alloc_hook = world_counting_alloc;
	}
	CHECK_EQ(krp_objpool_setup(), 0);
	world_live_before = sim_live_allocs;
	world_be(0);
	world_seed(1);
}

void world_begin(unsigned int cpus)
{
	sim_set_cpus(cpus, 1);
	world_begin_as_set();
}

void world_end(void)
{
	krp_objpool_teardown();
	CHECK_EQ(sim_live_allocs, 0);
	CHECK_EQ(sim_live_bytes, 0);
}

long world_allocations_live(void)
{
	return sim_live_allocs - world_live_before;
}

long world_allocations_made(void)
{
	return world_made;
}

/* xorshift64*; signal handlers draw from their thread's as well: harmless. */
uint64_t world_random(void)
{
	uint64_t x = world_state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	world_state = x;
	return x * 0x2545f4914f6cdd1dULL >> 24;
}

void world_seed(uint64_t seed)
{
	world_state = seed * 0x9e3779b97f4a7c15ULL | 1;
}

uint64_t world_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

bool world_time_is_up(void)
{
	return __atomic_load_n(&world_stop, __ATOMIC_RELAXED);
}

struct world_thread {
	pthread_t thread;
	unsigned int cpu;
	void (*fn)(unsigned int cpu);
	pthread_barrier_t *start;
};

static void *world_thread(void *arg)
{
	struct world_thread *self = arg;

	world_be(self->cpu);
	world_seed(self->cpu + 2);
	pthread_barrier_wait(self->start);
	self->fn(self->cpu);
	return NULL;
}

void world_run(unsigned int cpus, unsigned int ms, void (*fn)(unsigned int cpu))
{
	struct world_thread *threads = calloc(cpus, sizeof(*threads));
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };
	pthread_barrier_t start;
	unsigned int cpu;

	world_stop = false;
	pthread_barrier_init(&start, NULL, cpus + 1);
	for (cpu = 0; cpu < cpus; cpu++) {
		threads[cpu] = (struct world_thread){ .cpu = cpu, .fn = fn, .start = &start };
		if (pthread_create(&threads[cpu].thread, NULL, world_thread, &threads[cpu]))
			abort();
	}
	pthread_barrier_wait(&start);
	nanosleep(&ts, NULL);
	__atomic_store_n(&world_stop, true, __ATOMIC_RELAXED);
	for (cpu = 0; cpu < cpus; cpu++)
		pthread_join(threads[cpu].thread, NULL);
	pthread_barrier_destroy(&start);
	free(threads);
}
