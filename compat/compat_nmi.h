/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels and architectures in sending NMIs, for tests. */
#ifndef KRP_COMPAT_NMI_H
#define KRP_COMPAT_NMI_H

#include <linux/cpumask.h>
#include <linux/errno.h>

#include "krp_features.h"

#if defined(CONFIG_X86_64) && defined(CONFIG_X86_LOCAL_APIC)

#include <asm/apic.h>
#include <asm/nmi.h>

#define KRP_NMI_NOT_MINE	NMI_DONE
#define KRP_NMI_MINE		NMI_HANDLED
#define KRP_NMI_NAME		"kretpool"

#define krp_nmi_register(fn)	register_nmi_handler(NMI_LOCAL, fn, 0, KRP_NMI_NAME)
#define krp_nmi_unregister()	unregister_nmi_handler(NMI_LOCAL, KRP_NMI_NAME)

/* 6.6: a static call for modules, and apic is not for them any more. */
static inline void krp_nmi_send(unsigned int cpu)
{
#ifdef KRP_HAVE_APIC_SEND_IPI_MASK
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
#else
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
#endif
}

#else

/* arm64's pseudo-NMIs are not for modules to send. */
#define KRP_NMI_NOT_MINE	0
#define KRP_NMI_MINE		1

struct pt_regs;

static inline int krp_nmi_register(int (*fn)(unsigned int type, struct pt_regs *regs))
{
	return -EOPNOTSUPP;
}

static inline void krp_nmi_unregister(void) { }
static inline void krp_nmi_send(unsigned int cpu) { }

#endif

#endif /* KRP_COMPAT_NMI_H */
