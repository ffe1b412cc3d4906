/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kretprobe interface on kretpool: the kernel's names with krp_ before
 * them, the same fields, handlers, errors and counts.
 */
#ifndef KRP_KRETPROBE_SHIM_H
#define KRP_KRETPROBE_SHIM_H

#include <linux/kprobes.h>

#include "rethook_pool.h"

#define krp_kretprobe_instance	krp_instance

#define krp_kretprobe_handler_t	krp_handler_t

/* &krp_kretprobe.krp_flags: the entry handler needs all registers. */
#define KRP_KRETPROBE_FULL_REGS	KRP_RETHOOK_FULL_REGS

/**
 * struct krp_kretprobe - as the kernel's struct kretprobe
 * @kp: the function by symbol_name or addr, and offset; flags may be
 *      KPROBE_FLAG_DISABLED. addr is filled in. nmissed counts calls missed
 *      through recursion. It is never registered as a kprobe itself
 * @handler: called at return; or NULL
 * @entry_handler: called at entry, non-zero skips the call; or NULL
 * @maxactive: calls that can be in flight at once; if 0 or less, filled in with
 *             what it begins with, see &krp_rethook_desc.nr_instances
 * @nmissed: calls missed for want of an instance
 * @data_size: bytes of data in each instance, up to KRP_DATA_SIZE_MAX
 * @krp_flags: not in the kernel's; 0 or KRP_KRETPROBE_FULL_REGS
 * @rh: private
 */
struct krp_kretprobe {
	struct kprobe kp;
	krp_kretprobe_handler_t handler;
	krp_kretprobe_handler_t entry_handler;
	int maxactive;
	int nmissed;
	size_t data_size;
	unsigned int krp_flags;
	struct krp_rethook *rh;
};

int krp_register_kretprobe(struct krp_kretprobe *rp);
void krp_unregister_kretprobe(struct krp_kretprobe *rp);
int krp_register_kretprobes(struct krp_kretprobe **rps, int num);
void krp_unregister_kretprobes(struct krp_kretprobe **rps, int num);
int krp_enable_kretprobe(struct krp_kretprobe *rp);
int krp_disable_kretprobe(struct krp_kretprobe *rp);

/**
 * krp_get_kretprobe() - whose instance this is
 * @ri: an instance, in a handler
 *
 * Context: any.
 * Return: the probe, or NULL once it is unregistered.
 */
static inline struct krp_kretprobe *krp_get_kretprobe(struct krp_kretprobe_instance *ri)
{
	return krp_rethook_owner(ri);
}

/**
 * krp_get_kretprobe_retaddr() - where the call returns to
 * @ri: an instance, in a handler
 *
 * Context: any.
 * Return: the address in the caller.
 */
static inline unsigned long krp_get_kretprobe_retaddr(struct krp_kretprobe_instance *ri)
{
	return krp_instance_ret_addr(ri);
}

#endif /* KRP_KRETPROBE_SHIM_H */
