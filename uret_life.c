// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to calls of user-space functions when their task forks, replaces
 * its program, or exits. Tracepoints tell; what has no call in flight pays for
 * looking that up.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/tracepoint.h>

#include "uret_internal.h"
#include "compat_alloc.h"

/*
 * Copies a call for a child. Under RCU: a probe whose lease is seen to be there
 * is not freed meanwhile.
 */
static void krp_uret_inherit_call(const struct krp_uret_slot *from, struct krp_uret_slot *to,
				  struct task_struct *child)
{
	struct krp_uretprobe *up = from->up;
	struct krp_uret_call *call;

	this_cpu_inc(up->pcpu->calls);
	/* Pairs with the grace period after it is cleared: no call begins later. */
	if (!READ_ONCE(up->live)) {
		this_cpu_inc(up->pcpu->missed[KRP_MISS_REMOVED]);
		return;
	}
	if (!to) {
		this_cpu_inc(up->pcpu->missed[KRP_MISS_EMPTY]);
		return;
	}
	call = krp_uret_call_pop(up);
	if (!call)
		return;
	memcpy(call->data, from->call->data, up->data_size);
	/* So that the word that the child has inherited names this, too. */
	atomic_long_set(&to->lease.word, atomic_long_read(&from->lease.word) - KRP_LEASE_ONE);
	krp_uret_call_begin(to, call, child);
}

/* The child has not run yet; its notes stand where its parent's do. */
static void krp_uret_inherit(struct krp_uret_task *parent, struct task_struct *child)
{
	struct krp_uret_task *t = NULL;
	unsigned int i;

	if (krp_can_alloc_atomic)
		t = krp_uret_task_alloc(child, parent->depth, GFP_ATOMIC);
	rcu_read_lock();
	for (i = 0; i < parent->depth; i++) {
		struct krp_uret_slot *from = krp_uret_slot(parent, i), *to = NULL;
		long word = atomic_long_read(&from->lease.word);

		if (!from->up)
			continue;
		if (t) {
			to = krp_uret_slot(t, i);
			to->up = from->up;
			to->func = from->func;
			to->frame = from->frame;
		}
		if (from->call && (krp_lease_state(word) == KRP_LEASE_LEASED ||
				   krp_lease_state(word) == KRP_LEASE_COUNTED))
			krp_uret_inherit_call(from, to, child);
	}
	rcu_read_unlock();
	if (!t)
		return;
	/* Pairs with the acquire in the timer: the blocks are there. */
	smp_store_release(&t->depth, parent->depth);
	krp_uret_task_insert(t);
	krp_uret_task_leased(t);
}

static void krp_uret_on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct krp_uret_task *t;

	if (!krp_uprobe_inherits(child))
		return;
	t = krp_uret_task_find();
	if (!t)
		return;
	krp_uret_prune(t, NULL, 0, 0);
	if (t->depth)
		krp_uret_inherit(t, child);
}

static void krp_uret_on_exec(void *data, struct task_struct *task)
{
	struct krp_uret_task *t = krp_uret_task_find();

	if (t)
		krp_uret_give_up_all(t);
}

static void krp_uret_on_exit(void *data, struct task_struct *task)
{
	struct krp_uret_task *t = krp_uret_task_find();

	if (!t)
		return;
	krp_uret_give_up_all(t);
	krp_uret_task_remove(t);
}

static struct krp_uret_event {
	const char *name;
	void *fn;
	struct tracepoint *tp;
} krp_uret_events[] = {
	{ "sched_process_fork", krp_uret_on_fork },
	{ "sched_process_exec", krp_uret_on_exec },
	{ "sched_process_exit", krp_uret_on_exit },
};

static void krp_uret_match(struct tracepoint *tp, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(krp_uret_events); i++)
		if (!strcmp(tp->name, krp_uret_events[i].name))
			krp_uret_events[i].tp = tp;
}

static void krp_uret_unwatch(unsigned int num)
{
	while (num--)
		tracepoint_probe_unregister(krp_uret_events[num].tp, krp_uret_events[num].fn,
					    NULL);
	tracepoint_synchronize_unregister();
}

/**
 * krp_uret_life_init() - watch tasks fork, exec and exit
 *
 * Context: process.
 * Return: 0, -ENOENT if the kernel has no such tracepoints, or -ENOMEM.
 */
int krp_uret_life_init(void)
{
	unsigned int i;
	int ret;

	for_each_kernel_tracepoint(krp_uret_match, NULL);
	for (i = 0; i < ARRAY_SIZE(krp_uret_events); i++) {
		ret = krp_uret_events[i].tp ?
		      tracepoint_probe_register(krp_uret_events[i].tp, krp_uret_events[i].fn,
						NULL) : -ENOENT;
		if (ret) {
			pr_err("cannot watch %s (%d)\n", krp_uret_events[i].name, ret);
			krp_uret_unwatch(i);
			return ret;
		}
	}
	return 0;
}

/**
 * krp_uret_life_exit() - undo krp_uret_life_init()
 *
 * Context: process.
 */
void krp_uret_life_exit(void)
{
	krp_uret_unwatch(ARRAY_SIZE(krp_uret_events));
}
