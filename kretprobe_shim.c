// SPDX-License-Identifier: GPL-2.0-only
/* The kretprobe interface on kretpool. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "kretprobe_shim.h"
#include "rethook_internal.h"

/* Misses are rare enough for one counter, which people read where it is. */
static void krp_kretprobe_missed(void *owner, enum krp_miss cause)
{
	struct krp_kretprobe *rp = owner;

	if (cause == KRP_MISS_EMPTY)
		atomic_inc((atomic_t *)&rp->nmissed);
	else if (cause == KRP_MISS_RECURSION)
		atomic_long_inc((atomic_long_t *)&rp->kp.nmissed);
}

/* Registered, as far as the list knows: the caller's @rp->rh may be anything. */
static bool krp_kretprobe_known(struct krp_kretprobe *rp)
{
	struct krp_rethook *rh;
	bool known = false;

	/* Registration will say no to that. */
	if (krp_in_handler())
		return false;
	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list) {
		if (rh->owner == rp) {
			known = true;
			break;
		}
	}
	mutex_unlock(&krp_mutex);
	return known;
}

/**
 * krp_register_kretprobe() - register a return probe
 * @rp: the probe; stays in use until krp_unregister_kretprobe() has returned
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0 or a negative error, the kernel's own where it has one, with a
 * line in the log that says why: see krp_rethook_register(). -EINVAL also if
 * @rp is registered.
 */
int krp_register_kretprobe(struct krp_kretprobe *rp)
{
	struct krp_rethook_desc desc;
	struct krp_rethook *rh;

	if (!rp)
		return -EINVAL;
	if (krp_kretprobe_known(rp)) {
		pr_err("this kretprobe is registered already\n");
		return -EINVAL;
	}
	desc = (struct krp_rethook_desc){
		.symbol = rp->kp.symbol_name,
		.addr = rp->kp.addr,
		.offset = rp->kp.offset,
		.entry = rp->entry_handler,
		.handler = rp->handler,
		.missed = krp_kretprobe_missed,
		.owner = rp,
		.nr_instances = rp->maxactive,
		.data_size = rp->data_size,
		.flags = rp->krp_flags & KRP_KRETPROBE_FULL_REGS,
	};
	if (rp->kp.flags & KPROBE_FLAG_DISABLED)
		desc.flags |= KRP_RETHOOK_DISABLED;

	rp->nmissed = 0;
	rp->kp.nmissed = 0;
	rh = krp_rethook_register(&desc);
	if (IS_ERR(rh))
		return PTR_ERR(rh);
	rp->rh = rh;
	rp->kp.addr = krp_rethook_address(rh);
	if (rp->maxactive <= 0) {
		/* It may be growing already. */
		mutex_lock(&krp_mutex);
		rp->maxactive = rh->pool.nr_objs;
		mutex_unlock(&krp_mutex);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(krp_register_kretprobe);

/* Last things while the probe and its rethook still belong together. */
static struct krp_rethook *krp_kretprobe_detach(struct krp_kretprobe *rp)
{
	struct krp_rethook *rh = rp->rh;
	struct krp_rethook_counts counts;

	if (!rh)
		return NULL;
	/* Nothing of a probe could be touched when these were missed. */
	krp_rethook_counts(rh, &counts);
	atomic_add(counts.missed[KRP_MISS_UNWATCHED], (atomic_t *)&rp->nmissed);
	atomic_long_add(krp_rethook_reentered(rh), (atomic_long_t *)&rp->kp.nmissed);
	/* So that it can be registered again as it is. */
	if (rp->kp.symbol_name)
		rp->kp.addr = NULL;
	rp->rh = NULL;
	return rh;
}

/**
 * krp_unregister_kretprobes() - unregister return probes
 * @rps: the probes; those that are not registered are passed over
 * @num: how many
 *
 * When this returns no handler is running or will run, and the probes may be
 * freed. Does not wait for calls in flight.
 *
 * Context: process, not from a handler (refused with a line in the log); may
 * sleep.
 */
void krp_unregister_kretprobes(struct krp_kretprobe **rps, int num)
{
	struct krp_rethook *rh, **rhs;
	int i, n = 0;

	if (num <= 0 || krp_refuse_in_handler("unregister a probe"))
		return;
	rhs = kvmalloc_array(num, sizeof(*rhs), GFP_KERNEL);
	for (i = 0; i < num; i++) {
		rh = rps[i] ? krp_kretprobe_detach(rps[i]) : NULL;
		if (!rh)
			continue;
		if (rhs)
			rhs[n++] = rh;
		else
			krp_rethook_unregister(rh);
	}
	if (n)
		krp_rethook_unregister_batch(rhs, n);
	kvfree(rhs);
}
EXPORT_SYMBOL_GPL(krp_unregister_kretprobes);

/**
 * krp_unregister_kretprobe() - unregister a return probe
 * @rp: the probe
 *
 * See krp_unregister_kretprobes().
 *
 * Context: process, not from a handler (refused with a line in the log); may
 * sleep.
 */
void krp_unregister_kretprobe(struct krp_kretprobe *rp)
{
	krp_unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(krp_unregister_kretprobe);

/**
 * krp_register_kretprobes() - register return probes, all or none
 * @rps: the probes
 * @num: how many
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, -EINVAL if @num is not positive, or what krp_register_kretprobe()
 * returned for the first that failed; none is registered then.
 */
int krp_register_kretprobes(struct krp_kretprobe **rps, int num)
{
	int ret = 0, i;

	if (num <= 0)
		return -EINVAL;
	for (i = 0; i < num && !ret; i++)
		ret = krp_register_kretprobe(rps[i]);
	if (ret)
		krp_unregister_kretprobes(rps, i - 1);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_register_kretprobes);

/**
 * krp_enable_kretprobe() - enable a disabled return probe
 * @rp: the probe
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, -EINVAL if @rp is not registered, or see krp_rethook_enable().
 */
int krp_enable_kretprobe(struct krp_kretprobe *rp)
{
	int ret = rp && rp->rh ? krp_rethook_enable(rp->rh) : -EINVAL;

	if (!ret)
		rp->kp.flags &= ~KPROBE_FLAG_DISABLED;
	return ret;
}
EXPORT_SYMBOL_GPL(krp_enable_kretprobe);

/**
 * krp_disable_kretprobe() - disable a return probe
 * @rp: the probe
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, -EINVAL if @rp is not registered, or see krp_rethook_disable().
 */
int krp_disable_kretprobe(struct krp_kretprobe *rp)
{
	int ret = rp && rp->rh ? krp_rethook_disable(rp->rh) : -EINVAL;

	if (!ret)
		rp->kp.flags |= KPROBE_FLAG_DISABLED;
	return ret;
}
EXPORT_SYMBOL_GPL(krp_disable_kretprobe);
