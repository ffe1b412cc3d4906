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
	if (rh->links != &rh->one)
		kvfree(rh->links);
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
	struct krp_rethook *rh = context;

	inst->rh = rh;
	inst->link = rh->links;
	inst->owner = rh->owner;
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
	unsigned int left = krp_thunks_left(rh->light);
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

	krp_hook_disarm_batch(rhs, num);
	for (i = 0; i < num; i++)
		WRITE_ONCE(rhs[i]->live, KRP_LIVE_NOT);
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

/**
 * krp_new_id() - what people call a probe
 *
 * Context: any.
 * Return: a number that no other probe has had, of whatever kind.
 */
unsigned int krp_new_id(void)
{
	static atomic_t ids;

	return atomic_inc_return(&ids);
}

/* Called with everything there that does not depend on @desc. */
static int krp_rethook_init(struct krp_rethook *rh, const struct krp_rethook_desc *desc)
{
	int ret;

	if (desc->data_size > KRP_DATA_SIZE_MAX) {
		pr_err("%s: data_size %zu is above the limit of %u bytes\n",
		       rh->name, desc->data_size, KRP_DATA_SIZE_MAX);
		return -E2BIG;
	}
	if (desc->flags & KRP_RETHOOK_TIMED && desc->data_size < sizeof(u64)) {
		pr_err("%s: data_size %zu is too small for the time of entry\n",
		       rh->name, desc->data_size);
		return -EINVAL;
	}
	rh->id = krp_new_id();
	rh->entry = desc->entry;
	rh->handler = desc->handler ?: krp_no_handler;
	rh->missed = desc->missed;
	rh->owner = desc->owner;
	rh->flags = desc->flags;
	rh->data_size = desc->data_size;
	rh->light = KRP_NR_LIGHT && krp_hook_is_ftrace(rh) && (desc->flags & KRP_RETHOOK_LIGHT);
	if (rh->one.func)
		rh->reentered = READ_ONCE(rh->one.func->probe->kp.nmissed);
	rh->state = KRP_DISABLED;
	rh->live = rh->exit ? KRP_LIVE_EXIT : KRP_LIVE_HANDLER;
	rh->pcpu = alloc_percpu(struct krp_rethook_pcpu);
	if (!rh->pcpu)
		return -ENOMEM;
	ret = desc->entry && !desc->handler && !rh->exit ? krp_rethook_alloc_scratch(rh) :
	      krp_rethook_alloc_pool(rh, desc->nr_instances);
	if (ret)
		return ret;
	list_add_tail(&rh->list, &krp_rethooks);
	__module_get(THIS_MODULE);
	return 0;
}

static int krp_rethooks_arm(struct krp_rethook **rhs, int num)
{
	int ret = krp_hook_arm_batch(rhs, num);

	if (ret)
		pr_err("%s%s cannot be hooked (%d)\n", rhs[0]->name,
		       num > 1 ? " and others" : "", ret);
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

/* A rethook of one function, disabled. */
static struct krp_rethook *krp_rethook_new(const struct krp_rethook_desc *desc)
{
	struct krp_rethook *rh = kzalloc(sizeof(*rh), GFP_KERNEL);
	struct krp_func *func;
	int ret;

	if (!rh)
		return ERR_PTR(-ENOMEM);
	func = krp_func_get(desc, rh->name);
	if (IS_ERR(func)) {
		kfree(rh);
		return ERR_CAST(func);
	}
	rh->one.rh = rh;
	rh->one.func = func;
	rh->one.addr = (unsigned long)func->probe->kp.addr;
	rh->links = &rh->one;
	rh->nr_links = 1;
	ret = krp_rethook_init(rh, desc);
	if (ret) {
		krp_func_put_batch(&rh, 1);
		krp_rethook_free(rh);
		return ERR_PTR(ret);
	}
	return rh;
}

/* Those that are not to stay disabled to the front, and armed. */
static int krp_rethooks_start(struct krp_rethook **rhs, int num)
{
	int i, ret, n = 0;
	struct krp_rethook **start = kvmalloc_array(num, sizeof(*start), GFP_KERNEL);

	if (!start)
		return -ENOMEM;
	for (i = 0; i < num; i++)
		if (!(rhs[i]->flags & KRP_RETHOOK_DISABLED))
			start[n++] = rhs[i];
	ret = n ? krp_rethooks_arm(start, n) : 0;
	kvfree(start);
	return ret;
}

/**
 * krp_rethook_register_batch() - hook functions' returns, all or none
 * @descs: what and how; may be freed after the call
 * @rhs: the rethooks, filled in
 * @num: how many
 *
 * Code is patched once for all of them.
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, or what krp_rethook_register() says of the first that failed.
 * Nothing is held on failure.
 */
int krp_rethook_register_batch(const struct krp_rethook_desc *descs, struct krp_rethook **rhs,
			       int num)
{
	int i, ret = 0;

	if (krp_refuse_in_handler("register a probe"))
		return -EDEADLK;
	might_sleep();
	mutex_lock(&krp_mutex);
	for (i = 0; i < num; i++) {
		rhs[i] = krp_rethook_new(&descs[i]);
		if (IS_ERR(rhs[i])) {
			ret = PTR_ERR(rhs[i]);
			break;
		}
	}
	if (!ret)
		ret = krp_rethooks_start(rhs, num);
	/* They may have been seen by a call already. */
	if (ret && i)
		krp_rethooks_remove(rhs, i);
	mutex_unlock(&krp_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_rethook_register_batch);

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
	int ret = krp_rethook_register_batch(desc, &rh, 1);

	return ret ? ERR_PTR(ret) : rh;
}
EXPORT_SYMBOL_GPL(krp_rethook_register);

/**
 * krp_rethook_register_targets() - hook many functions' returns with one rethook
 * @desc: how; what is @targets instead
 * @exit: called instead of its handler, or NULL
 * @name: for people
 * @targets: the functions; ftrace can hook each of them
 * @num: how many, at least one
 * @rhp: the rethook, set before the first handler runs
 *
 * Context: process, krp_mutex held.
 * Return: 0, or as krp_rethook_register(); no handler is running then.
 */
int krp_rethook_register_targets(const struct krp_rethook_desc *desc, krp_exit_t exit,
				 const char *name, const struct krp_target *targets,
				 unsigned int num, struct krp_rethook **rhp)
{
	struct krp_rethook *rh = kzalloc(sizeof(*rh), GFP_KERNEL);
	unsigned int i, nr_new = 0;
	int ret = -ENOMEM;

	if (!rh)
		return -ENOMEM;
	strscpy(rh->name, name, sizeof(rh->name));
	rh->links = kvcalloc(num, sizeof(*rh->links), GFP_KERNEL);
	for (i = 0; i < num; i++)
		nr_new += krp_func_find(targets[i].ip) == &krp_func_none;
	if (!rh->links || krp_funcs_reserve(nr_new))
		goto free;
	for (i = 0; i < num; i++) {
		rh->links[i].rh = rh;
		rh->links[i].addr = targets[i].addr;
		rh->links[i].func = krp_func_at(targets[i].ip);
		if (!rh->links[i].func)
			goto free;
	}
	rh->nr_links = num;
	rh->exit = exit;
	ret = krp_rethook_init(rh, desc);
	if (ret)
		goto free;
	*rhp = rh;
	ret = krp_rethooks_start(&rh, 1);
	/* It may have been seen by a call already. */
	if (ret)
		krp_rethooks_remove(&rh, 1);
	return ret;

free:
	krp_rethook_free(rh);
	return ret;
}

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
		ret = krp_rethooks_arm(&rh, 1);
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
		krp_hook_disarm_batch(&rh, 1);
		/* Enabling links it anew: nobody may stand on it then. */
		synchronize_rcu();
	}
	mutex_unlock(&krp_mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_rethook_disable);

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
 * @rh: the rethook of one function
 *
 * Context: any.
 * Return: the address where the kernel would put a kprobe.
 */
void *krp_rethook_address(const struct krp_rethook *rh)
{
	return (void *)rh->one.addr;
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
