/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the uret*.c files and nobody else. */
#ifndef KRP_URET_INTERNAL_H
#define KRP_URET_INTERNAL_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/timer.h>

#include "uretprobe.h"
#include "compat_uprobe.h"

#define KRP_UPROBE_NAME_LEN	256

/* One CPU's share of a probe's counts. */
struct krp_uret_pcpu {
	unsigned long calls;
	unsigned long hits;
	unsigned long skipped;
	unsigned long missed[KRP_NR_MISSES];
};

/**
 * struct krp_uretprobe - one user-space function's pool, handlers and counts
 * @uprobe: the kernel's part
 * @path: of the file, if it was given by that
 * @live: cleared by unregistration
 * @entry: or NULL
 * @handler: or NULL
 * @pcpu: counts
 * @owner: see &krp_uretprobe_desc.owner
 * @data_size: of a call
 * @pool: calls; there is none without @handler
 * @leased: calls in flight keep this
 * @let_go: the last reference to it is gone
 * @grows: the pool may grow
 * @grow_lock: one at a time
 * @removed: calls that were revoked
 * @id: for people
 * @name: the file and the offset
 * @list: on krp_uretprobes
 */
struct krp_uretprobe {
	struct krp_uprobe uprobe;
	struct path path;
	bool live;
	krp_uret_handler_t entry;
	krp_uret_handler_t handler;
	struct krp_uret_pcpu __percpu *pcpu;
	void *owner;
	size_t data_size;
	struct krp_objpool pool;
	struct krp_leased leased;
	struct completion let_go;
	bool grows;
	struct mutex grow_lock;
	unsigned long removed;
	unsigned int id;
	char name[KRP_UPROBE_NAME_LEN];
	struct list_head list;
};

/**
 * struct krp_uret_slot - a task's note of a call
 * @lease: keeps @up alive; only if there is a @call
 * @up: the probe; NULL if the slot is free. May be gone, see krp_lease_consume()
 * @call: NULL if the call was missed or skipped, and noted only so that its
 *        return is not taken for another's
 * @func: the function's address
 * @frame: the user's stack pointer at entry
 * @index: of this slot
 */
struct krp_uret_slot {
	struct krp_lease lease;
	struct krp_uretprobe *up;
	struct krp_uret_call *call;
	unsigned long func;
	unsigned long frame;
	unsigned int index;
};

#define KRP_URET_BLOCK		16
#define KRP_URET_BLOCKS		16
#define KRP_URET_SLOTS		(KRP_URET_BLOCK * KRP_URET_BLOCKS)

/**
 * struct krp_uret_task - a task's calls, those made last on top
 * @hash: in the table of tasks
 * @task: the task; never followed, only compared
 * @timer: moves leases from SRCU to references
 * @depth: slots in use, free ones among them
 * @busy: handlers of its that are running
 * @blocks: the slots; blocks are added as needed and never go
 * @first: the first block
 * @rcu: frees it
 *
 * Only its task uses it; others, under RCU, look at leases.
 */
struct krp_uret_task {
	struct hlist_node hash;
	struct task_struct *task;
	struct timer_list timer;
	unsigned int depth;
	unsigned int busy;
	struct krp_uret_slot *blocks[KRP_URET_BLOCKS];
	struct krp_uret_slot first[KRP_URET_BLOCK];
	struct rcu_head rcu;
};

static inline struct krp_uret_slot *krp_uret_slot(struct krp_uret_task *t, unsigned int i)
{
	return &t->blocks[i / KRP_URET_BLOCK][i % KRP_URET_BLOCK];
}

/* uret_task.c: which calls a task has in flight */

struct krp_uret_task *krp_uret_task_find(void);
struct krp_uret_task *krp_uret_task_get(void);
struct krp_uret_task *krp_uret_task_alloc(struct task_struct *task, unsigned int slots, gfp_t gfp);
void krp_uret_task_insert(struct krp_uret_task *t);
void krp_uret_task_remove(struct krp_uret_task *t);
void krp_uret_task_leased(struct krp_uret_task *t);
struct krp_uret_slot *krp_uret_slot_push(struct krp_uret_task *t);
void krp_uret_slot_pop(struct krp_uret_task *t, struct krp_uret_slot *slot);
void krp_uret_prune(struct krp_uret_task *t, const struct krp_uretprobe *up,
		    unsigned long func, unsigned long frame);
struct krp_uret_slot *krp_uret_slot_returned(struct krp_uret_task *t,
					     const struct krp_uretprobe *up,
					     struct pt_regs *regs, u64 cookie);
void krp_uret_give_up_above(struct krp_uret_task *t, const struct krp_uret_slot *slot);
void krp_uret_give_up_all(struct krp_uret_task *t);
u64 krp_uret_slot_cookie(const struct krp_uret_slot *slot);
void krp_uret_tasks_init(void);
void krp_uret_tasks_exit(void);

/* uret_call.c: a call's way */

struct krp_uret_call *krp_uret_call_pop(struct krp_uretprobe *up);
void krp_uret_call_begin(struct krp_uret_slot *slot, struct krp_uret_call *call,
			 struct task_struct *task);
void krp_uret_slot_give_up(struct krp_uret_slot *slot);

static inline bool krp_uret_call_inflight(const struct krp_uret_call *call)
{
	return READ_ONCE(call->task);
}

/* uret_life.c: tasks that fork, exec and exit */

int krp_uret_life_init(void);
void krp_uret_life_exit(void);

/* uretprobe.c */

extern struct mutex krp_uret_mutex;
extern struct list_head krp_uretprobes;

#endif /* KRP_URET_INTERNAL_H */
