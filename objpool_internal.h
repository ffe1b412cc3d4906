/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the objpool*.c files and nobody else. */
#ifndef KRP_OBJPOOL_INTERNAL_H
#define KRP_OBJPOOL_INTERNAL_H

#include <linux/kernel.h>
#include <linux/topology.h>

#include "objpool.h"

/* Who to steal from: all possible CPUs, a row per node, nearest node first. */
extern u16 *krp_steal_order;
extern unsigned int krp_nr_cpus;

/* A CPU that was never there may have no node: it counts as the first's. */
static inline int krp_cpu_node(unsigned int cpu)
{
	return max(cpu_to_node(cpu), 0);
}

/* What a lap's cells carry in bit 0; the first lap's differs from no object. */
static __always_inline unsigned long krp_lap(s64 pos, u32 mask)
{
	return !(pos & ((s64)mask + 1));
}

static __always_inline void *krp_chunk_object(struct krp_objpool *pool,
					      struct krp_objpool_chunk *chunk, u32 index)
{
	return chunk->base + (size_t)index * pool->stride + sizeof(struct krp_objpool_header);
}

#endif /* KRP_OBJPOOL_INTERNAL_H */
