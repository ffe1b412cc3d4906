/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the kernel's own objpool as of Linux 6.7, to compare with: the
 * same shared accesses in the same order. Interrupts are switched off around
 * its operations there; NMIs are not, and neither are they here.
 */
#ifndef KRP_KERNEL_OBJPOOL_H
#define KRP_KERNEL_OBJPOOL_H

#include <linux/types.h>

struct kernel_objpool_slot {
	u32 head;
	u32 tail;
	u32 last;
	u32 mask;
	void *entries[];
};

struct kernel_objpool {
	unsigned int cpus;
	u32 nr_objs;
	struct kernel_objpool_slot **slots;
};

/* nr_objs objects of object_size bytes, spread over cpus rings. */
int kernel_objpool_init(struct kernel_objpool *pool, unsigned int nr_objs,
			unsigned int object_size, unsigned int cpus,
			int (*objinit)(void *obj, void *context), void *context);
void kernel_objpool_free(struct kernel_objpool *pool);
void *kernel_objpool_pop(struct kernel_objpool *pool, unsigned int cpu);
void kernel_objpool_push(struct kernel_objpool *pool, void *obj, unsigned int cpu);

#endif
