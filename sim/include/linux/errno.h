/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in; glibc's own errno.h also comes through here. */
#ifndef KRP_SIM_ERRNO_H
#define KRP_SIM_ERRNO_H

#include_next <linux/errno.h>

#endif
