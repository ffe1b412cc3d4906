/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulated CPUs as coroutines of one thread.
 *
 * A CPU runs a task; on top of it up to two nested NMIs. Each of those is a
 * context: a coroutine with a little program of pool operations. A context
 * runs from one shared access to the next; in between, whoever drives the
 * machine (explore.c, random.c) chooses who goes on. One such choice is a
 * transition:
 *
 *	step c		the topmost context of CPU c does its access
 *	NMI c		an NMI starts on CPU c and does its first access
 *	swap a,b	the tasks of CPUs a and b change places (migration)
 *
 * All that the future depends on is in `world`, and in the stacks above their
 * contexts' stack pointers: machine_save() copies that, machine_load() puts it
 * back.
 */
#ifndef KRP_MACHINE_H
#define KRP_MACHINE_H

#include <linux/types.h>
#include <krp_access.h>

#define MAX_CPUS	8
#define MAX_NMI_DEPTH	2
#define MAX_CTX		(MAX_CPUS * (1 + MAX_NMI_DEPTH))
#define MAX_OBJS	64
#define MAX_HAND	16
#define MAX_BAG		32
#define MAX_PROG	24
#define MAX_ALLOCS	32
#define ARENA_SIZE	(64 * 1024)

enum obj_state { OBJ_FREE, OBJ_MOVING, OBJ_HELD, OBJ_DROPPED };

/* The objects that a task, or a CPU's NMIs, hold. */
struct hand {
	u8 n;
	u8 obj[MAX_HAND];
};

/* How far the check of a pop in progress has got. */
enum window { WIN_NONE, WIN_ARMED, WIN_OPEN };

/* What a context waits for, before it starts an operation. */
enum waiting {
	WAIT_NONE,
	WAIT_QUIET,	/* all others are through with pops and pushes */
	WAIT_BAG,	/* there is something in the bag, or never will be */
};

struct ctx {
	void *sp;
	u64 stay;	/* objects in a stash or reachable ever since the pop began */
	u64 reach;	/* objects reachable ever since the pop began */
	u64 known;	/* objects there were when it began */
	u16 promised;	/* nr_objs when it began */
	u8 strict;	/* seen: promised objects out at one instant */
	u8 window;
	u8 live;
	u8 op;		/* in progress, a letter of the program, or 0 */
	u8 seq;		/* operations finished */
	u8 waiting;
	u8 preempt;
	u8 kind;	/* of the access it is about to do */
	char prog[MAX_PROG];
};

struct obj {
	u16 at;		/* offset in the arena */
	u8 state;
	u8 mover;	/* context that is pushing it */
};

struct alloc {
	u16 at, size;
	bool freed;
};

struct world {
	/* Configuration of the case; does not change during a run. */
	u8 cpus, nr_ctx, nmi_depth;
	/* What may still be injected. */
	u8 nmis_left, swaps_left;

	u8 base[MAX_CPUS];	/* task on each CPU: index into ctx */
	u8 depth[MAX_CPUS];	/* NMIs on each CPU */
	struct hand nmi_hand[MAX_CPUS];
	struct hand task_hand[MAX_CPUS];
	u8 bag_n;
	u8 bag[MAX_BAG];

	u8 nr_objs;
	u16 promised;
	u8 released;		/* calls of the release callback */
	bool finished;		/* fini has been called */
	struct obj obj[MAX_OBJS];

	bool any_freed;
	u8 nr_allocs;
	struct alloc alloc[MAX_ALLOCS];
	u32 brk;

	struct ctx ctx[MAX_CTX];

	_Alignas(4096) u8 arena[ARENA_SIZE];
};

extern struct world world;

/* Where the free objects are, by mask. */
struct census {
	u64 stash;	/* in some CPU's stash */
	u64 reach;	/* reachable for every pop */
	u64 blocked;	/* behind an unfinished push */
	bool quiet;	/* asked: nothing is under way */
};

/* Not part of the state. */
struct machine {
	struct census census;
	bool census_valid;	/* nothing has been written since */
	bool exhaustive;	/* counters that only statistics read stay as they are */
	bool verbose;		/* print every access */
	bool no_census;		/* only what the operations return is checked */
	bool failed;
	char failure[256];
	bool solo;		/* one context runs on its own to the end of its operation */
	bool solo_over;
	u32 solo_steps, solo_max;	/* so far; most ever */
	u32 solo_bound;
	unsigned long strict_misses;	/* failed pops with promised objects never out at once */
};

extern struct machine machine;

/* Context of the coroutine that runs now, or NULL. */
extern struct ctx *current;

typedef u8 transition_t;
#define T_STEP(cpu)	((transition_t)(cpu))
#define T_NMI(cpu)	((transition_t)(64 | (cpu)))
#define T_SWAP(a, b)	((transition_t)(128 | (a) << 3 | (b)))
#define MAX_ENABLED	(2 * MAX_CPUS + MAX_CPUS * MAX_CPUS / 2)

void fail(const char *fmt, ...);

void machine_reset(unsigned int cpus, unsigned int nodes);
/* Puts a task with @prog on @cpu; in the end all tasks are started. */
void machine_task(unsigned int cpu, const char *prog);
void machine_start(const char *nmi_prog, unsigned int nmis, unsigned int nmi_depth,
		   unsigned int swaps);

static inline unsigned int machine_nmi_ctx(unsigned int cpu, unsigned int level)
{
	return world.cpus + cpu * MAX_NMI_DEPTH + level;
}

static inline unsigned int machine_top(unsigned int cpu)
{
	unsigned int depth = world.depth[cpu];

	return depth ? machine_nmi_ctx(cpu, depth - 1) : world.base[cpu];
}

/* Transitions possible now, those of @first's CPU in front. */
unsigned int machine_enabled(transition_t *list, unsigned int first);
/* Does one and checks the state after it; false if something is wrong. */
bool machine_do(transition_t t);
/* Runs @cpu alone to the end of its operation; false if there seems to be none. */
bool machine_solo(unsigned int cpu);
/* Everything has come to its end: is all there? */
bool machine_finish(void);

size_t machine_save(u8 *buf);
void machine_load(const u8 *buf);

/* Gives the CPU back without an access; for waiting. */
void machine_yield(void);
void machine_on_cpu(unsigned int cpu);

/* Memory that machine_save() covers. */
void *arena_alloc(size_t size, size_t align);
void arena_free(void *mem);

#endif
