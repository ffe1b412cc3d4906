// SPDX-License-Identifier: GPL-2.0-only
/* Stack traces in which hooked calls show their callers. */

#include <linux/export.h>
#include <linux/stacktrace.h>

#include "rethook_internal.h"

/**
 * krp_stack_trace_save() - save the current task's stack trace, thunks resolved
 * @store: where to
 * @size: entries that fit there
 * @skip: entries to leave out at the top
 *
 * As the kernel's stack_trace_save(), except that hooked calls return to where
 * they will in the end, not to a thunk.
 *
 * Context: any that stack_trace_save() may be called in.
 * Return: entries saved.
 */
unsigned int krp_stack_trace_save(unsigned long *store, unsigned int size, unsigned int skip)
{
	/* One more: this function. */
	unsigned int i, nr = stack_trace_save(store, size, skip + 1);

	preempt_disable_notrace();
	for (i = 0; i < nr; i++)
		store[i] = krp_resolve_thunk(store[i]);
	preempt_enable_notrace();
	return nr;
}
EXPORT_SYMBOL_GPL(krp_stack_trace_save);

/**
 * krp_stack_traces_whole() - do stack traces lead through hooked calls?
 *
 * Context: any.
 * Return: false if they stop there: it was not asked for (stacktrace=0), the
 * kernel does not make it possible, or a livepatch is loaded.
 */
bool krp_stack_traces_whole(void)
{
	return krp_arch_trace_whole();
}
EXPORT_SYMBOL_GPL(krp_stack_traces_whole);

/**
 * krp_is_thunk() - is this the return address of a hooked call?
 * @addr: an address from a stack trace
 *
 * Context: any.
 * Return: true if it is a thunk's, which hides the caller's.
 */
bool krp_is_thunk(unsigned long addr)
{
	return krp_arch_is_thunk(addr);
}
EXPORT_SYMBOL_GPL(krp_is_thunk);
