/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: allocation; the functions are in sim/sim.c. */
#ifndef KRP_SIM_SLAB_H
#define KRP_SIM_SLAB_H

#include <linux/gfp.h>

/* Fails above what the kernel's would give. */
void *kzalloc_node(size_t size, gfp_t gfp, int node);
void *kvzalloc_node(size_t size, gfp_t gfp, int node);
void *kvcalloc(size_t n, size_t size, gfp_t gfp);
void kvfree(const void *mem);

#endif
