/* SPDX-License-Identifier: GPL-2.0-only */
/* kretpool_bench: how the system call under test is hooked, and driven. */
#ifndef KRP_BENCH_H
#define KRP_BENCH_H

#include <linux/types.h>

/* main.c */

extern char *bench_target;

/* modes.c: what hooks the function */

/**
 * struct bench_counts - what a mode has counted since it was switched on
 * @hits: calls whose handler ran
 * @missed: calls missed, for whatever cause
 */
struct bench_counts {
	unsigned long hits;
	unsigned long missed;
};

int bench_mode_set(const char *name);
const char *bench_mode_name(void);
void bench_mode_counts(struct bench_counts *counts);

/* load.c: what calls it */

/* The places from which bench_load_cost() can call. */
#define BENCH_SITES	64

int bench_load_init(void);
unsigned long bench_load_address(void);
int bench_load_run(unsigned int threads, unsigned int ms, u64 *calls, u64 *ns);
u64 bench_load_cost(bool sites, unsigned int loops, unsigned int rounds);

/* attach.c: hooking many functions at once */

struct seq_file;

int bench_attach_on(const char *name, unsigned int nr);
void bench_attach_off(void);
void bench_attach_show(struct seq_file *m);
u64 bench_attach_cost(void);
void bench_attach_exit(void);

#endif /* KRP_BENCH_H */
