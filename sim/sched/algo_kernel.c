// SPDX-License-Identifier: GPL-2.0-only
/* The model of the kernel's objpool under the scheduler. */

#include <linux/smp.h>
#include <stdio.h>

#include "../algos/kernel_objpool.h"
#include "ops.h"

static struct kernel_objpool *pool;

static int init(unsigned int nr_objs)
{
	pool = arena_alloc(sizeof(*pool), 64);
	return kernel_objpool_init(pool, nr_objs, 16, num_possible_cpus(), ops_new_object, NULL);
}

static void *pop(void)
{
	return kernel_objpool_pop(pool, smp_processor_id());
}

static int push(void *obj)
{
	kernel_objpool_push(pool, obj, smp_processor_id());
	return 0;
}

static void describe(const void *p, char *buf, size_t size)
{
	unsigned int cpu;

	for (cpu = 0; cpu < pool->cpus; cpu++) {
		const struct kernel_objpool_slot *slot = pool->slots[cpu];
		size_t at = (const char *)p - (const char *)slot;

		if (at == offsetof(struct kernel_objpool_slot, head))
			snprintf(buf, size, "cpu%u.head", cpu);
		else if (at == offsetof(struct kernel_objpool_slot, tail))
			snprintf(buf, size, "cpu%u.tail", cpu);
		else if (at == offsetof(struct kernel_objpool_slot, last))
			snprintf(buf, size, "cpu%u.last", cpu);
		else if (at >= sizeof(*slot) && at < sizeof(*slot) + (slot->mask + 1) * 8)
			snprintf(buf, size, "cpu%u.entries[%zu]", cpu, (at - sizeof(*slot)) / 8);
		else
			continue;
		return;
	}
	snprintf(buf, size, "%p", p);
}

const struct algo algo_kernel = {
	.name = "kernel-objpool",
	.init = init,
	.pop = pop,
	.push = push,
	.describe = describe,
};
