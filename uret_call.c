// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call of a probed user-space function: its entry and its return, as the
 * kernel's uprobes tell of them, in the context of the task, which may sleep.
 *
 * The kernel does not let a probe go while one of these two runs. All other
 * looks at a probe, from the task's note of the call, go by the call's lease.
 */

#include <linux/kernel.h>
#include <linux/ptrace.h>

#include "uret_internal.h"
#include "rethook_internal.h"

static void krp_uret_grow(struct krp_uretprobe *up)
{
	unsigned int limit, now;

	mutex_lock(&up->grow_lock);
	limit = krp_max_instances();
	now = up->pool.nr_objs;
	if (now < limit)
		krp_objpool_grow(&up->pool, min(limit - now, now), GFP_KERNEL, NULL);
	mutex_unlock(&up->grow_lock);
}

/**
 * krp_uret_call_pop() - take an instance for a call
 * @up: the probe
 *
 * Context: any.
 * Return: the instance; NULL if there is none, and the call is counted as
 * missed.
 */
struct krp_uret_call *krp_uret_call_pop(struct krp_uretprobe *up)
{
	struct krp_uret_call *call = krp_objpool_pop(&up->pool);

	if (!call)
		this_cpu_inc(up->pcpu->missed[KRP_MISS_EMPTY]);
	return call;
}

/* The same at entry, where there is time to make more. */
static struct krp_uret_call *krp_uret_call_get(struct krp_uretprobe *up)
{
	struct krp_uret_call *call = krp_objpool_pop(&up->pool);

	if (call)
		return call;
	if (up->grows)
		krp_uret_grow(up);
	return krp_uret_call_pop(up);
}

static void krp_uret_call_put(struct krp_uretprobe *up, struct krp_uret_call *call)
{
	WRITE_ONCE(call->task, NULL);
	krp_objpool_push(call, &up->pool);
}

static void krp_uret_call_fill(const struct krp_uret_slot *slot, struct krp_uret_call *call,
			       const struct task_struct *task)
{
	call->up = slot->up;
	call->func = slot->func;
	call->frame = slot->frame;
	call->pid = task->pid;
	call->since = jiffies;
}

/**
 * krp_uret_call_begin() - a call is in flight from here on
 * @slot: its note, with @up, @func and @frame filled in
 * @call: its instance
 * @task: who makes it
 *
 * Context: the task's, or its parent's before it has run.
 */
void krp_uret_call_begin(struct krp_uret_slot *slot, struct krp_uret_call *call,
			 struct task_struct *task)
{
	krp_uret_call_fill(slot, call, task);
	call->lease = &slot->lease;
	slot->call = call;
	call->begun = krp_lease_begin(&slot->lease, &slot->up->leased);
	/* Pairs with the acquire in krp_uret_revoke(): the rest is seen then. */
	smp_store_release(&call->task, task);
}

/**
 * krp_uret_slot_give_up() - a call will not return, or nobody will tell
 * @slot: its note
 *
 * Context: the call's task; does not sleep.
 */
void krp_uret_slot_give_up(struct krp_uret_slot *slot)
{
	struct krp_uretprobe *up = slot->up;
	enum krp_lease_state was;
	enum krp_miss cause;

	if (!slot->call)
		return;
	was = krp_lease_consume(&slot->lease);
	if (was == KRP_LEASE_GONE)
		return;
	cause = READ_ONCE(up->live) ? KRP_MISS_EXITED : KRP_MISS_REMOVED;
	this_cpu_inc(up->pcpu->missed[cause]);
	krp_uret_call_put(up, slot->call);
	krp_lease_finalize(&slot->lease, was);
}

/* Entry-only: nothing outlives the handler. */
static void krp_uret_entry_only(struct krp_uretprobe *up, struct pt_regs *regs)
{
	struct krp_uret_call call = {
		.up = up,
		.func = instruction_pointer(regs),
		.frame = user_stack_pointer(regs),
		.task = current,
		.pid = current->pid,
		.since = jiffies,
	};

	if (up->entry(&call, regs))
		this_cpu_inc(up->pcpu->skipped);
	else
		this_cpu_inc(up->pcpu->hits);
}

/* Runs a handler; true if there is one and it returned non-zero. */
static bool krp_uret_run(struct krp_uret_task *t, krp_uret_handler_t handler,
			 struct krp_uret_call *call, struct pt_regs *regs)
{
	int ret = 0;

	if (handler) {
		t->busy++;
		ret = handler(call, regs);
		t->busy--;
	}
	return ret;
}

/* An instance for the call of @slot, unless it is missed or skipped. */
static struct krp_uret_call *krp_uret_take(struct krp_uret_task *t, struct krp_uret_slot *slot,
					   struct pt_regs *regs)
{
	struct krp_uretprobe *up = slot->up;
	struct krp_uret_call *call = krp_uret_call_get(up);

	if (!call)
		return NULL;
	krp_uret_call_fill(slot, call, current);
	if (!krp_uret_run(t, up->entry, call, regs))
		return call;
	this_cpu_inc(up->pcpu->skipped);
	krp_uret_call_put(up, call);
	return NULL;
}

/**
 * krp_uprobe_entered() - a probed function is about to run
 * @uprobe: in a krp_uretprobe
 * @regs: the user's registers
 * @cookie: set to what is to come back at return
 *
 * Context: the task's; may sleep.
 * Return: is the return wanted?
 */
bool krp_uprobe_entered(struct krp_uprobe *uprobe, struct pt_regs *regs, u64 *cookie)
{
	struct krp_uretprobe *up = container_of(uprobe, struct krp_uretprobe, uprobe);
	struct krp_uret_slot *slot = NULL;
	struct krp_uret_task *t;
	struct krp_uret_call *call;

	this_cpu_inc(up->pcpu->calls);
	if (unlikely(!READ_ONCE(up->live))) {
		this_cpu_inc(up->pcpu->missed[KRP_MISS_REMOVED]);
		return false;
	}
	if (!up->handler) {
		krp_uret_entry_only(up, regs);
		return false;
	}
	t = krp_uret_task_get();
	if (unlikely(!t)) {
		this_cpu_inc(up->pcpu->missed[KRP_MISS_EMPTY]);
		return false;
	}
	krp_uret_prune(t, up, instruction_pointer(regs), user_stack_pointer(regs));
	if (!krp_uprobe_too_deep())
		slot = krp_uret_slot_push(t);
	if (unlikely(!slot)) {
		this_cpu_inc(up->pcpu->missed[KRP_MISS_RECURSION]);
		return false;
	}
	slot->up = up;
	slot->func = instruction_pointer(regs);
	slot->frame = user_stack_pointer(regs);
	call = krp_uret_take(t, slot, regs);
	if (!call) {
		/* Where all returns are told its note must stay. */
		if (krp_uprobe_sessions)
			krp_uret_slot_pop(t, slot);
		return false;
	}
	krp_uret_call_begin(slot, call, current);
	krp_uret_task_leased(t);
	*cookie = krp_uret_slot_cookie(slot);
	return true;
}

/**
 * krp_uprobe_returned() - a probed function has returned
 * @uprobe: in a krp_uretprobe
 * @regs: the user's registers
 * @cookie: what krp_uprobe_entered() has set, where krp_uprobe_sessions is true
 *
 * The call may have been made before the probe was there: it has no note then.
 *
 * Context: the task's; may sleep.
 */
void krp_uprobe_returned(struct krp_uprobe *uprobe, struct pt_regs *regs, u64 cookie)
{
	struct krp_uretprobe *up = container_of(uprobe, struct krp_uretprobe, uprobe);
	struct krp_uret_task *t = krp_uret_task_find();
	struct krp_uret_slot *slot = t ? krp_uret_slot_returned(t, up, regs, cookie) : NULL;
	enum krp_lease_state was;

	if (!slot)
		return;
	krp_uret_give_up_above(t, slot);
	if (slot->call) {
		was = krp_lease_consume(&slot->lease);
		if (was != KRP_LEASE_GONE) {
			krp_uret_run(t, up->handler, slot->call, regs);
			this_cpu_inc(up->pcpu->hits);
			krp_uret_call_put(up, slot->call);
			krp_lease_finalize(&slot->lease, was);
		}
	}
	krp_uret_slot_pop(t, slot);
}
