// SPDX-License-Identifier: GPL-2.0-only
/* Up to 6.3: who walks over symbols is told of the module. */
#include <linux/kallsyms.h>

static int visit(void *data, const char *name, struct module *mod, unsigned long addr)
{
	return 0;
}

int krp_probe(void)
{
	return kallsyms_on_each_symbol(visit, NULL);
}
