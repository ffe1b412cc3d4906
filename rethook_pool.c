// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rethooks: setting them up, and how they go.
 *
 * Unregistering takes a rethook off its function, clears
 * @live and waits one RCU grace period: entries and returns run with
 * preemption off, so after it no handler runs and nobody pushes to the pool.
 * What is free is taken out of the pool then; what is in flight goes through
 * krp_objpool_drop() when it returns, and the last one home frees the pool.
 * Each rethook pins the module until every CPU has also left krp_common(),
 * which is what call_rcu_tasks() waits for.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "rethook_internal.h"
#include "compat_rcu.h"

DEFINE_MUTEX(krp_mutex);
LIST_HEAD(krp_rethooks);

/* Rethooks whose last instance is home. */
static LLIST_HEAD(krp_reap_list);

static int krp_no_handler(struct krp_instance *inst, struct pt_regs *regs)
{
	return 0;
}

/* Frees what no CPU can be looking at any more. */
static void krp_rethook_free(struct krp_rethook *rh)
{
	free_percpu(rh->scratch);
	free_percpu(rh->pcpu);
	kfree(rh);
}

static void krp_reap(struct work_struct *work)
{
	struct llist_node *dead = llist_del_all(&krp_reap_list);
	struct krp_rethook *rh, *next;

	mutex_lock(&krp_mutex);
	llist_for_each_entry_safe(rh, next, dead, reap) {
		list_del(&rh->list);
		krp_rethook_free(rh);
		module_put(THIS_MODULE);
	}
	mutex_unlock(&krp_mutex);
}

static DECLARE_WORK(krp_reap_work, krp_reap);

/* No task is on its way out of krp_common() any more. */
static void krp_rethook_left(struct rcu_head *rcu)
{
	struct krp_rethook *rh = container_of(rcu, struct krp_rethook, rcu);

	llist_add(&rh->reap, &krp_reap_list);
	schedule_work(&krp_reap_work);
}

/* The pool's release callback, or in its place for those without a pool. */
static int krp_rethook_released(struct krp_objpool *pool, void *context)
{
	struct krp_rethook *rh = context;

	/* A task may have been preempted on its way out of krp_common(). */
	call_rcu_tasks(&rh->rcu, krp_rethook_left);
	return 0;
}

/**
 * krp_rethook_drain() - wait until the last rethook's callbacks have returned
 *
 * The reaper's last module_put() lets the module go while it still runs.
 *
 * Context: process.
 */
void krp_rethook_drain(void)
{
	rcu_barrier_tasks();
	flush_work(&krp_reap_work);
}

static int krp_instance_init(void *obj, void *context)
{
	struct krp_instance *inst = obj;

	inst->rh = context;
	return 0;
}

/**
 * krp_instance_init_thunk() - set up an instance that a pool grows by
 * @obj: the instance
 * @context: its rethook
 *
 * Context: process, krp_mutex held; there are thunks left.
 * Return: 0.
 */
int krp_instance_init_thunk(void *obj, void *context)
{
	krp_instance_init(obj, context);
	krp_thunk_alloc(obj);
	return 0;
}

static void krp_instance_give_thunk(void *obj, void *data)
{
	krp_thunk_alloc(obj);
}

static void krp_instance_take_thunk(void *obj, void *data)
{
	struct krp_instance *inst = obj;

	/* Those in flight give theirs back when they return. */
	if (!READ_ONCE(inst->frame))
		krp_thunk_free(inst);
}

static int krp_rethook_alloc_pool(struct krp_rethook *rh, int nr)
{
	unsigned int left = KRP_NR_THUNKS - krp_thunks_used();
	size_t size = sizeof(struct krp_instance) + rh->data_size;
	int ret;

	if (nr <= 0) {
		nr = max_t(int, 10, 2 * num_possible_cpus());
		rh->grows = true;
	}
	/* Others can only give thunks back meanwhile: krp_mutex is held. */
	if (nr > left || nr + num_possible_cpus() > left) {
		pr_err("%s: %d instances and one per CPU need more return thunks than the %u left of %u: unregister probes, ask for fewer, or rebuild with THUNKS=\n",
		       rh->name, nr, left, KRP_NR_THUNKS);
		return -ENOSPC;
	}
	ret = krp_objpool_init(&rh->pool, nr, size, GFP_KERNEL, rh,
			       krp_instance_init, krp_rethook_released);
	if (!ret)
		krp_objpool_for_each(&rh->pool, krp_instance_give_thunk, NULL);
	return ret;
}

static int krp_rethook_alloc_scratch(struct krp_rethook *rh)
{
	rh->scratch = __alloc_percpu(sizeof(struct krp_instance) + rh->data_size,
				     __alignof__(struct krp_instance));
	return rh->scratch ? 0 : -ENOMEM;
}

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
	return READ_ONCE(rh->func->kp.nmissed) - rh->reentered;
}

/* Gives up the instances that are free; the last one in flight does the rest. */
static void krp_rethook_give_up(struct krp_rethook *rh)
{
	if (rh->scratch) {
		krp_rethook_released(NULL, rh);
		return;
	}
	krp_objpool_for_each(&rh->pool, krp_instance_take_thunk, NULL);
	krp_objpool_fini(&rh->pool);
}

static void krp_rethooks_remove(struct krp_rethook **rhs, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		struct krp_rethook *rh = rhs[i];

		if (rh->state == KRP_ENABLED)
			krp_func_disarm(rh->func, rh);
		WRITE_ONCE(rh->live, false);
	}
	/*
	 * Entries and returns run with preemption off: those that saw live are
	 * done after this, handlers, pushes and all.
	 */
	synchronize_rcu();

	for (i = 0; i < num; i++) {
		WRITE_ONCE(rhs[i]->owner, NULL);
		rhs[i]->reentered = krp_rethook_reentered(rhs[i]);
		rhs[i]->state = KRP_DRAINING;
	}
	krp_func_put_batch(rhs, num);
	for (i = 0; i < num; i++)
		krp_rethook_give_up(rhs[i]);
}

static int krp_rethook_init(struct krp_rethook *rh, const struct krp_rethook_desc *desc)
{
	static unsigned int ids;
	int ret;

	if (desc->data_size > KRP_DATA_SIZE_MAX) {
		pr_err("%s: data_size %zu is above the limit of %u bytes\n",
		       rh->name, desc->data_size, KRP_DATA_SIZE_MAX);
		return -E2BIG;
	}
	rh->id = ++ids;
	rh->entry = desc->entry;
	rh->handler = desc->handler ?: krp_no_handler;
	rh->missed = desc->missed;
	rh->owner = desc->owner;
	rh->flags = desc->flags;
	rh->data_size = desc->data_size;
	rh->reentered = READ_ONCE(rh->func->kp.nmissed);
	rh->state = KRP_DISABLED;
	rh->live = true;
	rh->pcpu = alloc_percpu(struct krp_rethook_pcpu);
	if (!rh->pcpu)
		return -ENOMEM;
	ret = desc->entry && !desc->handler ? krp_rethook_alloc_scratch(rh) :
	      krp_rethook_alloc_pool(rh, desc->nr_instances);
	if (!ret)
		list_add_tail(&rh->list, &krp_rethooks);
	return ret;
}

static int krp_rethook_arm(struct krp_rethook *rh)
{
	int ret = krp_func_arm(rh->func, rh);

	if (ret)
		pr_err("%s: cannot be hooked (%d)\n", rh->name, ret);
	else
		rh->state = KRP_ENABLED;
	return ret;
}

/**
 * krp_refuse_in_handler() - say no to what would wait for its own caller
 * @what: what the caller wants to do, for the log
 *
 * Context: any.
 * Return: is the caller a handler?
 */
bool krp_refuse_in_handler(const char *what)
{
	if (likely(!krp_in_handler()))
		return false;
	pr_err("a handler must not %s\n", what);
	return true;
}

/**
 * krp_rethook_register() - hook a function's return
 * @desc: what and how; may be freed after the call
 *
 * Context: process, not from a handler; may sleep.
 * Return: the rethook, or ERR_PTR() with a line in the log that says why:
 * -EINVAL for a description that means no function's entry or one that must
 * not be hooked, -ENOENT if there is no such function, -E2BIG if the data size
 * is above KRP_DATA_SIZE_MAX, -ENOSPC if there are no return thunks left for
 * so many instances, -EDEADLK if called from a handler, -ENOMEM, or what
 * ftrace or kprobes returned. Nothing is held on failure.
 */
struct krp_rethook *krp_rethook_register(const struct krp_rethook_desc *desc)
{
	struct krp_rethook *rh;
	int ret;

	if (krp_refuse_in_handler("register a probe"))
		return ERR_PTR(-EDEADLK);
	might_sleep();

	rh = kzalloc(sizeof(*rh), GFP_KERNEL);
	if (!rh)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&krp_mutex);
	rh->func = krp_func_get(desc, rh->name);
	if (IS_ERR(rh->func)) {
		ret = PTR_ERR(rh->func);
		goto free;
	}
	ret = krp_rethook_init(rh, desc);
	if (ret)
		goto put;
	__module_get(THIS_MODULE);
	if (!(desc->flags & KRP_RETHOOK_DISABLED)) {
		ret = krp_rethook_arm(rh);
		if (ret) {
			/* It may have been seen by a call already. */
			krp_rethooks_remove(&rh, 1);
			rh = ERR_PTR(ret);
		}
	}
	mutex_unlock(&krp_mutex);
	return rh;

put:
	krp_func_put_batch(&rh, 1);
free:
	mutex_unlock(&krp_mutex);
	krp_rethook_free(rh);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(krp_rethook_register);

/**
 * krp_rethook_unregister_batch() - unhook functions
 * @rhs: rethooks
 * @num: how many
 *
 * When this returns no handler of these is running or will run, and the
 * pointers are no longer valid. Calls in flight are not waited for: they
 * return as usual and count as KRP_MISS_REMOVED. The number of grace periods
 * waited for does not depend on @num.
 *
 * Context: process, not from a handler (refused with a line in the log); may
 * sleep.
 */
void krp_rethook_unregister_batch(struct krp_rethook **rhs, int num)
{
	if (krp_refuse_in_handler("unregister a probe"))
		return;
	might_sleep();
	mutex_lock(&krp_mutex);
	krp_rethooks_remove(rhs, num);
	mutex_unlock(&krp_mutex);
}
EXPORT_SYMBOL_GPL(krp_rethook_unregister_batch);

/**
 * krp_rethook_unregister() - unhook a function
 * @rh: a rethook
 *
 * See krp_rethook_unregister_batch().
 *
 * Context: process, not from a handler (refused with a line in the log); may
 * sleep.
 */
void krp_rethook_unregister(struct krp_rethook *rh)
{
	krp_rethook_unregister_batch(&rh, 1);
}
EXPORT_SYMBOL_GPL(krp_rethook_unregister);

/**
 * krp_rethook_enable() - hook a disabled rethook's function again
 * @rh: a rethook
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, also if it was enabled; -EINVAL if the function's module is gone,
 * -EDEADLK if called from a handler, or what ftrace or kprobes returned.
 */
int krp_rethook_enable(struct krp_rethook *rh)
{
	int ret = 0;

	if (krp_refuse_in_handler("enable a probe"))
		return -EDEADLK;
	might_sleep();
	mutex_lock(&krp_mutex);
	if (rh->state == KRP_GONE)
		ret = -EINVAL;
	else if (rh->state == KRP_DISABLED)
		ret = krp_rethook_arm(rh);
	mutex_unlock(&krp_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_rethook_enable);

/**
 * krp_rethook_disable() - unhook a rethook's function for a while
 * @rh: a rethook
 *
 * Calls that were entered before still run the handler when they return; later
 * ones are not counted.
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, also if it was disabled; -EINVAL if the function's module is
 * gone, -EDEADLK if called from a handler.
 */
int krp_rethook_disable(struct krp_rethook *rh)
{
	int ret = 0;

	if (krp_refuse_in_handler("disable a probe"))
		return -EDEADLK;
	might_sleep();
	mutex_lock(&krp_mutex);
	if (rh->state == KRP_GONE) {
		ret = -EINVAL;
	} else if (rh->state == KRP_ENABLED) {
		krp_func_disarm(rh->func, rh);
		rh->state = KRP_DISABLED;
		/* Enabling links it anew: nobody may stand on it then. */
		synchronize_rcu();
	}
	mutex_unlock(&krp_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_rethook_disable);

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
	counts->missed[KRP_MISS_UNWATCHED] = krp_func_unwatched(rh);
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

/**
 * krp_rethook_owner() - whose instance this is
 * @inst: an instance, in a handler
 *
 * Context: any.
 * Return: &krp_rethook_desc.owner, or NULL if the rethook is unregistered.
 */
void *krp_rethook_owner(const struct krp_instance *inst)
{
	return READ_ONCE(inst->rh->owner);
}
EXPORT_SYMBOL_GPL(krp_rethook_owner);

/**
 * krp_rethook_address() - what a rethook hooks
 * @rh: the rethook
 *
 * Context: any.
 * Return: the address where the kernel would put a kprobe.
 */
void *krp_rethook_address(const struct krp_rethook *rh)
{
	return rh->func->kp.addr;
}
EXPORT_SYMBOL_GPL(krp_rethook_address);

/**
 * krp_instance_ret_addr() - where a hooked call returns to
 * @inst: an instance, in a handler
 *
 * Context: any.
 * Return: the address in the caller, however many rethooks the call has.
 */
unsigned long krp_instance_ret_addr(const struct krp_instance *inst)
{
	return krp_resolve_thunk(inst->ret_addr);
}
EXPORT_SYMBOL_GPL(krp_instance_ret_addr);
