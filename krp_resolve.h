/* SPDX-License-Identifier: GPL-2.0-only */
/* Which functions are meant: by glob, by name, by address. */
#ifndef KRP_RESOLVE_H
#define KRP_RESOLVE_H

#include "krp_multi.h"
#include "rethook_internal.h"

/**
 * struct krp_multi_left - functions that were meant and cannot be hooked
 * @nr: how many
 * @functions: their addresses, and why
 */
struct krp_multi_left {
	unsigned int nr;
	struct {
		unsigned long addr;
		enum krp_multi_state state;
	} functions[];
};

/**
 * struct krp_request - what is meant; of the three lists any may be missing
 * @filter: globs and names, separated by commas or blanks, each perhaps behind
 *          the name of a module and a colon
 * @notfilter: the same, of what is not meant after all
 * @syms: names
 * @nr_syms: how many
 * @addrs: addresses
 * @nr_addrs: how many
 * @entry: the probe's own handlers, which are left out
 * @exit: the other one
 */
struct krp_request {
	const char *filter;
	const char *notfilter;
	const char **syms;
	int nr_syms;
	unsigned long *addrs;
	int nr_addrs;
	unsigned long entry;
	unsigned long exit;
};

/**
 * struct krp_resolution - what it comes to
 * @targets: functions to be hooked, none twice
 * @nr: how many
 * @left: those that were meant, too
 * @all_names: those of the kernel's own were judged by all names that they have
 */
struct krp_resolution {
	struct krp_target *targets;
	unsigned int nr;
	struct krp_multi_left *left;
	bool all_names;
};

int krp_resolve(const struct krp_request *req, struct krp_resolution *res);

#endif /* KRP_RESOLVE_H */
