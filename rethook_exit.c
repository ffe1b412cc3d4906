// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that never return: do_exit() itself and everything below which a task
 * ends. Their instances come back when the task exits, found on the task's own
 * stack; that costs the calls that do return nothing.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/sched/task_stack.h>
#include <linux/tracepoint.h>

#include "rethook_internal.h"

static struct tracepoint *krp_exit_tracepoint;

/*
 * A word on the stack that is a thunk's address may be left over from a call
 * that has returned. It is a call in flight if the thunk's instance says so:
 * this task, this place.
 */
static void krp_process_exit(void *data, struct task_struct *task)
{
	unsigned long *word = (unsigned long *)current_stack_pointer;
	unsigned long *end = (unsigned long *)task_pt_regs(current);
	struct krp_instance *inst;
	unsigned long frame;

	preempt_disable_notrace();
	for (; word < end; word++) {
		/* The stack of the functions below this one is in use: any value. */
		unsigned long value = krp_arch_unsigned(READ_ONCE_NOCHECK(*word));

		/* Hooked more than once, the real address of one is another's thunk. */
		while (unlikely(krp_arch_is_thunk(value))) {
			inst = READ_ONCE(krp_thunk_owner[krp_arch_thunk_nr(value)]);
			if (!inst)
				break;
			/* It may be anybody's: in use, and changing. */
			frame = READ_ONCE(inst->frame);
			if (frame <= KRP_FRAME_RETIRED || !krp_arch_frame_has(frame, word) ||
			    READ_ONCE(inst->task) != current)
				break;
			value = inst->ret_addr;
			krp_instance_exited(inst);
		}
	}
	preempt_enable_notrace();
}

static void krp_exit_match(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		krp_exit_tracepoint = tp;
}

/**
 * krp_exit_init() - watch tasks exit
 *
 * Context: process.
 * Return: 0, -ENOENT if the kernel has no such tracepoint, or -ENOMEM.
 */
int krp_exit_init(void)
{
	int ret;

	for_each_kernel_tracepoint(krp_exit_match, NULL);
	ret = krp_exit_tracepoint ?
	      tracepoint_probe_register(krp_exit_tracepoint, krp_process_exit, NULL) : -ENOENT;
	if (ret)
		pr_err("cannot watch tasks exit (%d): this needs a kernel with CONFIG_TRACEPOINTS\n",
		       ret);
	return ret;
}

/**
 * krp_exit_exit() - undo krp_exit_init()
 *
 * Context: process.
 */
void krp_exit_exit(void)
{
	tracepoint_probe_unregister(krp_exit_tracepoint, krp_process_exit, NULL);
	tracepoint_synchronize_unregister();
}
