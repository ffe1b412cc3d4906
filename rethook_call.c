// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hooked call's way: entry, return, or the end of its task. All of this runs
 * in the context of the call, whatever that is, with preemption off.
 */

#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "rethook_internal.h"
#include "compat_rcu.h"

DEFINE_PER_CPU(bool, krp_busy);

static void krp_count_miss(struct krp_rethook *rh, enum krp_miss cause)
{
	this_cpu_inc(rh->pcpu->missed[cause]);
	if (rh->missed)
		rh->missed(rh->owner, cause);
}

/* With krp_busy set, whatever interrupts the handler sees that it must not hook. */
static __always_inline void krp_handler_begin(void)
{
	__this_cpu_write(krp_busy, true);
	/* Against the compiler only: interrupts of this CPU are all that looks. */
	barrier();
}

static __always_inline void krp_handler_end(void)
{
	barrier();
	__this_cpu_write(krp_busy, false);
}

static int krp_run_entry_handler(struct krp_rethook *rh, struct krp_instance *inst,
				 struct pt_regs *regs)
{
	int ret;

	krp_handler_begin();
	ret = rh->entry(inst, regs);
	krp_handler_end();
	return ret;
}

/* An entry handler alone: no instance, nothing at return. */
static void krp_enter_only(struct krp_link *link, struct pt_regs *regs, unsigned long *ret)
{
	struct krp_rethook *rh = link->rh;
	struct krp_instance *inst = this_cpu_ptr(rh->scratch);
	int skip;

	/* Before it is filled in: what interrupts would fill in the same one. */
	krp_handler_begin();
	inst->rh = rh;
	inst->link = link;
	inst->owner = rh->owner;
	inst->ret_addr = *ret;
	inst->task = current;
	skip = rh->entry(inst, regs);
	krp_handler_end();
	if (skip)
		this_cpu_inc(rh->pcpu->skipped);
	else
		this_cpu_inc(rh->pcpu->hits);
}

static __always_inline void krp_instance_start(struct krp_instance *inst,
					       struct task_struct *task,
					       unsigned long frame, unsigned long *ret)
{
	/* Those who list calls in flight look at any time. */
	WRITE_ONCE(inst->task, task);
	WRITE_ONCE(inst->since, jiffies);
	WRITE_ONCE(inst->frame, frame);
	/* An NMI that unwinds this stack must find what it is to find there. */
	barrier();
	WRITE_ONCE(*ret, inst->thunk);
}

/* Some clocks are read by functions that may be hooked: as a handler does it. */
static void krp_instance_time(struct krp_instance *inst)
{
	krp_handler_begin();
	*(u64 *)inst->data = ktime_get_mono_fast_ns();
	krp_handler_end();
}

/* The same for calls that are timed, or have a caller that is not known yet. */
static noinline void krp_instance_start_slow(struct krp_instance *inst, struct task_struct *task,
					     unsigned long frame, unsigned long *ret)
{
	if (!krp_arch_trace(inst, *ret))
		krp_arch_trace_find(inst, *ret, ret);
	if (inst->link->timed)
		krp_instance_time(inst);
	krp_instance_start(inst, task, frame, ret);
}

/* As krp_objpool_pop(); having to look further than the stash may be a sign. */
static struct krp_instance *krp_instance_get(struct krp_rethook *rh)
{
	struct krp_instance *inst = this_cpu_xchg(rh->pool.slots->stash, NULL);

	if (likely(inst))
		return inst;
	inst = krp_objpool_pop_slow(&rh->pool);
	if (rh->grows && krp_objpool_low(&rh->pool))
		krp_grow_request(rh);
	return inst;
}

static void krp_enter(struct krp_link *link, struct pt_regs *regs, unsigned long *ret)
{
	struct krp_rethook *rh = link->rh;
	struct krp_instance *inst;

	if (rh->scratch) {
		krp_enter_only(link, regs, ret);
		return;
	}
	inst = krp_instance_get(rh);
	if (unlikely(!inst)) {
		krp_count_miss(rh, KRP_MISS_EMPTY);
		return;
	}
	inst->link = link;
	inst->ret_addr = *ret;
	WRITE_ONCE(inst->task, current);
	if (rh->entry && krp_run_entry_handler(rh, inst, regs)) {
		this_cpu_inc(rh->pcpu->skipped);
		__krp_objpool_push(inst, &rh->pool);
		return;
	}
	krp_instance_start_slow(inst, current, krp_arch_frame(regs, ret), ret);
}

/* Everything that can be asked of an entry; preemption is off. */
static __always_inline void krp_func_entry(struct krp_func *func, enum krp_way way,
					   struct pt_regs *regs, unsigned long *ret)
{
	struct krp_link *link;

	/* Without RCU, func is all that is safe to touch. */
	if (unlikely(!krp_rcu_is_watching())) {
		atomic_long_inc(&func->unwatched[way]);
		return;
	}
	/* Pairs with the release in krp_link_add(), through the dependency. */
	link = READ_ONCE(func->links[way]);
	if (unlikely(krp_arch_cpu_flag(&krp_busy))) {
		for (; link; link = READ_ONCE(link->next))
			krp_count_miss(link->rh, KRP_MISS_RECURSION);
		return;
	}
	for (; link; link = READ_ONCE(link->next))
		krp_enter(link, regs, ret);
}

/* What krp_ftrace_entry() leaves to others; handlers want a struct pt_regs. */
static noinline void __kprobes krp_ftrace_entry_slow(struct krp_func *func,
						     struct ftrace_regs *fregs,
						     enum krp_way way)
{
	struct krp_ftrace_buf buf;
	struct pt_regs *regs = krp_ftrace_get_regs(fregs, &buf);

	krp_func_entry(func, way, regs, krp_arch_ret(regs));
	krp_ftrace_put_regs(fregs, regs);
	preempt_enable_notrace();
}

/*
 * One rethook, be it of this function or of many, with a return handler only,
 * and an object in the stash: this is what most calls find, and why it is
 * spelled out here, without a call.
 */
static __always_inline void krp_ftrace_entry(unsigned long ip, struct ftrace_regs *fregs,
					     enum krp_way way)
{
	unsigned long *ret = krp_ftrace_ret(fregs);
	struct task_struct *task = current;
	struct krp_instance *inst;
	struct krp_link *link;
	struct krp_func *func;

	preempt_disable_notrace();
	func = krp_func_find(ip);
	/* Pairs with the release in krp_func_choose(), through the dependency. */
	link = READ_ONCE(func->only[way]);
	if (likely(link && krp_rcu_surely_watching(task) && !krp_arch_cpu_flag(&krp_busy))) {
		inst = krp_arch_cpu_xchg(link->slots->stash, NULL);
		if (likely(inst)) {
			inst->link = link;
			inst->ret_addr = *ret;
			if (likely(krp_arch_trace(inst, *ret)))
				krp_instance_start(inst, task, krp_ftrace_frame(fregs, ret), ret);
			else
				krp_instance_start_slow(inst, task, krp_ftrace_frame(fregs, ret),
							ret);
			preempt_enable_notrace();
			return;
		}
	}
	/* Nobody, yet: thousands of functions are hooked before the last one is. */
	if (READ_ONCE(func->links[way]))
		krp_ftrace_entry_slow(func, fregs, way);
	else
		preempt_enable_notrace();
}

/**
 * krp_ftrace_entry_args() - a function that ftrace hooks is being entered
 * @ip: its address, as ftrace reports it
 * @parent_ip: not used: what stands in the slot counts
 * @ops: the ops that ask for arguments only
 * @fregs: the registers that these ops save
 *
 * Context: any, NMI included, RCU watching or not.
 */
void __kprobes krp_ftrace_entry_args(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	krp_ftrace_entry(ip, fregs, KRP_BY_FTRACE_ARGS);
}

/**
 * krp_ftrace_entry_regs() - a function that ftrace hooks is being entered
 * @ip: its address, as ftrace reports it
 * @parent_ip: not used: what stands in the slot counts
 * @ops: the ops that ask for all registers
 * @fregs: the registers that these ops save
 *
 * Context: any, NMI included, RCU watching or not.
 */
void __kprobes krp_ftrace_entry_regs(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	krp_ftrace_entry(ip, fregs, KRP_BY_FTRACE_REGS);
}

/**
 * krp_kprobe_entry() - a function that a kprobe hooks is being entered
 * @kp: of a struct krp_kprobe
 * @regs: all registers
 *
 * Context: preemption off; any, NMI included.
 * Return: 0, go on.
 */
int __kprobes krp_kprobe_entry(struct kprobe *kp, struct pt_regs *regs)
{
	krp_func_entry(container_of(kp, struct krp_kprobe, kp)->func, KRP_BY_KPROBE, regs,
		       krp_arch_ret(regs));
	return 0;
}

/* The rethook is going: so does its instance. */
static noinline void krp_instance_retire(struct krp_instance *inst)
{
	struct krp_objpool *pool = &inst->rh->pool;

	/* Not 0: whoever looks for free instances must leave it alone. */
	WRITE_ONCE(inst->frame, KRP_FRAME_RETIRED);
	krp_thunk_free(inst);
	krp_objpool_drop(inst, pool);
}

static __always_inline void krp_instance_put(struct krp_instance *inst)
{
	/* Read again: to keep it across a handler would take one more register. */
	struct krp_rethook *rh = inst->rh;

	/* Before others can have it. */
	WRITE_ONCE(inst->frame, 0);
	if (unlikely(!krp_arch_cpu_fill(&rh->pool.slots->stash, inst)))
		krp_objpool_push_slow(inst, &rh->pool);
}

/* Of @kind are most that get here. */
static __always_inline void krp_returned(struct krp_instance *inst, struct pt_regs *regs,
					 enum krp_live kind)
{
	struct krp_rethook *rh = inst->rh;

	if (unlikely(!krp_arch_byte_is(&rh->live, kind))) {
		kind = kind == KRP_LIVE_EXIT ? KRP_LIVE_HANDLER : KRP_LIVE_EXIT;
		if (unlikely(!krp_arch_byte_is(&rh->live, kind))) {
			this_cpu_inc(rh->pcpu->missed[KRP_MISS_REMOVED]);
			krp_instance_retire(inst);
			return;
		}
	}
	if (unlikely(krp_arch_cpu_flag(&krp_busy))) {
		krp_count_miss(rh, KRP_MISS_RECURSION);
	} else {
		krp_handler_begin();
		if (kind == KRP_LIVE_EXIT)
			rh->exit(rh->owner, inst->link->addr, inst, regs);
		else
			rh->handler(inst, regs);
		/* What interrupts does not count hits while a handler runs: no atomic. */
		__this_cpu_inc(inst->rh->pcpu->hits);
		krp_handler_end();
	}
	krp_instance_put(inst);
}

/**
 * krp_return() - a hooked function has returned
 * @regs: the registers, to be changed by the handler
 *
 * Called from krp_common, on the stack of the function's caller.
 *
 * Context: any, NMI included.
 */
asmlinkage __visible void __kprobes krp_return(struct pt_regs *regs);
asmlinkage __visible void __kprobes krp_return(struct pt_regs *regs)
{
	struct krp_instance *inst = krp_arch_owner(regs, krp_thunk_owner);

	preempt_disable_notrace();
	/* First, so that the handler's stack traces are right. */
	krp_arch_set_ret(regs, inst->ret_addr);
	krp_returned(inst, regs, KRP_LIVE_HANDLER);
	preempt_enable_notrace();
}

#if KRP_NR_LIGHT
/**
 * krp_return_light() - the same for KRP_RETHOOK_LIGHT
 * @a: what the registers hold that the handler's other arguments go to
 * @b: the same
 * @c: the same
 * @regs: of the registers those that hold what the function returns
 *
 * Called from krp_common_light, on the stack of the function's caller.
 *
 * Context: any, NMI included.
 */
asmlinkage __visible void __kprobes krp_return_light(long a, long b, long c, struct pt_regs *regs);
asmlinkage __visible void __kprobes krp_return_light(long a, long b, long c, struct pt_regs *regs)
{
	struct krp_instance *inst = krp_arch_owner(regs, krp_thunk_owner);

	preempt_disable_notrace();
	krp_arch_set_ret_light(regs, inst->ret_addr);
	krp_returned(inst, regs, KRP_LIVE_EXIT);
	preempt_enable_notrace();
}
#endif

/**
 * krp_instance_exited() - take back the instance of a call that will not return
 * @inst: an instance in flight whose task is exiting, and is the caller
 *
 * Context: preemption off.
 */
void krp_instance_exited(struct krp_instance *inst)
{
	struct krp_rethook *rh = inst->rh;

	this_cpu_inc(rh->pcpu->missed[KRP_MISS_EXITED]);
	if (READ_ONCE(rh->live))
		krp_instance_put(inst);
	else
		krp_instance_retire(inst);
}

