// SPDX-License-Identifier: GPL-2.0-only
/* A model of the kernel's own objpool, see the header. */

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "kernel_objpool.h"

int kernel_objpool_init(struct kernel_objpool *pool, unsigned int nr_objs,
			unsigned int object_size, unsigned int cpus,
			int (*objinit)(void *obj, void *context), void *context)
{
	/* Every ring has room for the whole pool. */
	u32 capacity = roundup_pow_of_two(nr_objs);
	unsigned int cpu, i;

	pool->cpus = cpus;
	pool->nr_objs = nr_objs;
	pool->slots = kvcalloc(cpus, sizeof(*pool->slots), GFP_KERNEL);
	if (!pool->slots)
		return -ENOMEM;
	for (cpu = 0; cpu < cpus; cpu++) {
		unsigned int share = nr_objs / cpus + (cpu < nr_objs % cpus);
		size_t rings = sizeof(struct kernel_objpool_slot) + capacity * sizeof(void *);
		struct kernel_objpool_slot *slot;
		char *obj;

		slot = kvzalloc_node(rings + (size_t)share * object_size, GFP_KERNEL, 0);
		if (!slot)
			return -ENOMEM;
		pool->slots[cpu] = slot;
		slot->mask = capacity - 1;
		obj = (char *)slot + rings;
		for (i = 0; i < share; i++, obj += object_size) {
			if (objinit && objinit(obj, context))
				return -EINVAL;
			slot->entries[slot->tail++] = obj;
		}
		slot->last = slot->tail;
	}
	return 0;
}

void kernel_objpool_free(struct kernel_objpool *pool)
{
	unsigned int cpu;

	for (cpu = 0; cpu < pool->cpus; cpu++)
		kvfree(pool->slots[cpu]);
	kvfree(pool->slots);
}

/* `tail` is reserved, the entry written, `last` says that it may be read. */
void kernel_objpool_push(struct kernel_objpool *pool, void *obj, unsigned int cpu)
{
	struct kernel_objpool_slot *slot = pool->slots[cpu];
	u32 tail = READ_ONCE(slot->tail);

	/* The kernel's loop also reads head here, for a warning. */
	do {
		(void)READ_ONCE(slot->head);
	} while (!try_cmpxchg_acquire(&slot->tail, &tail, tail + 1));
	WRITE_ONCE(slot->entries[tail & slot->mask], obj);
	/* Pairs with the reads of last in take(). */
	smp_store_release(&slot->last, tail + 1);
}

static void *take(struct kernel_objpool *pool, struct kernel_objpool_slot *slot)
{
	void *obj;
	/* Pairs with the release of the cmpxchg below. */
	u32 head = smp_load_acquire(&slot->head);

	while (head != READ_ONCE(slot->last)) {
		/* A stale `last` behind head. */
		if (READ_ONCE(slot->last) - head - 1 >= pool->nr_objs) {
			head = READ_ONCE(slot->head);
			continue;
		}
		obj = READ_ONCE(slot->entries[head & slot->mask]);
		if (try_cmpxchg_release(&slot->head, &head, head + 1))
			return obj;
	}
	return NULL;
}

void *kernel_objpool_pop(struct kernel_objpool *pool, unsigned int cpu)
{
	unsigned int i;
	void *obj;

	for (i = 0; i < pool->cpus; i++) {
		obj = take(pool, pool->slots[cpu]);
		if (obj)
			return obj;
		cpu = cpu + 1 == pool->cpus ? 0 : cpu + 1;
	}
	return NULL;
}
