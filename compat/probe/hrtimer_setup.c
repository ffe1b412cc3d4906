// SPDX-License-Identifier: GPL-2.0-only
/* 6.13: hrtimer_setup(), before hrtimer_init() and a store. */
#include <linux/hrtimer.h>

void krp_probe(struct hrtimer *timer)
{
	hrtimer_setup(timer, NULL, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
