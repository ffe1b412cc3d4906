/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's symbols: addresses by name, and all functions in one pass. */
#ifndef KRP_SYMBOLS_H
#define KRP_SYMBOLS_H

#include <linux/types.h>

/*
 * @mod: the module's name, or NULL for the kernel's own. Anything but 0 ends
 * the walk. @name is valid until it returns. May sleep.
 */
typedef int (*krp_symbol_visit_t)(void *data, const char *name, const char *mod,
				  unsigned long addr);

unsigned long krp_symbol_addr(const char *name);
unsigned long krp_symbols_lookup(const char *name);
int krp_symbols_walk(krp_symbol_visit_t visit, void *data, bool modules_only);
unsigned long krp_symbols_ftrace_ip(unsigned long addr);
bool krp_symbols_traceable(unsigned long ip);
bool krp_symbols_stay(unsigned long addr);
bool krp_symbols_blacklisted(unsigned long addr, const char *name, unsigned int hash);
void krp_symbols_init(void);
int krp_symbols_begin(void);
void krp_symbols_end(void);

#endif /* KRP_SYMBOLS_H */
