/* SPDX-License-Identifier: GPL-2.0-only */
/* The algorithms that are compared, and what is done with them. */
#ifndef KRP_MODEL_H
#define KRP_MODEL_H

#include "machine.h"

struct model_algo {
	const char *name;
	/* Objects that it allocates per CPU beyond those it is asked for. */
	unsigned int spare;
	int (*init)(unsigned int nr_objs, unsigned int cpus);
	void *(*pop)(void);
	void (*push)(void *obj);
};

extern const struct model_algo model_algos[];

struct scenario {
	const char *name, *what;
	/* On @cpus CPUs: sizes the pool and gives CPUs their loops. */
	int (*setup)(const struct model_algo *algo, unsigned int cpus);
	bool all;	/* every CPU both pops and pushes */
};

extern const struct scenario scenarios[];

/* Cycles of other work between a pop and its push. */
extern unsigned long model_pair_work;

struct point {
	double pairs_per_kcycle, transfers_per_pair;
	unsigned int idle;	/* CPUs that got no object in all the time measured */
};

struct point scenario_run(const struct scenario *s, const struct model_algo *algo,
			  unsigned int cpus);

/* Prints the shared freelist beside what was published; did it collapse, too? */
bool compare_published(const struct model_algo *lifo);

#endif
