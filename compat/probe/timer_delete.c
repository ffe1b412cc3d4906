// SPDX-License-Identifier: GPL-2.0-only
/* 6.2, and later releases of older ones: timer_delete(), before del_timer(). */
#include <linux/timer.h>

int krp_probe(struct timer_list *timer)
{
	return timer_delete(timer) + timer_delete_sync(timer);
}
