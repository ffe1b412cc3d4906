/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels in fprobe, for those who come from it.
 *
 * KRP_FPROBE_API says for which kernels a module was written; unless it is given,
 * for the one that it is compiled for:
 *   1  up to 6.2: the entry handler returns nothing
 *   2  6.5 to 6.13: it returns whether to skip the call, and handlers get the
 *      return address
 *   3  from 6.14 on: they get a struct ftrace_regs instead of all registers
 * By version, as modules of others are compiled with this, without a look at
 * what the kernel offers.
 */
#ifndef KRP_COMPAT_FPROBE_USER_H
#define KRP_COMPAT_FPROBE_USER_H

#include <linux/types.h>
#include <linux/version.h>

/* 5.18: the kernel has fprobe. */
#if __has_include("linux/fprobe.h")
#include <linux/fprobe.h>
#endif

#ifndef KRP_FPROBE_API
/* 5.13: version.h says these, too. */
#if !defined(LINUX_VERSION_MAJOR) || LINUX_VERSION_MAJOR < 6 || \
	(LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL < 3)
#define KRP_FPROBE_API	1
#elif LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL < 14
#define KRP_FPROBE_API	2
#else
#define KRP_FPROBE_API	3
#endif
#endif

#if KRP_FPROBE_API == 1
#define krp_fprobe_ret_t	void
#define KRP_FPROBE_RET_IP
#else
#define krp_fprobe_ret_t	int
#define KRP_FPROBE_RET_IP	unsigned long ret_ip,
#endif

#if KRP_FPROBE_API < 3
#define krp_fprobe_user_regs	pt_regs
#elif defined(CONFIG_HAVE_FTRACE_REGS_HAVING_PT_REGS)
/* Which is all registers, under another name. */
#define krp_fprobe_user_regs	ftrace_regs
#else
#error "kretpool's handlers get a struct pt_regs here: use krp_multi.h itself"
#endif

#endif /* KRP_COMPAT_FPROBE_USER_H */
