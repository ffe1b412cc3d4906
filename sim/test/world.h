/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine a test runs on, threads that are its CPUs, and marked objects. */
#ifndef SIM_TEST_WORLD_H
#define SIM_TEST_WORLD_H

#include <stdint.h>

#include "objpool.h"
#include "sim.h"
#include "tap.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof(*(array)))

#ifdef __SANITIZE_THREAD__
#define WORLD_TSAN	1
#else
#define WORLD_TSAN	0
#endif
#ifdef __SANITIZE_ADDRESS__
#define WORLD_ASAN	1
#else
#define WORLD_ASAN	0
#endif

/* CPUs on one node, and the pools' view of them; the caller is CPU 0. */
void world_begin(unsigned int cpus);
/* The same after sim_set_cpus() and whatever was changed since. */
void world_begin_as_set(void);
/* Checks that nothing is left allocated. */
void world_end(void);

/* The calling thread is this CPU from now on. */
static inline void world_be(unsigned int cpu)
{
	sim_set_cpu(cpu);
}

/* Of the pools alone; the topology's own does not count. */
long world_allocations_live(void);
/* All there ever were, freed or not. */
long world_allocations_made(void);

/* Pseudo-random, per thread; starts with the same value in every run. */
uint64_t world_random(void);
void world_seed(uint64_t seed);

/* Monotonic. */
uint64_t world_ns(void);

/*
 * Runs @fn on CPUs 0 ... @cpus - 1, a thread each, all released at once, and
 * waits for them. @fn looks at world_time_is_up(), which turns true after @ms.
 */
void world_run(unsigned int cpus, unsigned int ms, void (*fn)(unsigned int cpu));
bool world_time_is_up(void);

/* What tests keep in objects. */
struct object {
	/* Who has it; 0: nobody. */
	unsigned int owner;
	/* Plain on purpose: a sanitizer sees if two holders are not ordered. */
	unsigned int uses;
};

/* Relaxed, so that the marks order nothing that the pool should order. */
static inline void object_taken(struct object *obj, unsigned int owner)
{
	CHECK_EQ(__atomic_exchange_n(&obj->owner, owner, __ATOMIC_RELAXED), 0);
	obj->uses++;
}

static inline void object_given(struct object *obj, unsigned int owner)
{
	obj->uses++;
	CHECK_EQ(__atomic_exchange_n(&obj->owner, 0, __ATOMIC_RELAXED), owner);
}

#endif /* SIM_TEST_WORLD_H */
