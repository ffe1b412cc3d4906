/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: work that runs at once. */
#ifndef KRP_SIM_WORKQUEUE_H
#define KRP_SIM_WORKQUEUE_H

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/types.h>

struct work_struct {
	void (*func)(struct work_struct *work);
};

#define INIT_WORK(work, fn)	((work)->func = (fn))

static inline bool schedule_work(struct work_struct *work)
{
	work->func(work);
	return true;
}

/* Work after an RCU grace period: nothing here is under RCU, so at once. */
struct rcu_work {
	struct work_struct work;
};

/* Allocated, so that who forgets to destroy it leaks. */
struct workqueue_struct {
	int none;
};

#define WQ_UNBOUND		2

static inline struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
						       int max_active)
{
	(void)name;
	(void)flags;
	(void)max_active;
	return kvzalloc_node(sizeof(struct workqueue_struct), GFP_KERNEL, 0);
}

static inline void destroy_workqueue(struct workqueue_struct *wq)
{
	kvfree(wq);
}

#define to_rcu_work(w)		container_of(w, struct rcu_work, work)
#define INIT_RCU_WORK(rwork, fn) INIT_WORK(&(rwork)->work, fn)
#define queue_rcu_work(wq, rwork) ((void)(wq), schedule_work(&(rwork)->work))

#endif
