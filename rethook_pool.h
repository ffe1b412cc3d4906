/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * krp_rethook: hooking function returns with pooled instances.
 *
 * Each instance of a rethook owns a thunk, a few bytes of code with an address
 * of their own. While a call is hooked its return address is the thunk's, so
 * the return itself says which instance it belongs to.
 */
#ifndef KRP_RETHOOK_POOL_H
#define KRP_RETHOOK_POOL_H

#include <linux/sched.h>
#include <linux/types.h>

#include "objpool.h"

struct pt_regs;
struct krp_link;
struct krp_rethook;

struct krp_kretprobe;

/* As the kernel's KRETPROBE_MAX_DATA_SIZE. */
#define KRP_DATA_SIZE_MAX	4096

/* kretprobe_compat.h: what the handlers of older kernels know. */
#ifndef KRP_RET_ADDR_TYPE
#define KRP_RET_ADDR_TYPE	unsigned long
#endif

/**
 * struct krp_instance - one hooked call
 * @rh: the rethook, for krp_rethook_owner()
 * @ret_addr: where the call returns to; another thunk's address if the call
 *            is hooked more than once, see krp_instance_ret_addr()
 * @frame: where the return address stood (x86), the stack pointer (arm64);
 *         0 while the instance is not in flight
 * @task: who made the call
 * @since: jiffies at entry
 * @thunk: the thunk's address
 * @trace_ret: private: the caller as which unwinders see the thunk
 * @trace_entry: private: where that is noted
 * @link: private: which of the rethook's functions was called
 * @owner: &krp_rethook_desc.owner; not to be followed once unregistration has
 *         returned, see krp_rethook_owner()
 * @rp: the same, as the handlers of kretprobes know it
 * @data: &krp_rethook_desc.data_size bytes for the handlers, kept from entry
 *        to return; holds what the instance's last user left at entry
 */
struct krp_instance {
	struct krp_rethook *rh;
	KRP_RET_ADDR_TYPE ret_addr;
	unsigned long frame;
	struct task_struct *task;
	unsigned long since;
	unsigned long thunk;
	unsigned long trace_ret;
	void *trace_entry;
	struct krp_link *link;
	union {
		void *owner;
		struct krp_kretprobe *rp;
	};
	char data[] __aligned(8);
};

/*
 * Handlers run with preemption off, possibly in NMI context. What they call is
 * not hooked: such calls are counted as missed, for recursion.
 */
typedef int (*krp_handler_t)(struct krp_instance *inst, struct pt_regs *regs);

/**
 * enum krp_miss - why a call was not hooked, or its handler not run
 * @KRP_MISS_EMPTY: no instance was free
 * @KRP_MISS_RECURSION: entered while a handler was running on this CPU
 * @KRP_MISS_UNWATCHED: RCU was not watching this CPU (idle, entry code)
 * @KRP_MISS_REMOVED: returned after the rethook had been unregistered
 * @KRP_MISS_EXITED: never returned, the task has exited
 * @KRP_NR_MISSES: how many causes there are
 */
enum krp_miss {
	KRP_MISS_EMPTY,
	KRP_MISS_RECURSION,
	KRP_MISS_UNWATCHED,
	KRP_MISS_REMOVED,
	KRP_MISS_EXITED,
	KRP_NR_MISSES,
};

/* The handlers need all registers at entry; at return they get them anyway. */
#define KRP_RETHOOK_FULL_REGS	BIT(0)
/* Register without hooking; krp_rethook_enable() does that later. */
#define KRP_RETHOOK_DISABLED	BIT(1)
/*
 * At return the handler needs nothing but what the function returns, which it may
 * change, and its instance: of its registers only those that regs_return_value()
 * reads are valid. Cheaper, where there is such a way; a kprobe has none.
 */
#define KRP_RETHOOK_LIGHT	BIT(2)
/*
 * &krp_instance.data begins with a u64, ktime_get_mono_fast_ns() at entry: far
 * cheaper than an entry handler that notes it.
 */
#define KRP_RETHOOK_TIMED	BIT(3)

/**
 * struct krp_rethook_desc - what to hook and how
 * @symbol: name of the function, may be "module:function"; or NULL
 * @addr: address of the function, if @symbol is NULL
 * @offset: must lead to the function's entry
 * @entry: called at entry; if it returns non-zero the call is not hooked and
 *         counts as skipped. Without KRP_RETHOOK_FULL_REGS only the argument
 *         registers, the stack pointer and the address are valid. May be NULL
 * @handler: called at return, may change the return value in its registers.
 *           If this is NULL and @entry is not, calls take no instance
 * @missed: called for each call missed for want of an instance or through
 *          recursion, in the context of the call; or NULL
 * @owner: for krp_rethook_owner()
 * @nr_instances: calls that can be in flight at once; 0 for the default: the
 *                larger of 10 and twice the possible CPUs, and more when they
 *                run out, up to the module's parameter max_instances
 * @data_size: bytes of &krp_instance.data, up to KRP_DATA_SIZE_MAX
 * @flags: KRP_RETHOOK_*
 */
struct krp_rethook_desc {
	const char *symbol;
	void *addr;
	unsigned long offset;
	krp_handler_t entry;
	krp_handler_t handler;
	void (*missed)(void *owner, enum krp_miss cause);
	void *owner;
	int nr_instances;
	size_t data_size;
	unsigned int flags;
};

/**
 * struct krp_rethook_counts - what became of the calls
 * @hits: handler run (entry-only rethooks: entry handler run)
 * @skipped: the entry handler returned non-zero
 * @missed: by cause
 * @inflight: entered, neither returned nor given up
 *
 * Once quiet, calls == hits + skipped + all of missed + inflight.
 */
struct krp_rethook_counts {
	unsigned long hits;
	unsigned long skipped;
	unsigned long missed[KRP_NR_MISSES];
	unsigned long inflight;
};

struct krp_rethook *krp_rethook_register(const struct krp_rethook_desc *desc);
int krp_rethook_register_batch(const struct krp_rethook_desc *descs, struct krp_rethook **rhs,
			       int num);
void krp_rethook_unregister(struct krp_rethook *rh);
void krp_rethook_unregister_batch(struct krp_rethook **rhs, int num);
int krp_rethook_enable(struct krp_rethook *rh);
int krp_rethook_disable(struct krp_rethook *rh);
void krp_rethook_counts(struct krp_rethook *rh, struct krp_rethook_counts *counts);
void *krp_rethook_owner(const struct krp_instance *inst);
void *krp_rethook_address(const struct krp_rethook *rh);
unsigned long krp_instance_ret_addr(const struct krp_instance *inst);
bool krp_stack_traces_whole(void);
bool krp_is_thunk(unsigned long addr);
unsigned int krp_stack_trace_save(unsigned long *store, unsigned int size, unsigned int skip);

#endif /* KRP_RETHOOK_POOL_H */
