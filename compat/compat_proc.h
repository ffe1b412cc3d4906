/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in /proc files. */
#ifndef KRP_COMPAT_PROC_H
#define KRP_COMPAT_PROC_H

#include <linux/proc_fs.h>

#include "krp_features.h"

/* 5.17: pde_data(), before PDE_DATA(). */
#ifndef KRP_HAVE_PDE_DATA
#define pde_data	PDE_DATA
#endif

#endif /* KRP_COMPAT_PROC_H */
