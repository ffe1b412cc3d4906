/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs that contexts run, one letter per operation, and what is
 * checked about each.
 *
 *	o	pop, keep the object in hand
 *	u v	push the newest, the oldest object in hand
 *	s	pop, put the object into the bag that all share
 *	r	push an object out of the bag; a task waits for one
 *	d	drop the newest object in hand
 *	w	grow the pool by one object
 *	f	once no other task pops or pushes any more: fini
 *	D	pop, push twice: the second must be refused
 *	X	push what is no object of this pool: must be refused
 *
 * Operations that have no object to work on, or no room for one, do nothing.
 */
#ifndef KRP_OPS_H
#define KRP_OPS_H

#include "machine.h"

/* A pool that can be put under the scheduler. */
struct algo {
	const char *name;
	/* nr_objs promised; allocates more if that is its way. */
	int (*init)(unsigned int nr_objs);
	void *(*pop)(void);
	int (*push)(void *obj);
	int (*drop)(void *obj);
	int (*grow)(void);
	void (*fini)(void);
	long (*nr_free)(void);
	/* False, with fail() called, if an object is in two places. */
	bool (*census)(struct census *c);
	/* Says what is at @p, for people. */
	void (*describe)(const void *p, char *buf, size_t size);
};

extern const struct algo algo_krp, algo_kernel;
extern const struct algo *algo;

/* Registers an object, as it is made. */
int ops_new_object(void *obj, void *context);
int ops_object_index(const void *obj);
int ops_released(void *context);

void ops_run(unsigned int nr_ctx, struct ctx *ctx);
/* One operation, at once, outside of any coroutine. */
void ops_now(struct hand *hand, char op);
bool ops_finish(void);
/* Will @ctx still do what another waits for the end, or for the start of? */
bool ops_awaited(const struct ctx *ctx, enum waiting waiting);

#endif
