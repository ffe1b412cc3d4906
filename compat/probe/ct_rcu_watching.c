// SPDX-License-Identifier: GPL-2.0-only
/* 6.12: the same, by other names. */
#include <linux/context_tracking_state.h>

int krp_probe(void)
{
	return ct_rcu_watching() & CT_RCU_WATCHING & raw_cpu_read(context_tracking.state.counter);
}
