/* SPDX-License-Identifier: GPL-2.0-only */
/* What the return hooking needs to know of arm64. */
#ifndef KRP_ARM64_ARCH_H
#define KRP_ARM64_ARCH_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/percpu.h>
#include <asm/insn.h>
#include <asm/memory.h>
#include <asm/ptrace.h>

/* Bytes from one thunk to the next: one instruction. */
#define KRP_THUNK_SIZE	AARCH64_INSN_SIZE

/* No thunks that save only what a function returns. */
#define KRP_NR_LIGHT	0U

struct krp_instance;

extern char krp_thunks[], krp_thunks_end[];

/*
 * Where, at a function's first instruction, its return address stands. ftrace
 * and kprobes run before the function signs it, if it does: what is put here
 * is signed, and authenticated, like any other.
 */
static __always_inline unsigned long *krp_arch_ret(struct pt_regs *regs)
{
	return (unsigned long *)&regs->regs[30];
}

/* What tells this call from others of the same task. */
static __always_inline unsigned long krp_arch_frame(struct pt_regs *regs, unsigned long *ret)
{
	return regs->sp;
}

static __always_inline void krp_arch_set_ret(struct pt_regs *regs, unsigned long ret_addr)
{
	regs->regs[30] = ret_addr;
	regs->pc = ret_addr;
	/* The frame record that krp_common has begun. */
	((unsigned long *)&regs->stackframe)[1] = ret_addr;
}

/* User space: has the call at whose entry the stack pointer was @frame returned just now? */
static inline bool krp_arch_user_returned(struct pt_regs *regs, unsigned long frame)
{
	return user_stack_pointer(regs) == frame;
}

/* The number of the thunk at @addr. */
static __always_inline unsigned long krp_arch_thunk_nr(unsigned long addr)
{
	return (addr - (unsigned long)krp_thunks) / KRP_THUNK_SIZE;
}

static __always_inline unsigned long krp_arch_thunk_addr(unsigned long nr)
{
	return (unsigned long)krp_thunks + nr * KRP_THUNK_SIZE;
}

/* In krp_return(): of @owners, by number, that of the thunk that was returned into. */
static __always_inline struct krp_instance *krp_arch_owner(struct pt_regs *regs,
							   struct krp_instance **owners)
{
	/* Its bl has left the address of the next one. */
	return owners[krp_arch_thunk_nr(regs->regs[30]) - 1];
}

/* What was saved as the word @word: return addresses carry a signature on the stack. */
static inline unsigned long krp_arch_unsigned(unsigned long word)
{
	/* It sits where all of the kernel's addresses have ones. */
	return word | ~GENMASK(VA_BITS_MIN - 1, 0);
}

/* Is @word a thunk's address? */
static inline bool krp_arch_is_thunk(unsigned long word)
{
	return word >= (unsigned long)krp_thunks && word < (unsigned long)krp_thunks_end &&
	       !((word - (unsigned long)krp_thunks) % KRP_THUNK_SIZE);
}

/* Can the call at @frame have saved its return address at @word? */
static inline bool krp_arch_frame_has(unsigned long frame, unsigned long *word)
{
	/* Somewhere below, in its frame record: how far is the compiler's choice. */
	return frame > (unsigned long)word;
}

/*
 * Where ftrace patches the function at whose entry the kernel puts a kprobe at
 * @addr. Of the two instructions there the second becomes the call; a landing
 * pad for indirect calls may come first.
 */
static inline unsigned long krp_arch_ftrace_ip(unsigned long addr)
{
	u32 insn = le32_to_cpu(*(__le32 *)addr);
	bool pad = insn == (aarch64_insn_get_hint_value() | AARCH64_INSN_HINT_BTIC);

	return addr + (pad ? 2 : 1) * AARCH64_INSN_SIZE;
}

/* Up to how far behind a function's address that is. */
#define KRP_ARCH_FTRACE_MAX	(2 * AARCH64_INSN_SIZE)

/* Calls @fn: every function that can be called from elsewhere has a landing pad. */
static inline unsigned long krp_arch_call(unsigned long fn, unsigned long a, unsigned long b,
					  unsigned long c, unsigned long d)
{
	return ((unsigned long (*)(unsigned long, unsigned long, unsigned long,
				   unsigned long))fn)(a, b, c, d);
}

/*
 * This CPU's @pcp, exchanged atomically as far as interrupts and NMIs can tell.
 * Preemption is off, which this_cpu_xchg() would see to once more.
 */
#define krp_arch_cpu_xchg(pcp, new)		xchg_relaxed(raw_cpu_ptr(&(pcp)), new)

/* Puts @new into this CPU's *@slot if that is NULL: as above. Was it? */
static __always_inline bool krp_arch_cpu_fill(void * __percpu *slot, void *new)
{
	return !cmpxchg_relaxed(raw_cpu_ptr(slot), NULL, new);
}

/* Is this CPU's *@flag set? */
static __always_inline bool krp_arch_cpu_flag(const bool __percpu *flag)
{
	return READ_ONCE(*raw_cpu_ptr(flag));
}

/* Is one of the bits @mask of this CPU's *@word set? */
static __always_inline bool krp_arch_cpu_bits(const int __percpu *word, int mask)
{
	return READ_ONCE(*raw_cpu_ptr(word)) & mask;
}

static __always_inline bool krp_arch_byte_is(const u8 *byte, u8 value)
{
	unsigned int word;

	/* READ_ONCE(): the compiler would extend once more what ldrb has extended. */
	asm volatile("ldrb %w0, %1" : "=r" (word) : "Q" (*byte));
	return word == value;
}

/* May a probe at a function's start lie @offset bytes behind its symbol? */
static inline bool krp_arch_on_entry(unsigned long offset)
{
	return !offset;
}

#include "../trace_by_frames.h"

/* Returns in another task: for one that has exited, never. */
#define KRP_ARCH_REFUSED	"__switch_to"

/* How the kernel names the functions behind system calls. */
#define KRP_ARCH_SYSCALL	"__arm64_sys_"

/* Their argument is the registers of the caller: sets the first in these. */
static inline void krp_arch_set_syscall_arg(struct pt_regs *regs, unsigned long value)
{
	regs->regs[0] = value;
}

#endif /* KRP_ARM64_ARCH_H */
