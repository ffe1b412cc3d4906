// SPDX-License-Identifier: GPL-2.0-only
/* 6.6: a static call that modules may use, before a member of apic. */
#include <linux/cpumask.h>
#include <asm/apic.h>

void krp_probe(void)
{
	__apic_send_IPI_mask(cpumask_of(0), NMI_VECTOR);
}
