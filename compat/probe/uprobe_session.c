// SPDX-License-Identifier: GPL-2.0-only
/* 6.13: a uprobe's handler leaves a word for its return handler. */
#include <linux/uprobes.h>

static int on_entry(struct uprobe_consumer *self, struct pt_regs *regs, __u64 *data)
{
	return UPROBE_HANDLER_IGNORE;
}

static int on_return(struct uprobe_consumer *self, unsigned long func, struct pt_regs *regs,
		     __u64 *data)
{
	return 0;
}

struct uprobe_consumer krp_probe = { .handler = on_entry, .ret_handler = on_return };
