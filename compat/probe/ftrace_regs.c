// SPDX-License-Identifier: GPL-2.0-only
/* 5.11: callbacks get a struct ftrace_regs, before a pt_regs. */
#include <linux/ftrace.h>

static void callback(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

struct ftrace_ops krp_probe = { .func = callback };
