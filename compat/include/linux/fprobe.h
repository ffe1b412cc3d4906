/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Found by #include <linux/fprobe.h> on kernels before 5.18, which have no such
 * file: the kernel's own folders are searched first.
 */
#ifndef KRP_COMPAT_LINUX_FPROBE_H
#define KRP_COMPAT_LINUX_FPROBE_H

#include "fprobe_compat.h"

#endif /* KRP_COMPAT_LINUX_FPROBE_H */
