// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools that grow by themselves. A probe that was not told how many calls may
 * be in flight at once starts with the default; where functions sleep that is
 * soon too few, and misses are what people would see.
 *
 * An entry that finds nothing near at hand asks for a look at the pool: that is
 * off the hit path. If little is left indeed, the pool is doubled, up to a
 * limit.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/workqueue.h>

#include "rethook_internal.h"

static unsigned int max_instances = 4096;
module_param(max_instances, uint, 0644);
MODULE_PARM_DESC(max_instances, "instances up to which a probe without maxactive grows (default 4096; 0: never)");

/* Less than one in so many left: grow. */
#define KRP_LOW	4

/* What a pool can still be given. krp_mutex held. */
static unsigned int krp_grow_room(struct krp_rethook *rh)
{
	unsigned int limit = krp_rethook_limit(rh), now = rh->pool.nr_objs;
	unsigned int room = limit > now ? min(limit - now, now) : 0;

	return min(room, krp_thunks_left(rh->light));
}

static void krp_grow_one(struct krp_rethook *rh)
{
	struct krp_objpool_stats st;
	unsigned int more;

	krp_objpool_stats(&rh->pool, &st);
	if (st.nr_free >= rh->pool.nr_total / KRP_LOW)
		return;
	more = krp_grow_room(rh);
	if (!more) {
		if (!rh->grow_refused)
			pr_info("%s: more than %u calls in flight, some will be missed: raise max_instances, or give it a maxactive\n",
				rh->name, rh->pool.nr_objs);
		rh->grow_refused = true;
		return;
	}
	if (krp_objpool_grow(&rh->pool, more, GFP_KERNEL, krp_instance_init_thunk))
		pr_info("%s: no memory for more than %u instances\n", rh->name, rh->pool.nr_objs);
}

static void krp_grow(struct work_struct *work)
{
	struct krp_rethook *rh;

	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list) {
		/* Cleared first: what runs low from now on asks again. */
		if (!xchg(&rh->low, false))
			continue;
		if (rh->state != KRP_DRAINING)
			krp_grow_one(rh);
	}
	mutex_unlock(&krp_mutex);
}

static DECLARE_WORK(krp_grow_work, krp_grow);

static void krp_grow_irq(struct irq_work *irq)
{
	schedule_work(&krp_grow_work);
}

static struct irq_work krp_grow_irq_work;

/**
 * krp_grow_request() - have a look taken at a pool that may be running low
 * @rh: a rethook that grows
 *
 * Context: any, NMI included; preemption off.
 */
void krp_grow_request(struct krp_rethook *rh)
{
	if (READ_ONCE(rh->low))
		return;
	WRITE_ONCE(rh->low, true);
	irq_work_queue(&krp_grow_irq_work);
}

/**
 * krp_max_instances() - up to how many instances a pool grows
 *
 * Context: any.
 * Return: the module's parameter.
 */
unsigned int krp_max_instances(void)
{
	return READ_ONCE(max_instances);
}

/**
 * krp_rethook_limit() - up to how many instances a rethook may have
 * @rh: a rethook with a pool
 *
 * Context: any.
 * Return: their number.
 */
unsigned int krp_rethook_limit(const struct krp_rethook *rh)
{
	return rh->grows ? max(READ_ONCE(max_instances), rh->pool.nr_objs) : rh->pool.nr_objs;
}

/**
 * krp_grow_init() - get ready for requests
 *
 * Context: process.
 */
void krp_grow_init(void)
{
	init_irq_work(&krp_grow_irq_work, krp_grow_irq);
}

/**
 * krp_grow_exit() - wait for the last request to be done with
 *
 * Context: process; there is no rethook any more.
 */
void krp_grow_exit(void)
{
	irq_work_sync(&krp_grow_irq_work);
	cancel_work_sync(&krp_grow_work);
}
