// SPDX-License-Identifier: GPL-2.0-only
/* 6.14: a fprobe's handlers get what ftrace saves. */
#include <linux/fprobe.h>

#ifndef CONFIG_FPROBE
#error not configured
#endif

static void on_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		    struct ftrace_regs *fregs, void *data)
{
}

struct fprobe krp_probe = { .exit_handler = on_exit };
