// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is called with the registers of a return that was taken over: both find
 * the instance, put the real return address back and count. Compiled without
 * vector registers, as the kernel is.
 */
#include "krp_thunk.h"
#include "regs.h"
#include "returns.h"

struct instance kernel_instance = { .thunk = kernel_trampoline };
struct instance thunk_instance = { .thunk = thunks + RETURNS_THUNK * KRP_THUNK_SIZE };

/*
 * In the kernel the head of the task's list. Not static: the compiler must not
 * know that it never changes.
 */
struct instance *kernel_newest = &kernel_instance;
struct instance *thunk_owner[RETURNS_THUNKS] = {
	[RETURNS_THUNK] = &thunk_instance,
};

unsigned long returns_hits;

static unsigned long *slot_of(struct regs *regs)
{
	return (unsigned long *)(regs + 1);
}

void kernel_handler(struct regs *regs)
{
	struct instance *inst = kernel_newest;

	regs->cs = __KERNEL_CS;
	regs->ip = (unsigned long)kernel_trampoline;
	regs->orig_ax = ~0UL;
	regs->sp += 2 * sizeof(long);
	returns_hits++;
	*slot_of(regs) = inst->ret_addr;
	/* The trampoline's popf takes them from there. */
	regs->ss = regs->flags;
}

void thunk_handler(struct regs *regs)
{
	unsigned long nr = (*slot_of(regs) - (unsigned long)thunks) / KRP_THUNK_SIZE;
	struct instance *inst = thunk_owner[nr];

	*slot_of(regs) = inst->ret_addr;
	regs->ip = inst->ret_addr;
	returns_hits++;
}
