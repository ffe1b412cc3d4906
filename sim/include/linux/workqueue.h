/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: work that runs at once. */
#ifndef KRP_SIM_WORKQUEUE_H
#define KRP_SIM_WORKQUEUE_H

#include <linux/kernel.h>
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

#define to_rcu_work(w)		container_of(w, struct rcu_work, work)
#define INIT_RCU_WORK(rwork, fn) INIT_WORK(&(rwork)->work, fn)
#define queue_rcu_work(wq, rwork) schedule_work(&(rwork)->work)

#endif
