// SPDX-License-Identifier: GPL-2.0-only
/* 6.0 to 6.11: a bit of the CPU's context says whether RCU watches it. */
#include <linux/context_tracking_state.h>

int krp_probe(void)
{
	return ct_dynticks() & RCU_DYNTICKS_IDX & raw_cpu_read(context_tracking.state.counter);
}
