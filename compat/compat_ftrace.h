/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in ftrace callbacks. */
#ifndef KRP_COMPAT_FTRACE_H
#define KRP_COMPAT_FTRACE_H

#include <linux/ftrace.h>

#include "krp_arch.h"
#include "krp_features.h"

/*
 * How ftrace is asked for a callback that finds arguments, return address and
 * stack pointer; and for one that finds all registers, where it can.
 *
 * 5.11: the former for less on x86, with
 * DYNAMIC_FTRACE_WITH_ARGS. 6.2: on arm64, too, which can no
 * longer do the latter from then on.
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && defined(KRP_HAVE_FTRACE_REGS)
#define KRP_FTRACE_ARGS		1
#define KRP_FTRACE_ARGS_FLAGS	KRP_FTRACE_FLAGS
#elif defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define KRP_FTRACE_ARGS		1
#define KRP_FTRACE_ARGS_FLAGS	(KRP_FTRACE_FLAGS | FTRACE_OPS_FL_SAVE_REGS)
#else
#define KRP_FTRACE_ARGS		0
#define KRP_FTRACE_ARGS_FLAGS	0
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#define KRP_FTRACE_REGS		1
#define KRP_FTRACE_REGS_FLAGS	(KRP_FTRACE_FLAGS | FTRACE_OPS_FL_SAVE_REGS)
#else
#define KRP_FTRACE_REGS		0
#define KRP_FTRACE_REGS_FLAGS	0
#endif

#if KRP_FTRACE_ARGS || KRP_FTRACE_REGS

/*
 * No kernel check for recursion and none for RCU: each would put an indirect
 * call in front of the callback, which does its own. PERMANENT, as a
 * kernel.ftrace_enabled=0 would silently unhook everything.
 *
 * 5.11: no check unless asked for; before, unless declined.
 */
#ifdef KRP_HAVE_FTRACE_REGS
#define KRP_FTRACE_FLAGS	FTRACE_OPS_FL_PERMANENT
#else
#define KRP_FTRACE_FLAGS	(FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_RECURSION_SAFE)
#endif

#define krp_ftrace_set_filter_ip	ftrace_set_filter_ip

#include "compat_ftrace_filter.h"

/* 6.1 exports ftrace_free_filter(). What it frees goes with the last address, too. */
static inline void krp_ftrace_free_filter(struct ftrace_ops *ops)
{
	ftrace_set_filter(ops, NULL, 0, 1);
}

#else

/* A kernel whose ftrace hooks nothing, or that has none: kprobes have it all. */
#define KRP_FTRACE_MANY		1
#define KRP_FTRACE_ADDS_MANY	1

#ifndef CONFIG_FUNCTION_TRACER
struct ftrace_ops {
	void *func;
	unsigned long flags;
};
#endif

static inline int krp_ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip,
					   int remove, int reset)
{
	return -EINVAL;
}

static inline int krp_ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
					    unsigned int nr, int remove, int reset)
{
	return -EINVAL;
}

static inline void krp_ftrace_free_filter(struct ftrace_ops *ops)
{
}

#endif

/* 5.11: struct ftrace_regs; before, all registers. */
#ifndef KRP_HAVE_FTRACE_REGS
#define ftrace_regs	pt_regs
#endif

#if defined(CONFIG_ARM64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)

/*
 * 6.2: on arm64 a callback gets no struct pt_regs, only what
 * the call may use. 6.13 has another name for it.
 */
#ifdef KRP_HAVE_ARCH_FTRACE_REGS
#define krp_arch_args	__arch_ftrace_regs
#else
#define krp_arch_args	ftrace_regs
#endif

#include "krp_arch_args.h"

static __always_inline unsigned long *krp_ftrace_ret(struct ftrace_regs *fregs)
{
	return krp_arch_args_ret((struct krp_arch_args *)fregs);
}

static __always_inline unsigned long krp_ftrace_frame(struct ftrace_regs *fregs,
						      unsigned long *ret)
{
	return krp_arch_args_frame((struct krp_arch_args *)fregs);
}

/* Room for what krp_ftrace_get_regs() has to make. */
struct krp_ftrace_buf {
	struct pt_regs regs;
};

static __always_inline struct pt_regs *krp_ftrace_get_regs(struct ftrace_regs *fregs,
							   struct krp_ftrace_buf *buf)
{
	krp_arch_args_get((struct krp_arch_args *)fregs, &buf->regs);
	return &buf->regs;
}

static __always_inline void krp_ftrace_put_regs(struct ftrace_regs *fregs,
						const struct pt_regs *regs)
{
	krp_arch_args_put((struct krp_arch_args *)fregs, regs);
}

#else

/*
 * A struct pt_regs, whole, or with what was asked for valid. It is the first,
 * or the only, member of struct ftrace_regs in every kernel.
 */
static __always_inline struct pt_regs *krp_ftrace_pt_regs(struct ftrace_regs *fregs)
{
	return (struct pt_regs *)fregs;
}

static __always_inline unsigned long *krp_ftrace_ret(struct ftrace_regs *fregs)
{
	return krp_arch_ret(krp_ftrace_pt_regs(fregs));
}

static __always_inline unsigned long krp_ftrace_frame(struct ftrace_regs *fregs,
						      unsigned long *ret)
{
	return krp_arch_frame(krp_ftrace_pt_regs(fregs), ret);
}

/* Not even the stack is set to 0 then, where the kernel is built for that. */
struct krp_ftrace_buf {
};

static __always_inline struct pt_regs *krp_ftrace_get_regs(struct ftrace_regs *fregs,
							   struct krp_ftrace_buf *buf)
{
	return krp_ftrace_pt_regs(fregs);
}

static __always_inline void krp_ftrace_put_regs(struct ftrace_regs *fregs,
						const struct pt_regs *regs)
{
}

#endif

#endif /* KRP_COMPAT_FTRACE_H */
