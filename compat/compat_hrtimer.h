/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in hrtimers. */
#ifndef KRP_COMPAT_HRTIMER_H
#define KRP_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

#include "krp_features.h"

/* 6.13: hrtimer_setup(), before hrtimer_init() and a store. */
#ifndef KRP_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* KRP_COMPAT_HRTIMER_H */
