/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in RCU. */
#ifndef KRP_COMPAT_RCU_H
#define KRP_COMPAT_RCU_H

#include <linux/irqflags.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "krp_arch.h"
#include "krp_features.h"

#if defined(KRP_HAVE_CT_DYNTICKS) || defined(KRP_HAVE_CT_RCU_WATCHING)
#include <linux/context_tracking_state.h>
#endif

/*
 * Kernels without preemption have no TASKS_RCU of their own, RCU will do. They
 * have macros for the other functions, but not for this one.
 */
#ifndef CONFIG_TASKS_RCU
#define rcu_barrier_tasks	rcu_barrier
#endif

/*
 * Does RCU watch this CPU? Preemption is off. rcu_is_watching() is a call, on
 * every hit: what it looks at can be seen from here since 6.0.
 */
static __always_inline bool krp_rcu_is_watching(void)
{
#if defined(KRP_HAVE_CT_RCU_WATCHING)
	return krp_arch_cpu_bits(&context_tracking.state.counter, CT_RCU_WATCHING);
#elif defined(KRP_HAVE_CT_DYNTICKS)
	return krp_arch_cpu_bits(&context_tracking.state.counter, RCU_DYNTICKS_IDX);
#else
	return rcu_is_watching();
#endif
}

/*
 * As far as can be known without a call: before 6.0, that RCU does not watch in
 * the idle task, and otherwise only in the kernel's entry and exit code, whose
 * interrupts are off.
 */
static __always_inline bool krp_rcu_surely_watching(struct task_struct *task)
{
#if defined(KRP_HAVE_CT_RCU_WATCHING) || defined(KRP_HAVE_CT_DYNTICKS)
	return krp_rcu_is_watching();
#else
	return !is_idle_task(task) && !irqs_disabled();
#endif
}

#endif /* KRP_COMPAT_RCU_H */
