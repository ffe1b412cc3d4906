/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: staying on a CPU. */
#ifndef KRP_SIM_PREEMPT_H
#define KRP_SIM_PREEMPT_H

#include <krp_access.h>

#define preempt_disable_notrace()	krp_preempt_disable()
#define preempt_enable_notrace()	krp_preempt_enable()

#endif
