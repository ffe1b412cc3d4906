/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shared accesses cost on a machine with many CPUs: the model.
 *
 * Every CPU has a cache of its own, large enough for everything, and a clock.
 * A line of 64 bytes is in no cache, in several for reading, or in one for
 * writing. An access to a line that the CPU's cache has in the right way costs
 * `hit` cycles, a locked one `locked` more. Otherwise the line is transferred:
 * `near` cycles if all caches that it comes from, or is taken away from, are
 * in the same socket, `far` if one is not. Memory (no cache has the line)
 * counts as near, and not as a transfer.
 *
 * A line that is being transferred is busy: whoever wants it next waits until
 * it has arrived, in the order of asking. Only reading a line that nobody has
 * for writing does not make anyone wait.
 *
 * Only accesses through the kernel's macros are seen. Plain ones (where a ring
 * lies, a pool's sizes) are free, and take no line away from anyone.
 *
 * Accesses happen in the order of the CPUs' clocks, so all is deterministic.
 * There are no store buffers, no prefetching, no limit on bandwidth, and time
 * between accesses is free unless work is asked for: the model shows how
 * algorithms behave as CPUs are added, not what a real machine would take.
 */
#ifndef KRP_MODEL_MACHINE_H
#define KRP_MODEL_MACHINE_H

#include <linux/types.h>

#define MODEL_MAX_CPUS	512

struct model_costs {
	unsigned int hit, locked, near, far, per_socket;
};

extern struct model_costs model_costs;

/* A machine of @cpus with cold caches; all earlier memory is gone. */
void model_reset(unsigned int cpus);
/* What @cpu does, for ever; CPUs without do nothing. */
void model_spawn(unsigned int cpu, void (*fn)(void));
/* The running CPU is busy with something else, or waits. */
void model_work(unsigned long cycles);
/* The running CPU has finished a pop and the push that belongs to it. */
void model_count_pair(void);

struct model_result {
	unsigned long cycles, pairs, transfers, accesses;
	unsigned int idle;	/* CPUs that have finished no pair */
};

/* Runs that many accesses; the first third is not counted. */
struct model_result model_run(unsigned long accesses);

/* Memory whose lines are followed. */
void *model_alloc(size_t size, size_t align);
void model_free(void *mem);

#endif
