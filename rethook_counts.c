// SPDX-License-Identifier: GPL-2.0-only
/* What became of the calls that a rethook was to see. */

#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "rethook_internal.h"

/**
 * krp_rethook_reentered() - calls missed by the kernel's kprobes
 * @rh: the rethook
 *
 * Calls that a kprobe hooks, made by what interrupts the handling of another
 * kprobe: the kernel leaves the handlers out, and counts that itself. What it
 * counts while ftrace hooks the function is others' business.
 *
 * Context: any; exact while no call is being made.
 * Return: their number since registration.
 */
long krp_rethook_reentered(const struct krp_rethook *rh)
{
	if (rh->state == KRP_DRAINING)
		return rh->reentered;
	if (rh->way != KRP_BY_KPROBE)
		return 0;
	return READ_ONCE(rh->one.func->probe->kp.nmissed) - rh->reentered;
}

/**
 * krp_rethook_unwatched() - calls that RCU did not watch, while it was armed
 * @rh: a rethook
 *
 * They are counted by function: the rethook could not be looked at.
 *
 * Context: process, krp_mutex held.
 * Return: their number while it has been armed, now and before.
 */
long krp_rethook_unwatched(const struct krp_rethook *rh)
{
	long sum = rh->unwatched;
	unsigned int n;

	if (rh->state != KRP_ENABLED)
		return sum;
	for (n = 0; n < rh->nr_links; n++) {
		const struct krp_link *link = &rh->links[n];

		if (!link->gone)
			sum += atomic_long_read(&link->func->unwatched[rh->way]) -
			       link->unwatched_base;
	}
	return sum;
}

/**
 * krp_rethook_visit_instances() - visit a rethook's instances
 * @rh: the rethook
 * @fn: called for each, under RCU
 * @data: passed to @fn
 *
 * Context: process, krp_mutex held.
 */
void krp_rethook_visit_instances(struct krp_rethook *rh, krp_objpool_visit_cb fn, void *data)
{
	if (rh->scratch)
		return;
	/* Pools are freed a grace period after the last reference is gone. */
	rcu_read_lock();
	if (atomic_long_read(&rh->pool.refs) > 0)
		krp_objpool_for_each(&rh->pool, fn, data);
	rcu_read_unlock();
}

static void krp_instance_count(void *obj, void *data)
{
	unsigned long *inflight = data;

	*inflight += krp_instance_inflight(obj);
}

/* krp_rethook_counts() with krp_mutex held. */
void krp_rethook_counts_locked(struct krp_rethook *rh, struct krp_rethook_counts *counts)
{
	unsigned int cpu, cause;

	memset(counts, 0, sizeof(*counts));
	for_each_possible_cpu(cpu) {
		struct krp_rethook_pcpu *pcpu = per_cpu_ptr(rh->pcpu, cpu);

		counts->hits += READ_ONCE(pcpu->hits);
		counts->skipped += READ_ONCE(pcpu->skipped);
		for (cause = 0; cause < KRP_NR_MISSES; cause++)
			counts->missed[cause] += READ_ONCE(pcpu->missed[cause]);
	}
	counts->missed[KRP_MISS_UNWATCHED] = krp_rethook_unwatched(rh);
	counts->missed[KRP_MISS_RECURSION] += krp_rethook_reentered(rh);
	krp_rethook_visit_instances(rh, krp_instance_count, &counts->inflight);
}

/**
 * krp_rethook_counts() - what became of a rethook's calls
 * @rh: the rethook
 * @counts: filled in; a snapshot, exact while no call is being made
 *
 * Context: process; may sleep.
 */
void krp_rethook_counts(struct krp_rethook *rh, struct krp_rethook_counts *counts)
{
	mutex_lock(&krp_mutex);
	krp_rethook_counts_locked(rh, counts);
	mutex_unlock(&krp_mutex);
}
EXPORT_SYMBOL_GPL(krp_rethook_counts);
