// SPDX-License-Identifier: GPL-2.0-only
/* The kretprobe interface on kretpool. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bsearch.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

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

static int krp_pointer_cmp(const void *a, const void *b)
{
	const void *x = *(void **)a, *y = *(void **)b;

	return x < y ? -1 : x > y;
}

/*
 * Is one of them registered, or there twice? As far as the list knows: the
 * caller's @rp->rh may be anything. @sorted is scratch space for @num.
 */
static bool krp_kretprobes_known(struct krp_kretprobe **rps, int num, void **sorted)
{
	struct krp_rethook *rh;
	bool known = false;
	int i;

	/* Registration will say no to that. */
	if (krp_in_handler())
		return false;
	memcpy(sorted, rps, num * sizeof(*rps));
	sort(sorted, num, sizeof(*sorted), krp_pointer_cmp, NULL);
	for (i = 1; i < num && !known; i++)
		known = sorted[i - 1] == sorted[i];
	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list) {
		void *owner = rh->owner;

		if (known)
			break;
		known = owner && bsearch(&owner, sorted, num, sizeof(owner), krp_pointer_cmp);
	}
	mutex_unlock(&krp_mutex);
	return known;
}

static void krp_kretprobe_describe(struct krp_kretprobe *rp, struct krp_rethook_desc *desc)
{
	*desc = (struct krp_rethook_desc){
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
		desc->flags |= KRP_RETHOOK_DISABLED;
	rp->nmissed = 0;
	rp->kp.nmissed = 0;
}

static void krp_kretprobe_attached(struct krp_kretprobe *rp, struct krp_rethook *rh)
{
	rp->rh = rh;
	rp->kp.addr = krp_rethook_address(rh);
	if (rp->maxactive <= 0) {
		/* It may be growing already. */
		mutex_lock(&krp_mutex);
		rp->maxactive = rh->pool.nr_objs;
		mutex_unlock(&krp_mutex);
	}
}

/* @rhs and @descs have room for @num. */
static int krp_kretprobes_attach(struct krp_kretprobe **rps, int num, struct krp_rethook **rhs,
				 struct krp_rethook_desc *descs)
{
	int i, ret;

	if (krp_kretprobes_known(rps, num, (void **)rhs)) {
		pr_err("this kretprobe is registered already\n");
		return -EINVAL;
	}
	for (i = 0; i < num; i++)
		krp_kretprobe_describe(rps[i], &descs[i]);
	ret = krp_rethook_register_batch(descs, rhs, num);
	for (i = 0; i < num && !ret; i++)
		krp_kretprobe_attached(rps[i], rhs[i]);
	return ret;
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
	return krp_kretprobes_attach(&rp, 1, &rh, &desc);
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
 * Code is patched once for all of them.
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, -EINVAL if @num is not positive or one of @rps NULL, -ENOMEM, or
 * what krp_register_kretprobe() says of the first that failed; none is
 * registered then.
 */
int krp_register_kretprobes(struct krp_kretprobe **rps, int num)
{
	struct krp_rethook_desc *descs;
	struct krp_rethook **rhs;
	int i, ret = -ENOMEM;

	if (num <= 0)
		return -EINVAL;
	for (i = 0; i < num; i++)
		if (!rps[i])
			return -EINVAL;
	rhs = kvmalloc_array(num, sizeof(*rhs), GFP_KERNEL);
	descs = kvmalloc_array(num, sizeof(*descs), GFP_KERNEL);
	if (rhs && descs)
		ret = krp_kretprobes_attach(rps, num, rhs, descs);
	kvfree(rhs);
	kvfree(descs);
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
