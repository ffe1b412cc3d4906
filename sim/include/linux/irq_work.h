/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: work that runs at once. */
#ifndef KRP_SIM_IRQ_WORK_H
#define KRP_SIM_IRQ_WORK_H

#include <linux/types.h>

struct irq_work {
	void (*func)(struct irq_work *work);
};

static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work))
{
	work->func = func;
}

static inline bool irq_work_queue(struct irq_work *work)
{
	work->func(work);
	return true;
}

static inline void irq_work_sync(struct irq_work *work)
{
	(void)work;
}

#endif
