/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ftrace hands to a callback where it saves the arguments only; included
 * by compat_ftrace.h, which says what struct krp_arch_args is called.
 */
#ifndef KRP_ARM64_ARCH_ARGS_H
#define KRP_ARM64_ARCH_ARGS_H

#include <linux/string.h>

/* As krp_arch_ret(). */
static __always_inline unsigned long *krp_arch_args_ret(struct krp_arch_args *args)
{
	return &args->lr;
}

/* As krp_arch_frame(). */
static __always_inline unsigned long krp_arch_args_frame(struct krp_arch_args *args)
{
	return args->sp;
}

/* For an entry handler: what is not known stays as it is. */
static inline void krp_arch_args_get(const struct krp_arch_args *args, struct pt_regs *regs)
{
	memcpy(regs->regs, args->regs, sizeof(args->regs));
	regs->regs[29] = args->fp;
	regs->regs[30] = args->lr;
	regs->sp = args->sp;
	regs->pc = args->pc;
	regs->pstate = PSR_MODE_EL1h;
}

/* What it may have changed. */
static inline void krp_arch_args_put(struct krp_arch_args *args, const struct pt_regs *regs)
{
	memcpy(args->regs, regs->regs, sizeof(args->regs));
	args->lr = regs->regs[30];
	args->pc = regs->pc;
}

#endif /* KRP_ARM64_ARCH_ARGS_H */
