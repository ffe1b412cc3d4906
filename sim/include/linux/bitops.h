/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: bits in words. */
#ifndef KRP_SIM_BITOPS_H
#define KRP_SIM_BITOPS_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * What the pool's bitmaps use of a word. The scheduler takes few, so that a
 * handful of objects fills several words.
 */
#ifdef SIM_BITS_PER_LONG
#define BITS_PER_LONG	SIM_BITS_PER_LONG
#else
#define BITS_PER_LONG	64
#endif
#define BITS_TO_LONGS(nr)	(((nr) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define BIT_MASK(nr)	(1UL << ((nr) % BITS_PER_LONG))
#define BIT_WORD(nr)	((nr) / BITS_PER_LONG)

#define test_and_set_bit(nr, addr) \
	(!!(krp_fetch_or(&(addr)[BIT_WORD(nr)], BIT_MASK(nr)) & BIT_MASK(nr)))
#define test_and_clear_bit(nr, addr) \
	(!!(krp_fetch_and(&(addr)[BIT_WORD(nr)], ~BIT_MASK(nr)) & BIT_MASK(nr)))

static inline bool test_bit(unsigned long nr, const unsigned long *addr)
{
	return READ_ONCE(addr[BIT_WORD(nr)]) & BIT_MASK(nr);
}

static inline void set_bit(unsigned long nr, unsigned long *addr)
{
	(void)krp_fetch_or(&addr[BIT_WORD(nr)], BIT_MASK(nr));
}

static inline void clear_bit(unsigned long nr, unsigned long *addr)
{
	(void)krp_fetch_and(&addr[BIT_WORD(nr)], ~BIT_MASK(nr));
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

static inline unsigned int hweight_long(unsigned long word)
{
	return __builtin_popcountl(word);
}

#endif
