/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Found by #include <linux/objpool.h> on kernels before 6.7, which have no such
 * file: the kernel's own folders are searched first.
 */
#ifndef KRP_COMPAT_LINUX_OBJPOOL_H
#define KRP_COMPAT_LINUX_OBJPOOL_H

#include "objpool_compat.h"

#endif /* KRP_COMPAT_LINUX_OBJPOOL_H */
