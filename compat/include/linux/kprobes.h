/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What #include <linux/kprobes.h> finds if this folder is searched before the
 * kernel's (Documentation/migrating.md): the kernel's, with its names for
 * kretprobes meaning ours.
 */
#ifndef KRP_COMPAT_LINUX_KPROBES_H
#define KRP_COMPAT_LINUX_KPROBES_H

#include_next <linux/kprobes.h>

#include "kretprobe_compat.h"

#endif /* KRP_COMPAT_LINUX_KPROBES_H */
