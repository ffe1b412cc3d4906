/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: atomic_t and its relatives, as far as the pool goes. */
#ifndef KRP_SIM_ATOMIC_H
#define KRP_SIM_ATOMIC_H

#include <linux/compiler.h>
#include <linux/types.h>

struct sim_atomic {
	int counter;
};

struct sim_atomic64 {
	s64 counter;
};

struct sim_atomic_long {
	long counter;
};

#define atomic_t	struct sim_atomic
#define atomic64_t	struct sim_atomic64
#define atomic_long_t	struct sim_atomic_long

#define atomic_read(v)			krp_load(&(v)->counter)
#define atomic_set(v, i)		krp_store(&(v)->counter, i)
#define atomic_set_release(v, i)	krp_store_release(&(v)->counter, i)
#define atomic_inc(v)			((void)krp_fetch_add_relaxed(&(v)->counter, 1))
#define atomic_dec(v)			((void)krp_fetch_add_relaxed(&(v)->counter, -1))
#define atomic_dec_and_test(v)		(krp_fetch_add(&(v)->counter, -1) == 1)
#define atomic_inc_return(v)		(krp_fetch_add(&(v)->counter, 1) + 1)
#define atomic_fetch_inc(v)		krp_fetch_add(&(v)->counter, 1)
#define atomic_fetch_add(i, v)		krp_fetch_add(&(v)->counter, i)
#define atomic_fetch_add_release(i, v)	krp_fetch_add(&(v)->counter, i)
#define atomic_try_cmpxchg_acquire(v, old, new) \
	krp_try_cmpxchg_acquire(&(v)->counter, old, new)

#define atomic64_read(v)		krp_load(&(v)->counter)
#define atomic64_set(v, i)		krp_store(&(v)->counter, i)
#define atomic64_try_cmpxchg(v, old, new) \
	krp_try_cmpxchg(&(v)->counter, old, new)
#define atomic64_try_cmpxchg_relaxed(v, old, new) \
	krp_try_cmpxchg_relaxed(&(v)->counter, old, new)
#define atomic64_try_cmpxchg_acquire(v, old, new) \
	krp_try_cmpxchg_acquire(&(v)->counter, old, new)
#define atomic64_try_cmpxchg_release(v, old, new) \
	krp_try_cmpxchg_release(&(v)->counter, old, new)

#define atomic_long_read(v)		krp_load(&(v)->counter)
#define atomic_long_set(v, i)		krp_store(&(v)->counter, i)
#define atomic_long_add(i, v)		((void)krp_fetch_add(&(v)->counter, i))
#define atomic_long_dec_and_test(v)	(krp_fetch_add(&(v)->counter, -1) == 1)
#define atomic_long_sub_and_test(i, v) \
	({ typeof(i) __sub = (i); krp_fetch_add(&(v)->counter, -__sub) == __sub; })

#define atomic_long_read_acquire(v)	krp_load_acquire(&(v)->counter)
#define atomic_long_set_release(v, i)	krp_store_release(&(v)->counter, i)
#define atomic_long_xchg(v, i)		krp_xchg(&(v)->counter, i)
#define atomic_long_try_cmpxchg(v, old, new) \
	krp_try_cmpxchg(&(v)->counter, old, new)

static inline bool sim_inc_not_zero(long *p)
{
	long was = krp_load(p);

	while (was && !krp_try_cmpxchg(p, &was, was + 1))
		;
	return was;
}

#define atomic_long_inc_not_zero(v)	sim_inc_not_zero(&(v)->counter)

#define xchg(p, new)			krp_xchg(p, new)
#define try_cmpxchg_acquire(p, old, new) krp_try_cmpxchg_acquire(p, old, new)
#define try_cmpxchg_release(p, old, new) krp_try_cmpxchg_release(p, old, new)

#endif
