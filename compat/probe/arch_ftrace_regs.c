// SPDX-License-Identifier: GPL-2.0-only
/* 6.13: what struct ftrace_regs holds is behind this macro. */
#include <linux/ftrace.h>

void *krp_probe(struct ftrace_regs *fregs)
{
	return arch_ftrace_regs(fregs);
}
