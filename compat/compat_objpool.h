/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in objpool, for those who come from it. */
#ifndef KRP_COMPAT_OBJPOOL_H
#define KRP_COMPAT_OBJPOOL_H

/*
 * 6.7: the kernel has objpool, and declares it together with kprobes. Asked
 * for by name and not as a feature: modules of others are compiled with this.
 */
#if __has_include("linux/objpool.h")
#include <linux/objpool.h>
#endif

#endif /* KRP_COMPAT_OBJPOOL_H */
