/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in ftrace callbacks. */
#ifndef KRP_COMPAT_FTRACE_H
#define KRP_COMPAT_FTRACE_H

#include <linux/ftrace.h>

/*
 * 5.11 (d19ad0775dcd) made the fourth argument a struct ftrace_regs. On x86 it
 * wraps a struct pt_regs whose argument registers, stack pointer and address
 * are valid even if the ops did not ask for all registers.
 */
static __always_inline struct pt_regs *krp_ftrace_pt_regs(struct ftrace_regs *fregs)
{
	return &fregs->regs;
}

#endif /* KRP_COMPAT_FTRACE_H */
