/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * krp_multi: one return probe on many functions.
 *
 * After the kernel's fprobe: fill in a struct krp_multi, register it on a glob,
 * on a list of names or on a list of addresses. All its functions share one
 * pool of instances, code is patched once for all of them, and a hit costs the
 * same however many there are. Only functions that ftrace can hook take part.
 */
#ifndef KRP_MULTI_H
#define KRP_MULTI_H

#include <linux/types.h>

#include "rethook_pool.h"

struct krp_multi_left;

/**
 * struct krp_multi - one return probe on many functions
 * @entry: called at entry; if it returns non-zero the call is not hooked and
 *         counts as skipped. Registers as for &krp_rethook_desc.entry. Or NULL
 * @exit: called at return, may change the return value in its registers. If
 *        this is NULL and @entry is not, calls take no instance
 * @data_size: bytes of &krp_instance.data, handed from @entry to @exit
 * @nr_instances: calls of all functions together that can be in flight at
 *                once; 0 for a number that grows, see &krp_rethook_desc
 * @flags: KRP_RETHOOK_*
 * @functions: functions attached, set by registration
 * @left_out: functions that were meant, too, and cannot be hooked; set by
 *            registration, see krp_multi_visit() for their names
 * @gone: of @functions, those that went with their module
 * @rh: private: the pool and the counts
 * @left: private: those left out
 *
 * @ip, in the handlers, is the function's address: %ps prints its name, and
 * krp_multi_index() makes a small number of it.
 *
 * Registered, it must stay where it is until krp_multi_unregister() has
 * returned. Handlers run with preemption off, possibly in NMI context. What
 * they call is not hooked: such calls are counted as missed, for recursion.
 */
struct krp_multi {
	int (*entry)(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
		     struct pt_regs *regs);
	void (*exit)(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
		     struct pt_regs *regs);
	size_t data_size;
	int nr_instances;
	unsigned int flags;
	unsigned int functions;
	unsigned int left_out;
	unsigned int gone;
	struct krp_rethook *rh;
	struct krp_multi_left *left;
};

/**
 * enum krp_multi_state - what became of a function that was meant
 * @KRP_MULTI_ATTACHED: its calls are caught
 * @KRP_MULTI_GONE: they were, until its module was unloaded
 * @KRP_MULTI_BLACKLISTED: on the kernel's kprobe blacklist
 * @KRP_MULTI_OWN: part of kretpool itself
 * @KRP_MULTI_REFUSED: does not return like others
 * @KRP_MULTI_NEEDED: one of the probe's own handlers, or needed to catch calls
 * @KRP_MULTI_UNTRACEABLE: ftrace cannot hook it
 * @KRP_NR_MULTI_STATES: how many there are
 */
enum krp_multi_state {
	KRP_MULTI_ATTACHED,
	KRP_MULTI_GONE,
	KRP_MULTI_BLACKLISTED,
	KRP_MULTI_OWN,
	KRP_MULTI_REFUSED,
	KRP_MULTI_NEEDED,
	KRP_MULTI_UNTRACEABLE,
	KRP_NR_MULTI_STATES,
};

/*
 * @name is "function", or "function [module]" for one of a module's. Called in
 * process context, and may sleep. Anything but 0 ends the visit.
 */
typedef int (*krp_multi_visit_t)(unsigned long ip, const char *name,
				 enum krp_multi_state state, void *data);

int krp_multi_register(struct krp_multi *m, const char *filter, const char *notfilter);
int krp_multi_register_syms(struct krp_multi *m, const char **syms, int num);
int krp_multi_register_ips(struct krp_multi *m, unsigned long *addrs, int num);
int krp_multi_unregister(struct krp_multi *m);
void krp_multi_counts(struct krp_multi *m, struct krp_rethook_counts *counts);
int krp_multi_visit(struct krp_multi *m, krp_multi_visit_t fn, void *data);
unsigned int krp_multi_index(const struct krp_instance *inst);
unsigned long krp_multi_address(struct krp_multi *m, unsigned int index);
const char *krp_multi_state_name(enum krp_multi_state state);

#endif /* KRP_MULTI_H */
