// SPDX-License-Identifier: GPL-2.0-only
/* 6.6: a fprobe's exit handler knows where the call returns to. */
#include <linux/fprobe.h>

#ifndef CONFIG_FPROBE
#error not configured
#endif

static void on_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		    struct pt_regs *regs, void *data)
{
}

struct fprobe krp_probe = { .exit_handler = on_exit };
