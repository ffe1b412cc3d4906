/* SPDX-License-Identifier: GPL-2.0-only */
/* What is explored: small machines, small pools, small programs. */
#ifndef KRP_CASES_H
#define KRP_CASES_H

#include "ops.h"

struct sim_case {
	const char *name;
	const struct algo *algo;
	u8 cpus, nodes, nr_objs;
	u8 nmis, nmi_depth, swaps;
	/*
	 * Before anything runs: triplets of who ('t'ask or 'n'mi), which CPU,
	 * and an operation.
	 */
	const char *setup;
	const char *nmi;		/* program of every NMI */
	const char *task[MAX_CPUS];	/* programs; random cases make up their own */

	bool must_fail;			/* the case is there to see the checks work */
};

extern const struct sim_case small_cases[], large_cases[];

/* Sets the machine up for @c, with other programs if @progs is given. */
bool case_setup(const struct sim_case *c, char progs[][MAX_PROG]);

/* Comparable transitions as text: CPU number, n and CPU, x and two CPUs; *times. */
void trace_print(const transition_t *trace, unsigned int n);
unsigned int trace_parse(const char *text, transition_t *trace, unsigned int max);

/* All schedules of a small case. */
struct explore_result {
	unsigned long states, transitions, ends;
	unsigned int depth;
};
bool explore(const struct sim_case *c, unsigned long max_states, struct explore_result *res);

/* Random schedules; stops at the first that fails and says its seed. */
struct random_result {
	unsigned long schedules, steps, nmis, swaps;
};
bool random_run(const struct sim_case *c, unsigned long seed, struct random_result *res);

#endif
