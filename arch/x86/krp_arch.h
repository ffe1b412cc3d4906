/* SPDX-License-Identifier: GPL-2.0-only */
/* What the return hooking needs to know of x86-64. */
#ifndef KRP_X86_ARCH_H
#define KRP_X86_ARCH_H

#include <asm/ptrace.h>

#include "krp_thunk.h"

extern char krp_thunks[], krp_thunks_end[];

/* Where, at a function's first instruction, its return address stands. */
static __always_inline unsigned long *krp_arch_ret(struct pt_regs *regs)
{
	return (unsigned long *)regs->sp;
}

/* What tells this call from others of the same task. */
static __always_inline unsigned long krp_arch_frame(struct pt_regs *regs, unsigned long *ret)
{
	return (unsigned long)ret;
}

/* In krp_return(): where the thunk's call has pushed its return address. */
static __always_inline unsigned long *krp_arch_slot(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1);
}

static __always_inline void krp_arch_set_ret(struct pt_regs *regs, unsigned long ret_addr)
{
	*krp_arch_slot(regs) = ret_addr;
	regs->ip = ret_addr;
}

/* The number of the thunk that has the address, or has pushed the address, @addr. */
static __always_inline unsigned long krp_arch_thunk_nr(unsigned long addr)
{
	return (addr - (unsigned long)krp_thunks) / KRP_THUNK_SIZE;
}

static __always_inline unsigned long krp_arch_thunk_addr(unsigned long nr)
{
	return (unsigned long)krp_thunks + nr * KRP_THUNK_SIZE;
}

/* Is @word, found on a stack, a thunk's address? */
static inline bool krp_arch_is_thunk(unsigned long word)
{
	return word >= (unsigned long)krp_thunks && word < (unsigned long)krp_thunks_end &&
	       !((word - (unsigned long)krp_thunks) % KRP_THUNK_SIZE);
}

/* The frame of a call whose return address was found at @word. */
static inline unsigned long krp_arch_stack_frame(unsigned long *word)
{
	return (unsigned long)word;
}

#ifdef CONFIG_X86_KERNEL_IBT
#define KRP_ENDBR64	0xfa1e0ff3
#endif

/* Where ftrace patches the function that begins at @addr. */
static inline unsigned long krp_arch_ftrace_ip(unsigned long addr)
{
#ifdef CONFIG_X86_KERNEL_IBT
	if (*(u32 *)addr == KRP_ENDBR64)
		return addr + 4;
#endif
	return addr;
}

/* May a probe at a function's start lie @offset bytes behind its symbol? */
static inline bool krp_arch_on_entry(unsigned long offset)
{
	return !offset || (IS_ENABLED(CONFIG_X86_KERNEL_IBT) && offset == 4);
}

/* Functions that the kernel's own kretprobe refuses here. */
#define KRP_ARCH_REFUSED	"__switch_to", "__switch_to_asm"

#endif /* KRP_X86_ARCH_H */
