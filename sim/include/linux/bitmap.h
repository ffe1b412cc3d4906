/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: runs of bits, not atomic. */
#ifndef KRP_SIM_BITMAP_H
#define KRP_SIM_BITMAP_H

#include <linux/bitops.h>

static inline void bitmap_set(unsigned long *map, unsigned int start, unsigned int nbits)
{
	for (; nbits; nbits--, start++)
		map[BIT_WORD(start)] |= BIT_MASK(start);
}

#endif
