/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a user-space program says about the machine that objpool.c is to see.
 * The functions are in sim.c.
 */
#ifndef KRP_SIM_H
#define KRP_SIM_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_MAX_CPUS	4096
#define SIM_MAX_NODES	64

/* Distance between two CPUs' parts of a per-CPU allocation. */
#define SIM_PERCPU_STRIDE	128

extern unsigned int sim_nr_cpu_ids, sim_nr_possible, sim_nr_nodes;
extern bool sim_cpu_possible[SIM_MAX_CPUS];
extern int sim_cpu_node[SIM_MAX_CPUS];
extern int sim_node_distance[SIM_MAX_NODES][SIM_MAX_NODES];

/*
 * CPUs 0 ... cpus - 1, all possible, spread over the nodes in blocks; nodes are
 * 10 from themselves and 20 from each other. The arrays may be changed after.
 */
void sim_set_cpus(unsigned int cpus, unsigned int nodes);

/* Takes a CPU out of those possible, as firmware with holes does. */
void sim_set_impossible(unsigned int cpu);

/* From here on the calling thread is on @cpu; it must be there alone. */
void sim_set_cpu(unsigned int cpu);

/* Makes the @nth allocation from now fail, once; 0: none. */
void sim_fail_alloc(unsigned long nth);

/* Allocations and bytes that have not been freed. */
extern unsigned long sim_live_allocs, sim_live_bytes;

/*
 * Where memory comes from: cleared, aligned to @align. Replaceable while no
 * allocation is live.
 */
extern void *(*sim_alloc_hook)(size_t size, size_t align);
extern void (*sim_free_hook)(void *mem);

#endif
