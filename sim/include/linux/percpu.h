/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: per-CPU memory, a fixed stride apart. */
#ifndef KRP_SIM_PERCPU_H
#define KRP_SIM_PERCPU_H

#include <krp_access.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/preempt.h>
#include <linux/smp.h>

void *sim_alloc_percpu(gfp_t gfp);
void free_percpu(void *mem);

#define alloc_percpu_gfp(type, gfp) ({ \
	_Static_assert(sizeof(type) <= SIM_PERCPU_STRIDE, "does not fit the stride"); \
	(type *)sim_alloc_percpu(gfp); \
})

#define per_cpu_ptr(p, cpu) \
	((typeof(p))((unsigned long)(p) + (unsigned long)(cpu) * SIM_PERCPU_STRIDE))
#define raw_cpu_ptr(p)		((typeof(p))((unsigned long)(p) + krp_cpu_offset))
#define this_cpu_ptr(p)		raw_cpu_ptr(p)

/* One instruction each: whole against interrupts of the same CPU only. */
#define this_cpu_xchg(pcp, new)			krp_local_xchg(&(pcp), new)
#define this_cpu_cmpxchg(pcp, old, new)		krp_local_cmpxchg(&(pcp), old, new)
#define this_cpu_inc(pcp)			krp_local_inc(&(pcp))

#endif
