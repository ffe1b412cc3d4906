/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: powers of two. */
#ifndef KRP_SIM_LOG2_H
#define KRP_SIM_LOG2_H

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n <= 1 ? 1 : 1UL << (64 - __builtin_clzl(n - 1));
}

#endif
