/* SPDX-License-Identifier: GPL-2.0-only */
/* What the return hooking needs to know of x86-64. */
#ifndef KRP_X86_ARCH_H
#define KRP_X86_ARCH_H

#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <asm/orc_types.h>
#include <asm/ptrace.h>

#include "krp_thunk.h"
#include "rethook_pool.h"

extern char krp_thunks[], krp_thunk_returns[], krp_thunks_end[];

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

/*
 * User space: has the call at whose entry the stack pointer was @frame returned
 * just now? 32-bit functions that return a struct also take its address away.
 */
static inline bool krp_arch_user_returned(struct pt_regs *regs, unsigned long frame)
{
	if (user_64bit_mode(regs))
		return regs->sp == frame + 8;
	return regs->sp == frame + 4 || regs->sp == frame + 8;
}

/* The number of the thunk that has the address, or has pushed the address, @addr. */
static __always_inline unsigned long krp_arch_thunk_nr(unsigned long addr)
{
	return (addr - (unsigned long)krp_thunks) / KRP_THUNK_SIZE;
}

/* In krp_return(): where the thunk's call has pushed its return address. */
static __always_inline unsigned long *krp_arch_slot(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1);
}

/* In krp_return(): of @owners, by number, that of the thunk that was returned into. */
static __always_inline struct krp_instance *krp_arch_owner(struct pt_regs *regs,
							   struct krp_instance **owners)
{
	unsigned long offset = *krp_arch_slot(regs) - (unsigned long)krp_thunk_returns;

	/* Or the compiler puts both addresses together, which takes longer. */
	OPTIMIZER_HIDE_VAR(offset);
	/* No need to divide by what is multiplied by again. */
	BUILD_BUG_ON(sizeof(*owners) != KRP_THUNK_SIZE);
	return *(struct krp_instance **)((char *)owners + offset);
}

static __always_inline void krp_arch_set_ret(struct pt_regs *regs, unsigned long ret_addr)
{
	*krp_arch_slot(regs) = ret_addr;
	regs->ip = ret_addr;
}

/* The same for KRP_RETHOOK_LIGHT, of whose registers this is none. */
static __always_inline void krp_arch_set_ret_light(struct pt_regs *regs, unsigned long ret_addr)
{
	*krp_arch_slot(regs) = ret_addr;
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

/* What was saved as the word @word: the stack holds return addresses as they are. */
static inline unsigned long krp_arch_unsigned(unsigned long word)
{
	return word;
}

/* Can the call at @frame have its return address at @word? */
static inline bool krp_arch_frame_has(unsigned long frame, unsigned long *word)
{
	return frame == (unsigned long)word;
}

/*
 * Where ftrace patches the function at whose entry the kernel puts a kprobe at
 * @addr: right there. Both come behind the landing pad for indirect calls, if
 * there is one, sealed or not.
 */
static inline unsigned long krp_arch_ftrace_ip(unsigned long addr)
{
	return addr;
}

/* Up to how far behind a function's address that is. */
#define KRP_ARCH_FTRACE_MAX	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0)

/*
 * This CPU's @pcp, exchanged atomically as far as interrupts and NMIs can tell.
 * Preemption is off.
 */
#define krp_arch_cpu_xchg(pcp, new)		this_cpu_xchg(pcp, new)

#ifdef CONFIG_SMP
#define KRP_ARCH_PERCPU	"%%gs:"
#else
#define KRP_ARCH_PERCPU	""
#endif

/* Puts @new into this CPU's *@slot if that is NULL: as above. Was it? */
static __always_inline bool krp_arch_cpu_fill(void * __percpu *slot, void *new)
{
	void *old = NULL;
	bool done;

	/* this_cpu_cmpxchg() would compare a second time. */
	asm volatile("cmpxchgq %[new], " KRP_ARCH_PERCPU "%[slot]"
		     : "=@cce" (done), "+a" (old), [slot] "+m" (*(void **)(unsigned long)slot)
		     : [new] "r" (new)
		     : "memory");
	return done;
}

/* Is this CPU's *@flag set? Of the hit path, like those below: no register, no copy. */
static __always_inline bool krp_arch_cpu_flag(const bool __percpu *flag)
{
	bool set;

	asm volatile("cmpb $0, " KRP_ARCH_PERCPU "%[flag]"
		     : "=@ccne" (set)
		     : [flag] "m" (*(const bool *)(unsigned long)flag));
	return set;
}

/* Is one of the bits @mask, a constant, of this CPU's *@word set? */
static __always_inline bool krp_arch_cpu_bits(const int __percpu *word, int mask)
{
	bool set;

	asm volatile("testl %[mask], " KRP_ARCH_PERCPU "%[word]"
		     : "=@ccne" (set)
		     : [mask] "i" (mask), [word] "m" (*(const int *)(unsigned long)word));
	return set;
}

/* READ_ONCE(*@byte) == @value, a constant */
static __always_inline bool krp_arch_byte_is(const u8 *byte, u8 value)
{
	bool equal;

	asm volatile("cmpb %[value], %[byte]"
		     : "=@cce" (equal)
		     : [value] "i" (value), [byte] "m" (*byte));
	return equal;
}

/* May a probe at a function's start lie @offset bytes behind its symbol? */
static inline bool krp_arch_on_entry(unsigned long offset)
{
	return !offset || (IS_ENABLED(CONFIG_X86_KERNEL_IBT) && offset == 4);
}

/* Calls @fn, which may lack the ENDBR that indirect calls want to see. */
unsigned long krp_arch_call(unsigned long fn, unsigned long a, unsigned long b,
			    unsigned long c, unsigned long d);

/* orc.c: stack traces through thunks */

#ifdef CONFIG_UNWINDER_ORC

#define KRP_ORC_CACHE_BITS	12
#define KRP_ORC_CACHE		(1 << KRP_ORC_CACHE_BITS)

DECLARE_STATIC_KEY_FALSE(krp_trace_key);

/*
 * Return addresses and their ORC entries: the lower halves of both addresses,
 * whose upper halves are all ones, in one word that is read and written whole.
 */
extern u64 krp_orc_cache[KRP_ORC_CACHE];

static __always_inline unsigned int krp_orc_hash(unsigned long ret_addr)
{
	return ((u32)ret_addr * GOLDEN_RATIO_32) >> (32 - KRP_ORC_CACHE_BITS);
}

/*
 * Makes the thunk of @inst look to unwinders like the call that returns to
 * @ret_addr; false if that takes krp_arch_trace_find().
 */
static __always_inline bool krp_arch_trace(struct krp_instance *inst, unsigned long ret_addr)
{
	u64 cached;

	if (likely(READ_ONCE(inst->trace_ret) == ret_addr) ||
	    !static_branch_unlikely(&krp_trace_key))
		return true;
	cached = READ_ONCE(krp_orc_cache[krp_orc_hash(ret_addr)]);
	if (unlikely(cached >> 32 != (u32)ret_addr))
		return false;
	*(struct orc_entry *)inst->trace_entry = *(const struct orc_entry *)(s64)(s32)cached;
	WRITE_ONCE(inst->trace_ret, ret_addr);
	return true;
}

void krp_arch_trace_find(struct krp_instance *inst, unsigned long ret_addr,
			 unsigned long *slot);
void krp_arch_trace_init_instance(struct krp_instance *inst);
void krp_arch_trace_init(void);
void krp_arch_trace_exit(void);
bool krp_arch_trace_whole(void);

#else

#include "../trace_by_frames.h"

#endif /* CONFIG_UNWINDER_ORC */

/* Functions that the kernel's own kretprobe refuses here. */
#define KRP_ARCH_REFUSED	"__switch_to", "__switch_to_asm"

/* How the kernel names the functions behind system calls. */
#define KRP_ARCH_SYSCALL	"__x64_sys_"

/* Their argument is the registers of the caller: sets the first in these. */
static inline void krp_arch_set_syscall_arg(struct pt_regs *regs, unsigned long value)
{
	regs->di = value;
}

#endif /* KRP_X86_ARCH_H */
