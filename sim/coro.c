// SPDX-License-Identifier: GPL-2.0-only
/* Coroutines, as little as there can be of them. */

#include <string.h>

#include "coro.h"

/*
 * Saves the registers that a call must keep on the stack, changes stacks, and
 * takes the other side's registers from there.
 */
#ifndef __x86_64__
#error "the coroutine switch is written for x86-64 only"
#endif
#define SAVED_REGS	6

__asm__(".text\n"
	".globl coro_switch\n"
	".type coro_switch, @function\n"
	"coro_switch:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size coro_switch, . - coro_switch\n");

void *coro_new(void *top, void (*fn)(void))
{
	void **sp = top;

	*--sp = NULL;			/* nobody to return to */
	*--sp = (void *)fn;
	sp -= SAVED_REGS;
	return memset(sp, 0, SAVED_REGS * sizeof(*sp));
}
