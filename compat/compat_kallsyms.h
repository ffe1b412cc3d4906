/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in walks over their symbols. */
#ifndef KRP_COMPAT_KALLSYMS_H
#define KRP_COMPAT_KALLSYMS_H

#include <linux/kallsyms.h>

#include "krp_features.h"

/*
 * The parameters of a callback for kallsyms_on_each_symbol(), and whether the
 * symbol is a module's.
 *
 * Up to 6.3 it was told of the module, and in 5.10 modules' symbols came last.
 */
#ifdef KRP_HAVE_KALLSYMS_MODULE
#define KRP_KALLSYMS_ARGS(data, name, mod, addr)				\
	void *data, const char *name, struct module *mod, unsigned long addr
#define KRP_KALLSYMS_FOREIGN(mod)	((mod) != NULL)
#else
#define KRP_KALLSYMS_ARGS(data, name, mod, addr)				\
	void *data, const char *name, unsigned long addr
#define KRP_KALLSYMS_FOREIGN(mod)	false
#endif

#endif /* KRP_COMPAT_KALLSYMS_H */
