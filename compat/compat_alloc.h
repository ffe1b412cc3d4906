/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in allocating memory with preemption off. */
#ifndef KRP_COMPAT_ALLOC_H
#define KRP_COMPAT_ALLOC_H

#include <linux/kconfig.h>
#include <linux/types.h>

/* Realtime kernels do not allocate at all there. */
#define krp_can_alloc_atomic	(!IS_ENABLED(CONFIG_PREEMPT_RT))

#endif /* KRP_COMPAT_ALLOC_H */
