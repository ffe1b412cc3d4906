/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kretpool_torture: everything at once, and every call accounted for.
 *
 * main.c starts, stops and judges; callers.c has functions of its own, called
 * from tasks, timers and NMIs and counted; steady.c has the probes on those
 * that stay, whose counts must agree to the last call; churn.c has probes that
 * come and go, on these and on the kernel's busiest; users.c has those on a
 * function of a program; threads.c starts and stops those that do all this;
 * accounts.c reads /proc/kretpool.
 */
#ifndef KRP_TORTURE_H
#define KRP_TORTURE_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/types.h>

#include "../kretprobe_shim.h"

/* Nobody may know what a function does or leaves alone. */
#define torture_noipa	__attribute__((__noipa__))

/* callers.c: the functions, each counts its calls */

enum torture_target {
	TORTURE_LEAF,		/* adds */
	TORTURE_NEST,		/* calls itself */
	TORTURE_TAIL,		/* jumps to the first */
	TORTURE_NOTRACE,	/* out of ftrace's reach */
	TORTURE_SLEEP,		/* sleeps; not called from interrupts */
	TORTURE_TARGETS,
};

extern const char * const torture_target_names[TORTURE_TARGETS];

unsigned long torture_leaf(unsigned long a, unsigned long b);
unsigned long torture_calls(enum torture_target target);
void torture_callers_show(char *buf, size_t size);
int torture_callers_start(void);
void torture_callers_stop(void);

/* steady.c */

int torture_steady_register(void);
void torture_steady_check(void);
void torture_steady_unregister(bool checked);
void torture_steady_show(char *buf, size_t size);

/* churn.c */

int torture_churn_find(void);
int torture_churn_start(void);
void torture_churn_stop(void);
void torture_churn_show(char *buf, size_t size);

/* users.c */

int torture_users_start(void);
void torture_users_stop(void);
void torture_users_show(char *buf, size_t size);

/* threads.c */

/**
 * struct torture_threads - threads that do the same
 * @tasks: they
 * @nr: how many
 */
struct torture_threads {
	struct task_struct **tasks;
	int nr;
};

int torture_threads_start(struct torture_threads *threads, int nr, int (*fn)(void *data),
			  const char *name);
void torture_threads_stop(struct torture_threads *threads);

/* accounts.c */

long torture_thunks_used(void);
unsigned int torture_newest(void);
long torture_sleepers(unsigned int older, long *others);
int torture_pools_full(const char *prefix, char *what, size_t size);

/* main.c */

/* Mixes that parameters switch off. */
extern bool torture_hot, torture_timers, torture_nmis, torture_batches, torture_long;
extern bool torture_full_regs;
extern int torture_nreaders, torture_nchurners;

extern atomic_long_t torture_errors;

/* What must not be: counted, and the first few are in the log. Any context. */
#define torture_wrong(fmt, ...)							\
do {										\
	if (atomic_long_inc_return(&torture_errors) <= 20)			\
		pr_alert("!!! " fmt "\n", ##__VA_ARGS__);			\
} while (0)

void torture_seed(struct rnd_state *rnd, unsigned int who);

/* A number below @limit. */
static inline u32 torture_random(struct rnd_state *rnd, u32 limit)
{
	return prandom_u32_state(rnd) % limit;
}

#endif /* KRP_TORTURE_H */
