// SPDX-License-Identifier: GPL-2.0-only
/* A model of the kernel's old freelist, see the header. */

#include "shared_lifo.h"

/* In refs: belongs on the list; the rest counts who looks at the node. */
#define ON_LIST		0x80000000u
#define COUNT		0x7fffffff

/* For a node that nobody else can reach yet. */
static void link_node(struct lifo *list, struct lifo_node *node)
{
	struct lifo_node *head = READ_ONCE(list->head);

	for (;;) {
		WRITE_ONCE(node->next, head);
		atomic_set_release(&node->refs, 1);
		if (try_cmpxchg_release(&list->head, &head, node))
			return;
		/* Others may look at it by now; the last of them links it then. */
		if (atomic_fetch_add_release(ON_LIST - 1, &node->refs) != 1)
			return;
	}
}

void lifo_push(struct lifo *list, struct lifo_node *node)
{
	if (!atomic_fetch_add_release(ON_LIST, &node->refs))
		link_node(list, node);
}

struct lifo_node *lifo_pop(struct lifo *list)
{
	struct lifo_node *head, *next, *seen;
	int refs;

	/* Pairs with the release in link_node(). */
	head = smp_load_acquire(&list->head);
	while (head) {
		seen = head;
		refs = atomic_read(&head->refs);
		if (!(refs & COUNT) || !atomic_try_cmpxchg_acquire(&head->refs, &refs, refs + 1)) {
			/* As above. */
			head = smp_load_acquire(&list->head);
			continue;
		}
		next = READ_ONCE(head->next);
		if (try_cmpxchg_acquire(&list->head, &head, next)) {
			/* The kernel checks here that the node is not to be on the list. */
			(void)atomic_read(&head->refs);
			atomic_fetch_add(-2, &head->refs);
			return head;
		}
		if (atomic_fetch_add(-1, &seen->refs) == (int)(ON_LIST + 1))
			link_node(list, seen);
	}
	return NULL;
}
