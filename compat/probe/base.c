// SPDX-License-Identifier: GPL-2.0-only
/* Not a feature: a file that every kernel's headers must be able to compile. */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
