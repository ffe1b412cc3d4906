/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: SRCU, and grace periods of both kinds; see ../../main.c. */
#ifndef KRP_SIM_SRCU_H
#define KRP_SIM_SRCU_H

struct srcu_struct {
	int unused;
};

#define DEFINE_STATIC_SRCU(name)	static struct srcu_struct name

#define __acquire(x)	((void)0)
#define __release(x)	((void)0)

int __srcu_read_lock(struct srcu_struct *srcu);
void __srcu_read_unlock(struct srcu_struct *srcu, int section);
void synchronize_srcu_expedited(struct srcu_struct *srcu);
void synchronize_rcu_expedited(void);

#endif
