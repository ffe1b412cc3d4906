/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in ORC data and in modules' memory. */
#ifndef KRP_COMPAT_UNWIND_H
#define KRP_COMPAT_UNWIND_H

#include <linux/module.h>

#include "krp_features.h"

#ifdef CONFIG_UNWINDER_ORC
#include <asm/orc_types.h>

/* 6.4: ORC types have names of their own. */
#ifdef ORC_TYPE_CALL
#define KRP_ORC_TYPE_CALL	ORC_TYPE_CALL
#else
#define KRP_ORC_TYPE_CALL	UNWIND_HINT_TYPE_CALL
#include <linux/objtool.h>
#endif

#endif /* CONFIG_UNWINDER_ORC */

/* 5.18: kretprobes by rethook, with a trampoline of its own. */
#define KRP_RETHOOK_TRAMPOLINE	"arch_rethook_trampoline"

/*
 * 6.1 on x86: what hides behind the kernel's own
 * kretprobe can be asked for.
 */
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#define KRP_KRETPROBE_RESOLVABLE	1
#else
#define KRP_KRETPROBE_RESOLVABLE	0
#endif

/* 6.4: struct module has an array of kinds of memory. */
static inline void krp_module_text(const struct module *mod, bool init,
				   unsigned long *start, unsigned long *end)
{
#ifdef KRP_HAVE_MODULE_MEMORY
	const struct module_memory *mem = &mod->mem[init ? MOD_INIT_TEXT : MOD_TEXT];

	*start = (unsigned long)mem->base;
	*end = *start + mem->size;
#else
	const struct module_layout *layout = init ? &mod->init_layout : &mod->core_layout;

	*start = (unsigned long)layout->base;
	*end = *start + layout->text_size;
#endif
}

#endif /* KRP_COMPAT_UNWIND_H */
