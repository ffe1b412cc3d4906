/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: what the compiler is told, and single accesses. */
#ifndef KRP_SIM_COMPILER_H
#define KRP_SIM_COMPILER_H

#include <krp_access.h>
#include <sys/cdefs.h>

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* __always_inline is glibc's. */
#define __percpu
#define noinline	__attribute((__noinline__))

static inline void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

#define READ_ONCE(x)			krp_load(&(x))
#define WRITE_ONCE(x, val)		krp_store(&(x), val)
/* acquire: what comes after it stays after it */
#define smp_load_acquire(p)		krp_load_acquire(p)
/* release: what comes before it stays before it */
#define smp_store_release(p, val)	krp_store_release(p, val)

#endif
