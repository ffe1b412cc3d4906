// SPDX-License-Identifier: GPL-2.0-only
/* The machine that objpool.c sees in user space: CPUs, nodes, memory. */

#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <stdlib.h>
#include <string.h>

/* What kmalloc() gives at most; vmalloc() is bounded by the size's type. */
#define SIM_KMALLOC_MAX	(4UL << 20)

unsigned int sim_nr_cpu_ids, sim_nr_possible, sim_nr_nodes;
bool sim_cpu_possible[SIM_MAX_CPUS];
int sim_cpu_node[SIM_MAX_CPUS];
int sim_node_distance[SIM_MAX_NODES][SIM_MAX_NODES];
unsigned long sim_live_allocs, sim_live_bytes;

static unsigned long sim_fail_in;

void sim_set_cpus(unsigned int cpus, unsigned int nodes)
{
	unsigned int cpu, from, to;

	if (!cpus || cpus > SIM_MAX_CPUS || !nodes || nodes > SIM_MAX_NODES)
		abort();
	sim_nr_cpu_ids = cpus;
	sim_nr_possible = cpus;
	sim_nr_nodes = nodes;
	for (cpu = 0; cpu < cpus; cpu++) {
		sim_cpu_possible[cpu] = true;
		sim_cpu_node[cpu] = cpu * nodes / cpus;
	}
	for (from = 0; from < nodes; from++)
		for (to = 0; to < nodes; to++)
			sim_node_distance[from][to] = from == to ? 10 : 20;
	sim_set_cpu(0);
}

void sim_set_impossible(unsigned int cpu)
{
	sim_nr_possible -= sim_cpu_possible[cpu];
	sim_cpu_possible[cpu] = false;
}

void sim_set_cpu(unsigned int cpu)
{
	krp_cpu = cpu;
	krp_cpu_offset = (unsigned long)cpu * SIM_PERCPU_STRIDE;
}

void sim_fail_alloc(unsigned long nth)
{
	__atomic_store_n(&sim_fail_in, nth, __ATOMIC_RELAXED);
}

static void *sim_default_alloc(size_t size, size_t align)
{
	void *mem = aligned_alloc(align, (size + align - 1) / align * align);

	return mem ? memset(mem, 0, size) : NULL;
}

void *(*sim_alloc_hook)(size_t size, size_t align) = sim_default_alloc;
void (*sim_free_hook)(void *mem) = free;

/* The size stands in front, a whole alignment unit wide. */
static void *sim_alloc(size_t size, size_t align)
{
	char *mem;

	if (sim_fail_in && !__atomic_sub_fetch(&sim_fail_in, 1, __ATOMIC_RELAXED))
		return NULL;
	mem = sim_alloc_hook(align + size, align);
	if (!mem)
		return NULL;
	*(size_t *)mem = size;
	*(size_t *)(mem + align - sizeof(size_t)) = align;
	__atomic_add_fetch(&sim_live_allocs, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&sim_live_bytes, size, __ATOMIC_RELAXED);
	return mem + align;
}

static void sim_free(const void *mem)
{
	size_t align;
	char *start;

	if (!mem)
		return;
	align = ((const size_t *)mem)[-1];
	start = (char *)mem - align;
	__atomic_sub_fetch(&sim_live_allocs, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&sim_live_bytes, *(size_t *)start, __ATOMIC_RELAXED);
	sim_free_hook(start);
}

void *kzalloc_node(size_t size, gfp_t gfp, int node)
{
	(void)gfp;
	(void)node;
	return size <= SIM_KMALLOC_MAX ? sim_alloc(size, SMP_CACHE_BYTES) : NULL;
}

void *kvzalloc_node(size_t size, gfp_t gfp, int node)
{
	(void)gfp;
	(void)node;
	return size <= INT_MAX ? sim_alloc(size, SMP_CACHE_BYTES) : NULL;
}

void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return kvzalloc_node(bytes, gfp, 0);
}

void kvfree(const void *mem)
{
	sim_free(mem);
}

void *sim_alloc_percpu(gfp_t gfp)
{
	(void)gfp;
	return sim_alloc((size_t)nr_cpu_ids * SIM_PERCPU_STRIDE, SIM_PERCPU_STRIDE);
}

void free_percpu(void *mem)
{
	sim_free(mem);
}
