/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared accesses in user space, for real: each has the ordering that the
 * kernel's has, and the cost. sched/krp_access.h is the same for the simulator.
 */
#ifndef KRP_ACCESS_H
#define KRP_ACCESS_H

#include <stdbool.h>
#include <sys/cdefs.h>

/* Each thread is a CPU; sim_set_cpu() says which. */
extern __thread unsigned int krp_cpu;
extern __thread unsigned long krp_cpu_offset;

#define krp_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define krp_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define krp_store(p, val)		__atomic_store_n(p, val, __ATOMIC_RELAXED)
#define krp_store_release(p, val)	__atomic_store_n(p, val, __ATOMIC_RELEASE)

#define krp_xchg(p, new) ({ \
	typeof(*(p)) __new = (new); \
	__atomic_exchange_n(p, __new, __ATOMIC_SEQ_CST); \
})
#define krp_fetch_add(p, i)		__atomic_fetch_add(p, i, __ATOMIC_SEQ_CST)
#define krp_fetch_add_relaxed(p, i)	__atomic_fetch_add(p, i, __ATOMIC_RELAXED)
#define krp_fetch_or(p, bits)		__atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST)
#define krp_fetch_and(p, bits)		__atomic_fetch_and(p, bits, __ATOMIC_SEQ_CST)

#define __krp_try_cmpxchg(p, old, new, order) \
	__atomic_compare_exchange_n(p, old, new, false, order, __ATOMIC_RELAXED)
#define krp_try_cmpxchg(p, old, new)	__krp_try_cmpxchg(p, old, new, __ATOMIC_SEQ_CST)
#define krp_try_cmpxchg_relaxed(p, old, new) __krp_try_cmpxchg(p, old, new, __ATOMIC_RELAXED)
#define krp_try_cmpxchg_acquire(p, old, new) __krp_try_cmpxchg(p, old, new, __ATOMIC_ACQUIRE)
#define krp_try_cmpxchg_release(p, old, new) __krp_try_cmpxchg(p, old, new, __ATOMIC_RELEASE)

/* A thread is never moved to another CPU; signals stand for interrupts. */
static inline void krp_preempt_disable(void)
{
	__asm__ volatile("" : : : "memory");
}

static inline void krp_preempt_enable(void)
{
	__asm__ volatile("" : : : "memory");
}

#define krp_local(p)		((typeof(p))((unsigned long)(p) + krp_cpu_offset))

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
/*
 * Without the lock prefix: whole against signals on this thread, and nothing
 * more. The exchange is a loop, as the kernel's is, because xchg with memory
 * locks by itself.
 */
static __always_inline unsigned long
krp_local_cmpxchg_word(unsigned long *p, unsigned long old, unsigned long new)
{
	__asm__ volatile("cmpxchgq %2, %1"
			 : "+a" (old), "+m" (*p) : "r" (new) : "memory", "cc");
	return old;
}

static __always_inline unsigned long
krp_local_xchg_word(unsigned long *p, unsigned long new)
{
	unsigned long old = krp_load(p);

	__asm__ volatile("1: cmpxchgq %2, %1\n\tjnz 1b"
			 : "+a" (old), "+m" (*p) : "r" (new) : "memory", "cc");
	return old;
}

static __always_inline void krp_local_inc_word(unsigned long *p)
{
	__asm__ volatile("incq %0" : "+m" (*p) : : "cc");
}
#else
static inline unsigned long
krp_local_cmpxchg_word(unsigned long *p, unsigned long old, unsigned long new)
{
	__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return old;
}

static inline unsigned long krp_local_xchg_word(unsigned long *p, unsigned long new)
{
	return __atomic_exchange_n(p, new, __ATOMIC_RELAXED);
}

static inline void krp_local_inc_word(unsigned long *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
}
#endif

#define __krp_local_word(p) ({ \
	_Static_assert(sizeof(*(p)) == sizeof(long), "only words"); \
	(unsigned long *)krp_local(p); \
})
#define krp_local_cmpxchg(p, old, new) \
	((typeof(*(p)))krp_local_cmpxchg_word(__krp_local_word(p), (unsigned long)(old), \
					      (unsigned long)(new)))
#define krp_local_xchg(p, new) \
	((typeof(*(p)))krp_local_xchg_word(__krp_local_word(p), (unsigned long)(new)))
#define krp_local_inc(p)	krp_local_inc_word(__krp_local_word(p))

#endif
