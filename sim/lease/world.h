/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks, timers and a remover around uret_lease.c: threads that run from one
 * shared access to the next, and all that their future depends on.
 */
#ifndef KRP_LEASE_WORLD_H
#define KRP_LEASE_WORLD_H

#include <stdbool.h>

#include "uret_lease.h"

#define MAX_THREADS	5
#define MAX_CALLS	3
#define STACK_SIZE	4096

/* What a thread waits for. */
enum wait {
	WAIT_NOT,
	WAIT_HANDLERS,		/* until no handler runs that ran when it began to */
	WAIT_RCU,		/* the same of readers */
	WAIT_SRCU,		/* and of sections */
	WAIT_LET_GO,
};

struct thread {
	void *sp;
	bool done, in_handler, in_rcu;
	unsigned char waits_for;
	unsigned int mask;
};

/* A call of a probed function: struct krp_uret_call, as far as it matters. */
struct call {
	struct krp_lease *lease;
	long begun;
	long task;
	unsigned char begins, taken, revoked;
};

struct world {
	struct thread thread[MAX_THREADS];
	struct krp_leased what;
	struct krp_lease lease[MAX_CALLS];
	struct call call[MAX_CALLS];
	unsigned int sections;		/* that are open, by number */
	unsigned int nr_sections;
	long live;
	bool registered, let_go, freed, removes;
	bool timer_deleted[MAX_CALLS], lease_freed[MAX_CALLS];
};

typedef void (*program_t)(void);

struct scenario {
	const char *name;
	program_t program[MAX_THREADS];
};

extern struct world world;
extern unsigned int current;
extern const struct scenario scenarios[];

void fail(const char *what);
void wait_for(enum wait wait);
void world_init(void);
void world_finish(void);

#endif
