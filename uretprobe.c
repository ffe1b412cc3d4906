// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of user-space functions: setting them up, and how they go.
 *
 * Removal takes a probe from the kernel, which waits until no entry and no
 * return of it is being handled; after a grace period no child inherits a call
 * of it either. Then it takes all calls in flight from their tasks, which stay
 * asleep as they are: they hold the probe by leases, see uret_lease.c. Nothing
 * is left of the probe when it returns, and the kernel itself sees the calls home.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "uret_internal.h"
#include "rethook_internal.h"

/* Protects the list. */
DEFINE_MUTEX(krp_uret_mutex);
LIST_HEAD(krp_uretprobes);

static void krp_uret_let_go(struct krp_leased *leased)
{
	complete(&container_of(leased, struct krp_uretprobe, leased)->let_go);
}

static bool krp_uret_refused(const char *what)
{
	struct krp_uret_task *t = krp_uret_task_find();

	if (krp_refuse_in_handler(what))
		return true;
	if (likely(!t || !t->busy))
		return false;
	pr_err("a handler must not %s\n", what);
	return true;
}

/* The file, held, and its name. A path also keeps its file system from being unmounted. */
static int krp_uret_file(struct krp_uretprobe *up, const struct krp_uretprobe_desc *desc)
{
	struct inode *inode = desc->inode;
	int ret;

	if (desc->path) {
		snprintf(up->name, sizeof(up->name), "%s:0x%llx", desc->path, desc->offset);
		ret = kern_path(desc->path, LOOKUP_FOLLOW, &up->path);
		if (ret)
			return ret;
		inode = d_real_inode(up->path.dentry);
	} else if (inode) {
		snprintf(up->name, sizeof(up->name), "%s:%lu:0x%llx", inode->i_sb->s_id,
			 (unsigned long)inode->i_ino, desc->offset);
	}
	if (!inode || !S_ISREG(inode->i_mode))
		return -EINVAL;
	up->uprobe.inode = igrab(inode);
	up->uprobe.offset = desc->offset;
	return up->uprobe.inode ? 0 : -ENOENT;
}

static int krp_uret_alloc(struct krp_uretprobe *up, int nr)
{
	size_t size = sizeof(struct krp_uret_call) + up->data_size;

	up->pcpu = alloc_percpu(struct krp_uret_pcpu);
	if (!up->pcpu)
		return -ENOMEM;
	if (!up->handler)
		return 0;
	if (nr <= 0) {
		nr = max_t(int, 64, 4 * num_possible_cpus());
		up->grows = true;
	}
	return krp_objpool_init(&up->pool, nr, size, GFP_KERNEL, up, NULL, NULL);
}

/* Nobody looks at it any more. */
static void krp_uret_free(struct krp_uretprobe *up)
{
	if (up->pool.slots)
		krp_objpool_free(&up->pool);
	free_percpu(up->pcpu);
	iput(up->uprobe.inode);
	path_put(&up->path);
	kfree(up);
}

static int krp_uret_prepare(struct krp_uretprobe *up, const struct krp_uretprobe_desc *desc)
{
	int ret = krp_uret_file(up, desc);

	if (ret)
		return ret;
	if (!desc->entry && !desc->handler)
		return -EINVAL;
	if (desc->data_size > KRP_DATA_SIZE_MAX)
		return -E2BIG;
	up->entry = desc->entry;
	up->handler = desc->handler;
	up->owner = desc->owner;
	up->data_size = desc->data_size;
	up->live = true;
	up->id = krp_new_id();
	mutex_init(&up->grow_lock);
	init_completion(&up->let_go);
	krp_leased_init(&up->leased, krp_uret_let_go);
	return krp_uret_alloc(up, desc->nr_instances);
}

static void krp_uret_revoke(void *obj, void *data)
{
	struct krp_uretprobe *up = data;
	struct krp_uret_call *call = obj;

	/* Pairs with the release in krp_uret_call_begin(): @lease and @begun are there. */
	if (!smp_load_acquire(&call->task) || !krp_lease_revoke(call->lease, call->begun))
		return;
	WRITE_ONCE(call->task, NULL);
	up->removed++;
}

/* The kernel tells nothing of these any more: takes what is in flight from its tasks. */
static void krp_uret_revoke_all(struct krp_uretprobe **ups, int num)
{
	int i;

	/* Children that inherit a call look at @live under RCU. */
	synchronize_rcu_expedited();
	for (i = 0; i < num; i++) {
		if (ups[i]->handler) {
			/* Leases are part of tasks' notes, which RCU frees. */
			rcu_read_lock();
			krp_objpool_for_each(&ups[i]->pool, krp_uret_revoke, ups[i]);
			rcu_read_unlock();
		}
		krp_leased_put(&ups[i]->leased);
	}
	for (i = 0; i < num; i++)
		wait_for_completion(&ups[i]->let_go);
	krp_lease_synchronize();
}

/**
 * krp_uretprobe_register() - hook a user-space function's return
 * @desc: what and how; may be freed after the call
 *
 * The function is hooked in all processes that have the file mapped, or map it
 * later. That the offset is of a function's first instruction cannot be checked.
 *
 * Context: process, not from a handler; may sleep.
 * Return: the probe, or ERR_PTR() with a line in the log that says why: -EINVAL
 * if there are neither handlers nor a regular file, or the kernel does not take
 * the offset, -ENOENT if there is no such file, -E2BIG if the data size is above
 * KRP_DATA_SIZE_MAX, -EDEADLK if called from a handler, -ENOMEM, or what the
 * kernel's uprobes returned. Nothing is held on failure.
 */
struct krp_uretprobe *krp_uretprobe_register(const struct krp_uretprobe_desc *desc)
{
	struct krp_uretprobe *up;
	int ret;

	if (krp_uret_refused("register a probe"))
		return ERR_PTR(-EDEADLK);
	might_sleep();
	up = kzalloc(sizeof(*up), GFP_KERNEL);
	if (!up)
		return ERR_PTR(-ENOMEM);
	ret = krp_uret_prepare(up, desc);
	if (!ret) {
		ret = krp_uprobe_register(&up->uprobe, desc->ref_ctr_offset, up->handler);
		if (ret) {
			/* In some processes it may have been there for a moment. */
			WRITE_ONCE(up->live, false);
			krp_uret_revoke_all(&up, 1);
		}
	}
	if (ret) {
		pr_err("%s: cannot be hooked (%d)\n", up->name, ret);
		krp_uret_free(up);
		return ERR_PTR(ret);
	}
	__module_get(THIS_MODULE);
	mutex_lock(&krp_uret_mutex);
	list_add_tail(&up->list, &krp_uretprobes);
	mutex_unlock(&krp_uret_mutex);
	return up;
}
EXPORT_SYMBOL_GPL(krp_uretprobe_register);

static void krp_uret_count(void *obj, void *data)
{
	unsigned long *inflight = data;

	*inflight += krp_uret_call_inflight(obj);
}

/**
 * krp_uretprobe_counts() - what became of a probe's calls
 * @up: the probe
 * @counts: filled in; a snapshot, exact while no call is being made
 *
 * Context: any.
 */
void krp_uretprobe_counts(struct krp_uretprobe *up, struct krp_uretprobe_counts *counts)
{
	unsigned int cpu, cause;

	memset(counts, 0, sizeof(*counts));
	for_each_possible_cpu(cpu) {
		struct krp_uret_pcpu *pcpu = per_cpu_ptr(up->pcpu, cpu);

		counts->calls += READ_ONCE(pcpu->calls);
		counts->hits += READ_ONCE(pcpu->hits);
		counts->skipped += READ_ONCE(pcpu->skipped);
		for (cause = 0; cause < KRP_NR_MISSES; cause++)
			counts->missed[cause] += READ_ONCE(pcpu->missed[cause]);
	}
	counts->missed[KRP_MISS_REMOVED] += READ_ONCE(up->removed);
	if (up->handler)
		krp_objpool_for_each(&up->pool, krp_uret_count, &counts->inflight);
}
EXPORT_SYMBOL_GPL(krp_uretprobe_counts);

/**
 * krp_uretprobe_unregister_batch() - unhook user-space functions
 * @ups: probes
 * @last: filled in, for each of them: what became of its calls; or NULL
 * @num: how many
 *
 * When this returns no handler of these is running or will run, and the
 * pointers are no longer valid. Calls in flight are not waited for, however long
 * they last; they count as KRP_MISS_REMOVED. The number of grace periods waited
 * for does not depend on @num from 6.12 on; before, the kernel removes one after
 * the other.
 *
 * Context: process, not from a handler (refused with a line in the log); may
 * sleep.
 */
void krp_uretprobe_unregister_batch(struct krp_uretprobe **ups,
				    struct krp_uretprobe_counts *last, int num)
{
	int i;

	if (num <= 0 || krp_uret_refused("unregister a probe"))
		return;
	might_sleep();
	mutex_lock(&krp_uret_mutex);
	for (i = 0; i < num; i++)
		list_del(&ups[i]->list);
	mutex_unlock(&krp_uret_mutex);
	for (i = 0; i < num; i++) {
		WRITE_ONCE(ups[i]->live, false);
		krp_uprobe_remove(&ups[i]->uprobe);
	}
	krp_uprobe_remove_sync();
	krp_uret_revoke_all(ups, num);
	for (i = 0; i < num; i++) {
		if (last)
			krp_uretprobe_counts(ups[i], &last[i]);
		krp_uret_free(ups[i]);
		module_put(THIS_MODULE);
	}
}
EXPORT_SYMBOL_GPL(krp_uretprobe_unregister_batch);

/**
 * krp_uretprobe_unregister() - unhook a user-space function
 * @up: a probe
 * @last: filled in: what became of its calls; or NULL
 *
 * See krp_uretprobe_unregister_batch().
 *
 * Context: process, not from a handler (refused with a line in the log); may
 * sleep.
 */
void krp_uretprobe_unregister(struct krp_uretprobe *up, struct krp_uretprobe_counts *last)
{
	krp_uretprobe_unregister_batch(&up, last, 1);
}
EXPORT_SYMBOL_GPL(krp_uretprobe_unregister);

/**
 * krp_uretprobe_owner() - whose call this is
 * @call: a call, in a handler
 *
 * Context: any.
 * Return: &krp_uretprobe_desc.owner.
 */
void *krp_uretprobe_owner(const struct krp_uret_call *call)
{
	return call->up->owner;
}
EXPORT_SYMBOL_GPL(krp_uretprobe_owner);

/**
 * krp_uret_init() - get ready for probes of user-space functions
 *
 * Context: process.
 * Return: 0, or see krp_uret_life_init().
 */
int krp_uret_init(void)
{
	krp_uret_tasks_init();
	return krp_uret_life_init();
}

/**
 * krp_uret_exit() - undo krp_uret_init()
 *
 * Context: process; there are no probes any more.
 */
void krp_uret_exit(void)
{
	krp_uret_life_exit();
	krp_uret_tasks_exit();
}
