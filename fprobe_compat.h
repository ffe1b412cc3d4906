/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For modules written for the kernel's fprobe: with this included first they
 * compile against kretpool as they are, also on kernels that have no fprobe.
 *
 * The kernel's header comes first, so that its declarations keep their names;
 * from here on the names mean ours. What differs is in
 * Documentation/migrating.md.
 */
#ifndef KRP_FPROBE_COMPAT_H
#define KRP_FPROBE_COMPAT_H

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "compat/compat_fprobe_user.h"
#include "krp_multi.h"

/* &krp_fprobe.flags, as the kernel's. */
#define KRP_FPROBE_FL_DISABLED		1
#define KRP_FPROBE_FL_KPROBE_SHARED	2

/**
 * struct krp_fprobe - as the kernel's struct fprobe
 * @nmissed: calls missed for want of an instance, filled in by
 *           krp_unregister_fprobe(); krp_multi_counts() on @multi has it before
 * @flags: KRP_FPROBE_FL_DISABLED while handlers are not called
 * @entry_data_size: bytes handed from @entry_handler to @exit_handler
 * @nr_maxactive: calls that can be in flight at once; 0: a number that grows
 * @entry_handler: called at entry; or NULL
 * @exit_handler: called at return; or NULL
 * @multi: private
 */
struct krp_fprobe {
	unsigned long nmissed;
	unsigned int flags;
	size_t entry_data_size;
	int nr_maxactive;
	krp_fprobe_ret_t (*entry_handler)(struct krp_fprobe *fp, unsigned long entry_ip,
					  KRP_FPROBE_RET_IP struct krp_fprobe_user_regs *regs,
					  void *entry_data);
	void (*exit_handler)(struct krp_fprobe *fp, unsigned long entry_ip,
			     KRP_FPROBE_RET_IP struct krp_fprobe_user_regs *regs,
			     void *entry_data);
	struct krp_multi multi;
};

/**
 * krp_fprobe_disabled() - has a probe been switched off?
 * @fp: the probe
 *
 * Context: any.
 * Return: true after krp_disable_fprobe().
 */
static inline bool krp_fprobe_disabled(struct krp_fprobe *fp)
{
	return fp && READ_ONCE(fp->flags) & KRP_FPROBE_FL_DISABLED;
}

static inline void *krp_fprobe_data(struct krp_fprobe *fp, struct krp_instance *inst)
{
	return fp->entry_data_size ? inst->data : NULL;
}

static inline int krp_fprobe_entry(struct krp_multi *m, unsigned long ip,
				   struct krp_instance *inst, struct pt_regs *regs)
{
	struct krp_fprobe *fp = container_of(m, struct krp_fprobe, multi);
	struct krp_fprobe_user_regs *user = (struct krp_fprobe_user_regs *)regs;

	if (krp_fprobe_disabled(fp))
		return 1;
	if (!fp->entry_handler)
		return 0;
#if KRP_FPROBE_API == 1
	fp->entry_handler(fp, ip, user, krp_fprobe_data(fp, inst));
	return 0;
#else
	return fp->entry_handler(fp, ip, krp_instance_ret_addr(inst), user,
				 krp_fprobe_data(fp, inst));
#endif
}

static inline void krp_fprobe_exit(struct krp_multi *m, unsigned long ip,
				   struct krp_instance *inst, struct pt_regs *regs)
{
	struct krp_fprobe *fp = container_of(m, struct krp_fprobe, multi);
	struct krp_fprobe_user_regs *user = (struct krp_fprobe_user_regs *)regs;

	if (krp_fprobe_disabled(fp))
		return;
#if KRP_FPROBE_API == 1
	fp->exit_handler(fp, ip, user, krp_fprobe_data(fp, inst));
#else
	fp->exit_handler(fp, ip, krp_instance_ret_addr(inst), user, krp_fprobe_data(fp, inst));
#endif
}

/* What of a probe's fields registration takes over. */
static inline struct krp_multi *krp_fprobe_multi(struct krp_fprobe *fp)
{
	if (!fp || (!fp->entry_handler && !fp->exit_handler))
		return NULL;
	fp->nmissed = 0;
	fp->multi.entry = krp_fprobe_entry;
	fp->multi.exit = fp->exit_handler ? krp_fprobe_exit : NULL;
	fp->multi.data_size = fp->entry_data_size;
	fp->multi.nr_instances = fp->nr_maxactive;
#ifdef KRP_COMPAT_FULL_REGS
	fp->multi.flags = KRP_RETHOOK_FULL_REGS;
#endif
	return &fp->multi;
}

/**
 * krp_register_fprobe() - hook all functions that a glob means
 * @fp: the probe
 * @filter: see krp_multi_register()
 * @notfilter: what is left out of that; or NULL
 *
 * Context: process, not from a handler; may sleep.
 * Return: as krp_multi_register(), -EINVAL if @fp has no handler.
 */
static inline int krp_register_fprobe(struct krp_fprobe *fp, const char *filter,
				      const char *notfilter)
{
	return krp_multi_register(krp_fprobe_multi(fp), filter, notfilter);
}

/**
 * krp_register_fprobe_syms() - hook all functions of a list of names
 * @fp: the probe
 * @syms: the names
 * @num: how many
 *
 * Context: process, not from a handler; may sleep.
 * Return: as krp_multi_register_syms(), -EINVAL if @fp has no handler.
 */
static inline int krp_register_fprobe_syms(struct krp_fprobe *fp, const char **syms, int num)
{
	return krp_multi_register_syms(krp_fprobe_multi(fp), syms, num);
}

/**
 * krp_register_fprobe_ips() - hook all functions of a list of addresses
 * @fp: the probe
 * @addrs: the addresses
 * @num: how many
 *
 * Context: process, not from a handler; may sleep.
 * Return: as krp_multi_register_ips(), -EINVAL if @fp has no handler.
 */
static inline int krp_register_fprobe_ips(struct krp_fprobe *fp, unsigned long *addrs, int num)
{
	return krp_multi_register_ips(krp_fprobe_multi(fp), addrs, num);
}

/**
 * krp_unregister_fprobe() - unhook a probe's functions
 * @fp: the probe
 *
 * When this returns no handler is running or will run.
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, or -EINVAL if @fp is not registered.
 */
static inline int krp_unregister_fprobe(struct krp_fprobe *fp)
{
	struct krp_rethook_counts counts;

	if (!fp || !fp->multi.rh)
		return -EINVAL;
	krp_multi_counts(&fp->multi, &counts);
	fp->nmissed = counts.missed[KRP_MISS_EMPTY];
	return krp_multi_unregister(&fp->multi);
}

/**
 * krp_disable_fprobe() - stop calling a probe's handlers
 * @fp: the probe
 *
 * Its functions stay hooked.
 *
 * Context: any.
 */
static inline void krp_disable_fprobe(struct krp_fprobe *fp)
{
	if (fp)
		WRITE_ONCE(fp->flags, fp->flags | KRP_FPROBE_FL_DISABLED);
}

/**
 * krp_enable_fprobe() - call a probe's handlers again
 * @fp: the probe
 *
 * Context: any.
 */
static inline void krp_enable_fprobe(struct krp_fprobe *fp)
{
	if (fp)
		WRITE_ONCE(fp->flags, fp->flags & ~KRP_FPROBE_FL_DISABLED);
}

#undef FPROBE_FL_DISABLED
#undef FPROBE_FL_KPROBE_SHARED
#define FPROBE_FL_DISABLED		KRP_FPROBE_FL_DISABLED
#define FPROBE_FL_KPROBE_SHARED		KRP_FPROBE_FL_KPROBE_SHARED

#define fprobe			krp_fprobe
#define fprobe_disabled		krp_fprobe_disabled
#define register_fprobe		krp_register_fprobe
#define register_fprobe_ips	krp_register_fprobe_ips
#define register_fprobe_syms	krp_register_fprobe_syms
#define unregister_fprobe	krp_unregister_fprobe
#define enable_fprobe		krp_enable_fprobe
#define disable_fprobe		krp_disable_fprobe

/* The kernel's resolves its own hooks in a trace, and this one ours. */
#undef stack_trace_save
#define stack_trace_save	krp_stack_trace_save

#endif /* KRP_FPROBE_COMPAT_H */
