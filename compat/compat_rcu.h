/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in RCU. */
#ifndef KRP_COMPAT_RCU_H
#define KRP_COMPAT_RCU_H

#include <linux/rcupdate.h>

/*
 * Kernels without preemption have no TASKS_RCU of their own, RCU will do. They
 * have macros for the other functions, but not for this one.
 */
#ifndef CONFIG_TASKS_RCU
#define rcu_barrier_tasks	rcu_barrier
#endif

#endif /* KRP_COMPAT_RCU_H */
