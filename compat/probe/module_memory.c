// SPDX-License-Identifier: GPL-2.0-only
/* 6.4: struct module has an array of kinds of memory. */
#include <linux/module.h>

void *krp_probe(const struct module *mod)
{
	return mod->mem[MOD_TEXT].base;
}
