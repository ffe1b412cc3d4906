/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in objpool, for those who come from it. */
#ifndef KRP_COMPAT_OBJPOOL_H
#define KRP_COMPAT_OBJPOOL_H

#include <linux/kprobes.h>
#include <linux/version.h>

/*
 * 6.7: the kernel has objpool, and declares it together with kprobes where
 * these use it. By version, as modules of others are compiled with this, and
 * sparse does not know __has_include.
 */
#if defined(LINUX_VERSION_MAJOR) && (LINUX_VERSION_MAJOR > 6 || \
	(LINUX_VERSION_MAJOR == 6 && LINUX_VERSION_PATCHLEVEL >= 7))
#include <linux/objpool.h>
#endif

#endif /* KRP_COMPAT_OBJPOOL_H */
