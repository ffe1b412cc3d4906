/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in timers. */
#ifndef KRP_COMPAT_TIMER_H
#define KRP_COMPAT_TIMER_H

#include <linux/timer.h>

#include "krp_features.h"

/* 6.2, and later releases of older ones: timer_delete(), before del_timer(). */
#ifndef KRP_HAVE_TIMER_DELETE
#define timer_delete		del_timer
#define timer_delete_sync	del_timer_sync
#endif

#endif /* KRP_COMPAT_TIMER_H */
