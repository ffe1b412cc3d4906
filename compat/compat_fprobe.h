/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in fprobes: the benchmark compares with them. */
#ifndef KRP_COMPAT_FPROBE_H
#define KRP_COMPAT_FPROBE_H

#include <linux/errno.h>

#include "krp_features.h"

#if defined(KRP_HAVE_FPROBE_FTRACE_REGS)
#define krp_fprobe_regs_t	struct ftrace_regs
#elif defined(KRP_HAVE_FPROBE_PT_REGS)
#define krp_fprobe_regs_t	struct pt_regs
#endif

#ifdef krp_fprobe_regs_t

#include <linux/fprobe.h>

/* A function that calls @hit when a function hooked by a fprobe returns. */
#define KRP_FPROBE_EXIT(name, hit)						\
	static void name(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,	\
			 krp_fprobe_regs_t *regs, void *data)			\
	{									\
		hit();								\
	}

typedef void (*krp_fprobe_exit_t)(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
				  krp_fprobe_regs_t *regs, void *data);

static struct fprobe krp_fprobe;

static inline int krp_fprobe_on(const char *symbol, krp_fprobe_exit_t exit)
{
	krp_fprobe = (struct fprobe){ .exit_handler = exit };
	return register_fprobe(&krp_fprobe, symbol, NULL);
}

static inline int krp_fprobe_on_ips(unsigned long *ips, int nr, krp_fprobe_exit_t exit)
{
	krp_fprobe = (struct fprobe){ .exit_handler = exit };
	return register_fprobe_ips(&krp_fprobe, ips, nr);
}

static inline void krp_fprobe_off(void)
{
	unregister_fprobe(&krp_fprobe);
}

static inline unsigned long krp_fprobe_missed(void)
{
	return krp_fprobe.nmissed;
}

#else

#define KRP_FPROBE_EXIT(name, hit)	\
	static void name(void)		\
	{				\
		hit();			\
	}

static inline int krp_fprobe_on(const char *symbol, void (*exit)(void))
{
	return -EOPNOTSUPP;
}

static inline int krp_fprobe_on_ips(unsigned long *ips, int nr, void (*exit)(void))
{
	return -EOPNOTSUPP;
}

static inline void krp_fprobe_off(void) { }

static inline unsigned long krp_fprobe_missed(void)
{
	return 0;
}

#endif /* krp_fprobe_regs_t */
#endif /* KRP_COMPAT_FPROBE_H */
