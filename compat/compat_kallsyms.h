/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in walks over their symbols. */
#ifndef KRP_COMPAT_KALLSYMS_H
#define KRP_COMPAT_KALLSYMS_H

#include <linux/kallsyms.h>

#include "krp_features.h"

/*
 * Defines @name, a callback for kallsyms_on_each_symbol(), which sees the
 * kernel's own symbols by way of @visit(data, name, addr).
 *
 * Up to 6.3 it was told of the module, and in 5.10 modules' symbols came last.
 */
#ifdef KRP_HAVE_KALLSYMS_MODULE
#define KRP_KALLSYMS_CALLBACK(callback, visit)					\
	static int callback(void *data, const char *name, struct module *mod,	\
			    unsigned long addr)					\
	{									\
		return mod ? 1 : visit(data, name, addr);			\
	}
#else
#define KRP_KALLSYMS_CALLBACK(callback, visit)					\
	static int callback(void *data, const char *name, unsigned long addr)	\
	{									\
		return visit(data, name, addr);					\
	}
#endif

#endif /* KRP_COMPAT_KALLSYMS_H */
