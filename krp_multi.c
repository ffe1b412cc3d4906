// SPDX-License-Identifier: GPL-2.0-only
/* One return probe on many functions. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "krp_multi.h"
#include "krp_resolve.h"
#include "symbols.h"

static int krp_multi_entry(struct krp_instance *inst, struct pt_regs *regs)
{
	struct krp_multi *m = inst->rh->owner;

	return m->entry(m, inst->link->addr, inst, regs);
}

/* As far as the list knows: the caller's @m->rh may be anything. */
static bool krp_multi_known(const struct krp_multi *m)
{
	struct krp_rethook *rh;

	list_for_each_entry(rh, &krp_rethooks, list)
		if (rh->owner == m)
			return true;
	return false;
}

/* What has been found fit once need not be looked at again. */
static void krp_multi_vet(const struct krp_rethook *rh)
{
	unsigned int i;

	for (i = 0; i < rh->nr_links; i++)
		if (krp_symbols_stay(rh->links[i].addr))
			rh->links[i].func->vetted = rh->links[i].addr;
}

/* Attaches it to what has been resolved. */
static int krp_multi_attach(struct krp_multi *m, const char *name,
			    const struct krp_resolution *res)
{
	struct krp_rethook_desc desc = {
		.entry = m->entry ? krp_multi_entry : NULL,
		.owner = m,
		.nr_instances = m->nr_instances,
		.data_size = m->data_size,
		.flags = m->flags,
	};
	int ret;

	if (!res->nr) {
		pr_err("%s: none of the %u functions can be hooked\n", name, res->left->nr);
		return -EINVAL;
	}
	/* Handlers may ask for it from the first call on. */
	m->functions = res->nr;
	m->left_out = res->left->nr;
	m->gone = 0;
	m->left = res->left;
	ret = krp_rethook_register_targets(&desc, m->exit, name, res->targets, res->nr, &m->rh);
	if (ret) {
		m->rh = NULL;
		m->left = NULL;
	} else if (res->all_names) {
		krp_multi_vet(m->rh);
	}
	return ret;
}

static int krp_multi_start(struct krp_multi *m, const char *name, struct krp_request *req)
{
	struct krp_resolution res = {};
	int ret;

	if (krp_refuse_in_handler("register a probe"))
		return -EDEADLK;
	might_sleep();
	req->entry = (unsigned long)m->entry;
	req->exit = (unsigned long)m->exit;
	if (!krp_hook_many_possible(m->flags & KRP_RETHOOK_FULL_REGS)) {
		pr_err("%s: ftrace cannot hook with such flags here\n", name);
		return -EOPNOTSUPP;
	}
	mutex_lock(&krp_mutex);
	if (krp_multi_known(m)) {
		pr_err("%s: this probe is registered already\n", name);
		ret = -EINVAL;
	} else {
		ret = krp_resolve(req, &res);
		if (!ret)
			ret = krp_multi_attach(m, name, &res);
		kvfree(res.targets);
		if (ret)
			kvfree(res.left);
	}
	mutex_unlock(&krp_mutex);
	return ret;
}

/**
 * krp_multi_register() - hook all functions that a list of globs means
 * @m: the probe; stays in use until krp_multi_unregister() has returned
 * @filter: globs and names, separated by commas or blanks, each for functions
 *          of the kernel and of all modules, or MODULE:glob for those of one,
 *          vmlinux:glob for the kernel's own
 * @notfilter: what is left out of that, in the same way; or NULL
 *
 * Functions that cannot be hooked are left out and counted. Code is patched
 * once for all that can.
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0; -ENOENT if a name or a glob means no function, -EADDRNOTAVAIL if
 * a name means several, both with a line in the log that names the first such,
 * and nothing attached; -EINVAL if none of the functions can be hooked, or @m
 * is registered; -EOPNOTSUPP where ftrace or the symbols are missing; or see
 * krp_rethook_register(). Nothing is held on failure.
 */
int krp_multi_register(struct krp_multi *m, const char *filter, const char *notfilter)
{
	struct krp_request req = { .filter = filter, .notfilter = notfilter };
	char name[KRP_FUNC_NAME_LEN], *c;

	if (!m || !filter || !filter[strspn(filter, ", \t\n")])
		return -EINVAL;
	strscpy(name, skip_spaces(filter), sizeof(name));
	strim(name);
	/* A word, as it stands in tables. */
	for (c = name; *c; c++)
		if (isspace(*c))
			*c = ',';
	return krp_multi_start(m, name, &req);
}
EXPORT_SYMBOL_GPL(krp_multi_register);

/**
 * krp_multi_register_syms() - hook all functions of a list of names
 * @m: the probe; stays in use until krp_multi_unregister() has returned
 * @syms: names, or MODULE:name
 * @num: how many
 *
 * See krp_multi_register(). A name that is listed twice is hooked once.
 *
 * Context: process, not from a handler; may sleep.
 * Return: as krp_multi_register().
 */
int krp_multi_register_syms(struct krp_multi *m, const char **syms, int num)
{
	struct krp_request req = { .syms = syms, .nr_syms = num };
	char name[KRP_FUNC_NAME_LEN];

	if (!m || !syms || num <= 0)
		return -EINVAL;
	snprintf(name, sizeof(name), num > 1 ? "%.100s+%d" : "%.100s", syms[0], num - 1);
	return krp_multi_start(m, name, &req);
}
EXPORT_SYMBOL_GPL(krp_multi_register_syms);

/**
 * krp_multi_register_ips() - hook all functions of a list of addresses
 * @m: the probe; stays in use until krp_multi_unregister() has returned
 * @addrs: addresses of functions, or where ftrace patches them
 * @num: how many
 *
 * See krp_multi_register().
 *
 * Context: process, not from a handler; may sleep.
 * Return: as krp_multi_register(); -EINVAL also if an address is not that of a
 * function, with a line in the log that says which is the first such.
 */
int krp_multi_register_ips(struct krp_multi *m, unsigned long *addrs, int num)
{
	struct krp_request req = { .addrs = addrs, .nr_addrs = num };
	char name[KRP_FUNC_NAME_LEN];

	if (!m || !addrs || num <= 0)
		return -EINVAL;
	snprintf(name, sizeof(name), num > 1 ? "%ps+%d" : "%ps", (void *)addrs[0], num - 1);
	return krp_multi_start(m, name, &req);
}
EXPORT_SYMBOL_GPL(krp_multi_register_ips);

/**
 * krp_multi_unregister() - unhook all functions of a probe
 * @m: the probe
 *
 * When this returns no handler of it is running or will run, and it may be
 * freed. Does not wait for calls in flight: they return as usual.
 *
 * Context: process, not from a handler; may sleep.
 * Return: 0, -EINVAL if @m is not registered, -EDEADLK if called from a
 * handler.
 */
int krp_multi_unregister(struct krp_multi *m)
{
	if (!m || !m->rh)
		return -EINVAL;
	if (krp_refuse_in_handler("unregister a probe"))
		return -EDEADLK;
	krp_rethook_unregister(m->rh);
	m->rh = NULL;
	kvfree(m->left);
	m->left = NULL;
	return 0;
}
EXPORT_SYMBOL_GPL(krp_multi_unregister);

/**
 * krp_multi_counts() - what became of the calls of a probe's functions
 * @m: the probe, registered
 * @counts: filled in; a snapshot, exact while no call is being made
 *
 * Brings &krp_multi.gone up to date, too.
 *
 * Context: process, not from a handler; may sleep.
 */
void krp_multi_counts(struct krp_multi *m, struct krp_rethook_counts *counts)
{
	krp_rethook_counts(m->rh, counts);
	m->gone = READ_ONCE(m->rh->nr_gone);
}
EXPORT_SYMBOL_GPL(krp_multi_counts);

/**
 * krp_multi_visit() - visit the functions of a probe, and those left out
 * @m: the probe, registered
 * @fn: called for each
 * @data: passed to @fn
 *
 * Those attached come first, in the order of krp_multi_index().
 *
 * Context: process; may sleep.
 * Return: 0, or what @fn returned when it ended the visit.
 */
int krp_multi_visit(struct krp_multi *m, krp_multi_visit_t fn, void *data)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < m->functions && !ret; i++) {
		const struct krp_link *link = &m->rh->links[i];
		bool gone = READ_ONCE(link->gone);

		/* Its address may be another's by now. */
		if (gone)
			strscpy(name, "?", sizeof(name));
		else
			sprint_symbol_no_offset(name, link->addr);
		ret = fn(link->addr, name, gone ? KRP_MULTI_GONE : KRP_MULTI_ATTACHED, data);
	}
	for (i = 0; i < m->left_out && !ret; i++) {
		sprint_symbol_no_offset(name, m->left->functions[i].addr);
		ret = fn(m->left->functions[i].addr, name, m->left->functions[i].state, data);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(krp_multi_visit);

/**
 * krp_multi_index() - which of its probe's functions a call is one of
 * @inst: an instance, in a handler of a struct krp_multi
 *
 * Context: any.
 * Return: a number below &krp_multi.functions.
 */
unsigned int krp_multi_index(const struct krp_instance *inst)
{
	return inst->link - inst->rh->links;
}
EXPORT_SYMBOL_GPL(krp_multi_index);

/**
 * krp_multi_address() - the function of a number
 * @m: the probe, registered
 * @index: a number below &krp_multi.functions
 *
 * Context: any.
 * Return: what handlers get as ip.
 */
unsigned long krp_multi_address(struct krp_multi *m, unsigned int index)
{
	return m->rh->links[index].addr;
}
EXPORT_SYMBOL_GPL(krp_multi_address);

/**
 * krp_multi_state_name() - a word for people
 * @state: what became of a function
 *
 * Context: any.
 * Return: the word.
 */
const char *krp_multi_state_name(enum krp_multi_state state)
{
	static const char * const names[KRP_NR_MULTI_STATES] = {
		[KRP_MULTI_ATTACHED] = "attached",
		[KRP_MULTI_GONE] = "gone",
		[KRP_MULTI_BLACKLISTED] = "blacklisted",
		[KRP_MULTI_OWN] = "own",
		[KRP_MULTI_REFUSED] = "refused",
		[KRP_MULTI_NEEDED] = "needed",
		[KRP_MULTI_UNTRACEABLE] = "untraceable",
	};

	return names[state];
}
EXPORT_SYMBOL_GPL(krp_multi_state_name);
