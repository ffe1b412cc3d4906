/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What #include <linux/fprobe.h> finds on kernels before 5.18, which have no such
 * file, and on all if this folder is searched before the kernel's
 * (Documentation/migrating.md): the kernel's, with its names meaning ours.
 */
#ifndef KRP_COMPAT_LINUX_FPROBE_H
#define KRP_COMPAT_LINUX_FPROBE_H

#include <linux/version.h>

/* Not __has_include_next: an error if no folder is searched after this one. */
#if defined(LINUX_VERSION_MAJOR) && (LINUX_VERSION_MAJOR > 5 || LINUX_VERSION_PATCHLEVEL >= 18)
#include_next <linux/fprobe.h>
#endif

#include "fprobe_compat.h"

#endif /* KRP_COMPAT_LINUX_FPROBE_H */
