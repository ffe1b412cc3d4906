/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: kvzalloc() and friends are declared here in some kernels. */
#ifndef KRP_SIM_MM_H
#define KRP_SIM_MM_H

#include <linux/slab.h>

#endif
