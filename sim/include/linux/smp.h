/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: which CPU this is. */
#ifndef KRP_SIM_SMP_H
#define KRP_SIM_SMP_H

#include <krp_access.h>
#include <linux/cpumask.h>

#define smp_processor_id()	(krp_cpu)
#define raw_smp_processor_id()	(krp_cpu)

#endif
