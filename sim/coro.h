/* SPDX-License-Identifier: GPL-2.0-only */
/* Coroutines, as little as there can be of them. */
#ifndef KRP_CORO_H
#define KRP_CORO_H

/* Leaves to @sp, which another switch saved, and saves where this one was. */
void coro_switch(void **save_sp, void *sp);

/* What to switch to so that @fn starts on a stack that ends at @top; it never returns. */
void *coro_new(void *top, void (*fn)(void));

#endif
