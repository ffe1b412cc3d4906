/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: cache line size. */
#ifndef KRP_SIM_CACHE_H
#define KRP_SIM_CACHE_H

#define SMP_CACHE_BYTES		64
#define L1_CACHE_BYTES		SMP_CACHE_BYTES
#define ____cacheline_aligned	__attribute((__aligned__(SMP_CACHE_BYTES)))

#endif
