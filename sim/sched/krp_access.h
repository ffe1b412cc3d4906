/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared accesses in the simulator: before each one, whoever runs the
 * simulated CPUs gets to choose which of them goes on. All happen in one real
 * thread, and only between those calls, so the accesses themselves are plain.
 * native/krp_access.h is the same with real CPUs.
 */
#ifndef KRP_ACCESS_H
#define KRP_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum sim_kind {
	SIM_LOAD,	/* read */
	SIM_STORE,	/* write */
	SIM_RMW,	/* locked read and write */
	SIM_LOCAL,	/* unlocked read and write by per-CPU instruction */
	SIM_PREEMPT,	/* no access: last chance to be moved to another CPU */
};

/* The simulated CPU that runs now. */
extern unsigned int krp_cpu;
extern unsigned long krp_cpu_offset;

/*
 * Two halves, as a per-CPU access knows its address only once it is certain on
 * which CPU it happens. Both are supplied by the program (sched/, model/).
 */
void sim_point(enum sim_kind kind);
void sim_touch(const void *p, size_t size, enum sim_kind kind);

void krp_preempt_disable(void);
void krp_preempt_enable(void);

#define krp_access(p, kind)	(sim_point(kind), sim_touch(p, sizeof(*(p)), kind))

#define krp_load(p) ({ \
	typeof(p) __p = (p); \
	krp_access(__p, SIM_LOAD); \
	*__p; \
})
#define krp_store(p, val) ({ \
	typeof(p) __p = (p); \
	typeof(*(p)) __val = (val); \
	krp_access(__p, SIM_STORE); \
	*__p = __val; \
	(void)0; \
})
#define krp_load_acquire(p)		krp_load(p)
#define krp_store_release(p, val)	krp_store(p, val)

/* Reads, lets @expr say what to write, and gives back what was read. */
#define __krp_rmw(p, expr) ({ \
	typeof(p) __p = (p); \
	typeof(*(p)) __was; \
	krp_access(__p, SIM_RMW); \
	__was = *__p; \
	*__p = (expr); \
	__was; \
})
#define krp_xchg(p, new)		({ typeof(*(p)) __new = (new); __krp_rmw(p, __new); })
#define krp_fetch_add(p, i)		({ typeof(*(p)) __i = (i); __krp_rmw(p, __was + __i); })
#define krp_fetch_add_relaxed(p, i)	krp_fetch_add(p, i)
#define krp_fetch_or(p, bits)		({ typeof(*(p)) __b = (bits); __krp_rmw(p, __was | __b); })
#define krp_fetch_and(p, bits)		({ typeof(*(p)) __b = (bits); __krp_rmw(p, __was & __b); })

#define krp_try_cmpxchg(p, old, new) ({ \
	typeof(p) __p = (p); \
	typeof(*(p)) *__old = (old), __want = *__old, __new = (new); \
	krp_access(__p, SIM_RMW); \
	*__old = *__p; \
	if (*__old == __want) \
		*__p = __new; \
	*__old == __want; \
})
#define krp_try_cmpxchg_relaxed(p, old, new) krp_try_cmpxchg(p, old, new)
#define krp_try_cmpxchg_acquire(p, old, new) krp_try_cmpxchg(p, old, new)
#define krp_try_cmpxchg_release(p, old, new) krp_try_cmpxchg(p, old, new)

#define krp_local(p)		((typeof(p))((unsigned long)(p) + krp_cpu_offset))

#define __krp_local_point(p) ({ \
	typeof(p) __lp; \
	sim_point(SIM_LOCAL); \
	__lp = krp_local(p); \
	sim_touch(__lp, sizeof(*(p)), SIM_LOCAL); \
	__lp; \
})
#define krp_local_xchg(p, new) ({ \
	typeof(*(p)) __new = (new), __was; \
	typeof(*(p)) *__p = __krp_local_point(p); \
	__was = *__p; \
	*__p = __new; \
	__was; \
})
#define krp_local_cmpxchg(p, old, new) ({ \
	typeof(*(p)) __old = (old), __new = (new), __was; \
	typeof(*(p)) *__p = __krp_local_point(p); \
	__was = *__p; \
	if (__was == __old) \
		*__p = __new; \
	__was; \
})

/* Counts in a counter that only statistics read. */
void sim_count(unsigned long *p);
#define krp_local_inc(p)	sim_count(krp_local(p))

#endif
