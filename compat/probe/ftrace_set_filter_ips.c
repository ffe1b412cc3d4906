// SPDX-License-Identifier: GPL-2.0-only
/* 5.19: many addresses at once. */
#include <linux/ftrace.h>

int krp_probe(struct ftrace_ops *ops, unsigned long *ips)
{
	return ftrace_set_filter_ips(ops, ips, 2, 0, 0);
}
