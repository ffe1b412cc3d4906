/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the freelist that kretprobes took their instances from before
 * Linux 6.7: one lock-free stack for all CPUs, each node with a reference
 * count so that nobody's `next` changes under a reader. The same shared
 * accesses in the same order.
 */
#ifndef KRP_SHARED_LIFO_H
#define KRP_SHARED_LIFO_H

#include <linux/atomic.h>

struct lifo_node {
	atomic_t refs;
	struct lifo_node *next;
};

struct lifo {
	struct lifo_node *head;
};

void lifo_push(struct lifo *list, struct lifo_node *node);
struct lifo_node *lifo_pop(struct lifo *list);

#endif
