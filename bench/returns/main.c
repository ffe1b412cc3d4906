// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a return that is taken over costs on this processor, in chains of
 * calls: prints arch,variant,depth,ns_per_chain.
 *
 * usage: returns [CPU]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "returns.h"

/* Chains before the clock is looked at, for the branch predictors to settle. */
#define WARM	200
/* Chains between two looks. */
#define TIMES	1000
/* Odd: there is one in the middle. */
#define ROUNDS	201

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *name;
	const returns_chain_t *chains;
} variants[] = {
	{ "plain", plain_chains },
	{ "kernel-style", kernel_chains },
	{ "thunk", thunk_chains },
};

static double sample[NR(variants)][RETURNS_DEPTH_MAX][ROUNDS];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double time_chain(returns_chain_t chain)
{
	double start;

	returns_run(chain, WARM);
	start = now_ns();
	returns_run(chain, TIMES);
	return (now_ns() - start) / TIMES;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	unsigned long expected = 2UL * ROUNDS * RETURNS_DEPTH_MAX * (WARM + TIMES);
	unsigned int v, depth, round;

	if (pin(argc > 1 ? atoi(argv[1]) : sched_getcpu())) {
		perror("returns: sched_setaffinity");
		return 1;
	}

	/* Interleaved: what disturbs this machine meanwhile disturbs all alike. */
	for (round = 0; round < ROUNDS; round++)
		for (depth = 0; depth < RETURNS_DEPTH_MAX; depth++)
			for (v = 0; v < NR(variants); v++)
				sample[v][depth][round] = time_chain(variants[v].chains[depth]);
	if (returns_hits != expected) {
		fprintf(stderr, "returns: %lu returns were taken over, not %lu\n",
			returns_hits, expected);
		return 1;
	}

	puts("arch,variant,depth,ns_per_chain");
	for (v = 0; v < NR(variants); v++) {
		for (depth = 0; depth < RETURNS_DEPTH_MAX; depth++) {
			double *s = sample[v][depth];

			qsort(s, ROUNDS, sizeof(*s), compare);
			printf("x86_64,%s,%u,%.2f\n", variants[v].name, depth + 1, s[ROUNDS / 2]);
		}
	}
	return 0;
}
