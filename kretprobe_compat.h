/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For modules written for the kernel's kretprobes: with this included first
 * they compile against kretpool as they are.
 *
 * The kernel's header comes first, so that its declarations keep their names;
 * from here on the names mean ours. What differs is in
 * Documentation/migrating.md.
 */
#ifndef KRP_KRETPROBE_COMPAT_H
#define KRP_KRETPROBE_COMPAT_H

#include <linux/kprobes.h>
#include <linux/stacktrace.h>

/* Before there was get_kretprobe_retaddr() handlers read ri->ret_addr, this. */
#define KRP_RET_ADDR_TYPE	kprobe_opcode_t *

#include "kretprobe_shim.h"

#undef KRETPROBE_MAX_DATA_SIZE
#define KRETPROBE_MAX_DATA_SIZE	KRP_DATA_SIZE_MAX

#define kretprobe		krp_kretprobe
#define kretprobe_instance	krp_kretprobe_instance
#define kretprobe_handler_t	krp_kretprobe_handler_t

#define get_kretprobe		krp_get_kretprobe
#define get_kretprobe_retaddr	krp_get_kretprobe_retaddr

#define unregister_kretprobe	krp_unregister_kretprobe
#define unregister_kretprobes	krp_unregister_kretprobes
#define enable_kretprobe	krp_enable_kretprobe
#define disable_kretprobe	krp_disable_kretprobe

/* The kernel's resolves its own kretprobes in a trace, and this one ours. */
#define stack_trace_save	krp_stack_trace_save

/*
 * The kernel's entry handlers find all registers, ours the arguments, unless
 * this is defined: that costs some 26 instructions a hit, on arm64 far more.
 */
#ifdef KRP_COMPAT_FULL_REGS

static inline int krp_compat_register_kretprobe(struct krp_kretprobe *rp)
{
	if (rp)
		rp->krp_flags |= KRP_KRETPROBE_FULL_REGS;
	return krp_register_kretprobe(rp);
}

static inline int krp_compat_register_kretprobes(struct krp_kretprobe **rps, int num)
{
	int i;

	for (i = 0; i < num; i++)
		if (rps[i])
			rps[i]->krp_flags |= KRP_KRETPROBE_FULL_REGS;
	return krp_register_kretprobes(rps, num);
}

#define register_kretprobe	krp_compat_register_kretprobe
#define register_kretprobes	krp_compat_register_kretprobes

#else

#define register_kretprobe	krp_register_kretprobe
#define register_kretprobes	krp_register_kretprobes

#endif /* KRP_COMPAT_FULL_REGS */

#endif /* KRP_KRETPROBE_COMPAT_H */
