// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole stack traces through hooked calls, where the kernel unwinds by ORC.
 *
 * While a call is hooked its return address is a thunk's. When an unwinder has
 * stepped out of the function, to the thunk, its stack pointer is exactly what
 * it would be in the caller, right behind the call: so it walks on correctly if
 * the ORC entry that covers the thunk is a copy of the one that covers the call.
 *
 * The module's own ORC tables are read-only, but the kernel reads them through
 * pointers in struct module: at load they are replaced by writable ones, with
 * an entry for every thunk spliced in. An instance writes its thunk's entry
 * before the thunk's address goes into the slot, and only if the caller is
 * another than last time.
 *
 * A trace that goes through a thunk counts as reliable, although its caller's
 * name is hidden: a livepatch of that caller would be completed too early. So
 * while any livepatch is loaded the unwinder gets a table in which thunks are
 * undefined, and stops there as it does at unknown code.
 *
 * This is part of the entry path: no locks, any context.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <asm/orc_types.h>

#include "rethook_internal.h"
#include "symbols.h"
#include "compat_unwind.h"

static bool stacktrace = true;
module_param(stacktrace, bool, 0444);
MODULE_PARM_DESC(stacktrace, "whole stack traces inside hooked functions (default on)");

DEFINE_STATIC_KEY_FALSE(krp_trace_key);
u64 krp_orc_cache[KRP_ORC_CACHE];

/* The module's own entries beside the thunks'; a few hundred. */
#define KRP_ORC_OWN	8192
#define KRP_ORC_MAX	(KRP_NR_THUNKS + KRP_ORC_OWN)

/* Offsets relative to themselves: within 2 GiB of the text, so not allocated. */
static int krp_orc_ip[KRP_ORC_MAX];

/* One table with the thunks' borrowed entries, one with undefined ones. */
static struct orc_entry *krp_orc_borrowed, *krp_orc_undefined;

/* The borrowed entry of thunk 0. */
static struct orc_entry *krp_orc_thunks;

/* What objtool says of the thunks: nothing is known. */
static struct orc_entry krp_orc_unknown;

/* For code without ORC data, as the kernel's own: it keeps frame pointers. */
static const struct orc_entry krp_orc_frame_pointer = {
	.type = KRP_ORC_TYPE_CALL,
	.sp_reg = ORC_REG_BP,
	.sp_offset = 16,
	.bp_reg = ORC_REG_PREV_SP,
	.bp_offset = -16,
};

/**
 * struct krp_orc_table - sorted ORC data of one piece of text
 * @mod: the module; NULL for the kernel itself
 * @init: the text that goes when the module has been initialised
 * @start: first address
 * @end: first behind it
 * @ip: offsets, each relative to itself
 * @orc: entries
 * @nr: how many
 * @list: on krp_orc_modules; not for the kernel's
 * @rcu: until nobody looks
 */
struct krp_orc_table {
	struct module *mod;
	bool init;
	unsigned long start, end;
	const int *ip;
	const struct orc_entry *orc;
	unsigned int nr;
	struct list_head list;
	struct rcu_head rcu;
};

static struct krp_orc_table krp_orc_kernel;
static LIST_HEAD(krp_orc_modules);

/* Livepatch modules that are loaded or being loaded; krp_mutex. */
static unsigned int krp_orc_livepatches;

/* What the kernel put into struct module, to be given back. */
static struct mod_arch_specific krp_orc_saved;

/* Trampolines by which others take over returns, and who knows what they hide. */
static unsigned long krp_orc_rethook, krp_orc_graph;
static unsigned long krp_rethook_find, krp_graph_find;

static unsigned long krp_orc_addr(const int *ip)
{
	return (unsigned long)ip + *ip;
}

/* The last entry that begins at or before @addr. */
static const struct orc_entry *krp_orc_search(const struct krp_orc_table *table,
					      unsigned long addr)
{
	unsigned int first = 0, last = table->nr;

	while (last - first > 1) {
		unsigned int middle = first + (last - first) / 2;

		if (krp_orc_addr(&table->ip[middle]) <= addr)
			first = middle;
		else
			last = middle;
	}
	return &table->orc[first];
}

/* The entry that covers @addr, or NULL. */
static const struct orc_entry *krp_orc_lookup(unsigned long addr)
{
	const struct krp_orc_table *table;

	if (addr >= krp_orc_kernel.start && addr < krp_orc_kernel.end)
		return krp_orc_search(&krp_orc_kernel, addr);
	/*
	 * Preemption is off. Not the variant that lockdep checks: its functions may
	 * be hooked, and nothing stops these hooks from coming back here.
	 */
	list_for_each_entry_lockless(table, &krp_orc_modules, list)
		if (addr >= table->start && addr < table->end)
			return krp_orc_search(table, addr);
	return NULL;
}

/*
 * The caller behind others' trampolines. The hooks that put them there have
 * run before ours, so what they know of this call is known by now.
 */
static unsigned long krp_orc_resolve(unsigned long ret_addr, unsigned long *slot)
{
	struct llist_node *cursor = NULL;
	int index = 0;

	if (ret_addr == krp_orc_rethook && krp_rethook_find)
		return krp_arch_call(krp_rethook_find, (unsigned long)current,
				     (unsigned long)slot, (unsigned long)&cursor, 0);
	if (ret_addr == krp_orc_graph && krp_graph_find)
		return krp_arch_call(krp_graph_find, (unsigned long)current,
				     (unsigned long)&index, ret_addr, (unsigned long)slot);
	return ret_addr;
}

/* The entry for a call that returns to @ret_addr; @cache: may it be kept? */
static const struct orc_entry *krp_orc_find(unsigned long ret_addr, unsigned long *slot,
					    bool *cache)
{
	const struct orc_entry *orc;
	unsigned long real = krp_orc_resolve(ret_addr, slot);

	*cache = false;
	if (krp_arch_is_thunk(real))
		return &krp_orc_thunks[krp_arch_thunk_nr(real)];
	if (!real || real == krp_orc_rethook || real == krp_orc_graph)
		return &krp_orc_unknown;
	/* As unwinders do: the call, not what follows it. */
	orc = krp_orc_lookup(real - 1);
	if (!orc)
		return &krp_orc_frame_pointer;
	*cache = real == ret_addr;
	return orc;
}

/**
 * krp_arch_trace_find() - borrow the entry of a caller that is not in the cache
 * @inst: the instance, not yet in flight
 * @ret_addr: where the call returns to
 * @slot: where that stood
 *
 * Context: any, NMI included; preemption off.
 */
void __kprobes krp_arch_trace_find(struct krp_instance *inst, unsigned long ret_addr,
				   unsigned long *slot)
{
	const struct orc_entry *orc;
	bool cache;

	orc = krp_orc_find(ret_addr, slot, &cache);
	*(struct orc_entry *)inst->trace_entry = *orc;
	WRITE_ONCE(inst->trace_ret, cache ? ret_addr : 0);
	/* Both halves have their upper bits in common with all kernel text. */
	if (cache && (long)(int)ret_addr == (long)ret_addr && (long)(int)(long)orc == (long)orc)
		WRITE_ONCE(krp_orc_cache[krp_orc_hash(ret_addr)],
			   ret_addr << 32 | (u32)(unsigned long)orc);
}

/**
 * krp_arch_trace_init_instance() - tell an instance where its thunk's entry is
 * @inst: an instance that has just got a thunk
 *
 * Context: process, krp_mutex held.
 */
void krp_arch_trace_init_instance(struct krp_instance *inst)
{
	inst->trace_ret = 0;
	if (krp_orc_thunks)
		inst->trace_entry = &krp_orc_thunks[krp_arch_thunk_nr(inst->thunk)];
}

/**
 * krp_arch_trace_whole() - do unwinders get the table with borrowed entries?
 *
 * Context: any.
 * Return: false if traces stop at thunks.
 */
bool krp_arch_trace_whole(void)
{
	return krp_orc_borrowed && READ_ONCE(THIS_MODULE->arch.orc_unwind) == krp_orc_borrowed;
}

/* Which table the unwinder gets. krp_mutex held. */
static void krp_orc_choose(void)
{
	/* One pointer: an unwinder sees one table or the other. */
	WRITE_ONCE(THIS_MODULE->arch.orc_unwind,
		   krp_orc_livepatches ? krp_orc_undefined : krp_orc_borrowed);
	/* Unwinders run with preemption off; those with the old one finish. */
	synchronize_rcu();
}

static void krp_orc_forget_instance(void *obj, void *data)
{
	const struct krp_orc_table *table = data;
	struct krp_instance *inst = obj;
	unsigned long ret_addr = READ_ONCE(inst->trace_ret);

	/* What a hit writes meanwhile, it is asked to find anew: no harm. */
	if (ret_addr >= table->start && ret_addr <= table->end)
		WRITE_ONCE(inst->trace_ret, 0);
}

/* The text is about to go: nothing runs in it, and nothing may remember it. */
static void krp_orc_forget(struct krp_orc_table *table)
{
	struct krp_rethook *rh;
	unsigned int i;

	list_del_rcu(&table->list);
	for (i = 0; i < ARRAY_SIZE(krp_orc_cache); i++) {
		unsigned long ret_addr = (s64)READ_ONCE(krp_orc_cache[i]) >> 32;

		if (ret_addr >= table->start && ret_addr <= table->end)
			WRITE_ONCE(krp_orc_cache[i], 0);
	}
	list_for_each_entry(rh, &krp_rethooks, list)
		krp_rethook_visit_instances(rh, krp_orc_forget_instance, table);
	kfree_rcu(table, rcu);
}

/* Without it, callers in there count as code that has no ORC data. */
static void krp_orc_remember(struct module *mod, bool init)
{
	struct krp_orc_table *table = kzalloc(sizeof(*table), GFP_ATOMIC);

	if (!table)
		return;
	krp_module_text(mod, init, &table->start, &table->end);
	table->mod = mod;
	table->init = init;
	table->ip = mod->arch.orc_unwind_ip;
	table->orc = mod->arch.orc_unwind;
	table->nr = mod->arch.num_orcs;
	if (table->nr && table->end > table->start)
		list_add_rcu(&table->list, &krp_orc_modules);
	else
		kfree(table);
}

static bool krp_orc_known(struct module *mod)
{
	struct krp_orc_table *table;

	list_for_each_entry(table, &krp_orc_modules, list)
		if (table->mod == mod)
			return true;
	return false;
}

static void krp_orc_module_add(struct module *mod)
{
	if (mod == THIS_MODULE || krp_orc_known(mod))
		return;
	krp_orc_remember(mod, false);
	if (mod->state == MODULE_STATE_COMING)
		krp_orc_remember(mod, true);
	krp_orc_livepatches += is_livepatch_module(mod);
}

static void krp_orc_module_del(struct module *mod, bool init_only)
{
	struct krp_orc_table *table, *next;

	list_for_each_entry_safe(table, next, &krp_orc_modules, list)
		if (table->mod == mod && (table->init || !init_only))
			krp_orc_forget(table);
}

static int krp_orc_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	unsigned int livepatches;

	mutex_lock(&krp_mutex);
	livepatches = krp_orc_livepatches;
	switch (event) {
	case MODULE_STATE_COMING:
		krp_orc_module_add(data);
		break;
	case MODULE_STATE_LIVE:
		krp_orc_module_del(data, true);
		break;
	case MODULE_STATE_GOING:
		krp_orc_livepatches -= is_livepatch_module(data);
		krp_orc_module_del(data, false);
		break;
	}
	/* Before the patch is enabled, and after it is gone. */
	if (!livepatches != !krp_orc_livepatches)
		krp_orc_choose();
	mutex_unlock(&krp_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block krp_orc_nb = { .notifier_call = krp_orc_module_event };

/* Modules that were there before. */
static void krp_orc_modules_init(struct list_head *modules)
{
	struct module *mod;

	mutex_lock(&krp_mutex);
	preempt_disable();
	list_for_each_entry_rcu(mod, modules, list)
		if (mod->state == MODULE_STATE_LIVE || mod->state == MODULE_STATE_COMING)
			krp_orc_module_add(mod);
	preempt_enable();
	krp_orc_choose();
	mutex_unlock(&krp_mutex);
}

static void krp_orc_put(unsigned int nr, unsigned long addr, const struct orc_entry *orc)
{
	krp_orc_ip[nr] = addr - (unsigned long)&krp_orc_ip[nr];
	krp_orc_borrowed[nr] = *orc;
	krp_orc_undefined[nr] = *orc;
}

/* The module's own entries, sorted as they are, with the thunks' among them. */
static unsigned int krp_orc_splice(const struct krp_orc_table *own)
{
	unsigned long first = krp_arch_thunk_addr(0);
	unsigned long end = krp_arch_thunk_addr(KRP_NR_THUNKS);
	unsigned int i, nr = 0;

	/* objtool knows of these two labels, not of the bytes before them. */
	OPTIMIZER_HIDE_VAR(first);
	OPTIMIZER_HIDE_VAR(end);
	/* An unwinder looks at the return address - 1. */
	first--;
	krp_orc_unknown = *krp_orc_search(own, first);
	for (i = 0; i < own->nr && krp_orc_addr(&own->ip[i]) < first; i++)
		krp_orc_put(nr++, krp_orc_addr(&own->ip[i]), &own->orc[i]);
	krp_orc_thunks = &krp_orc_borrowed[nr];
	while (first < end - 1) {
		krp_orc_put(nr++, first, &krp_orc_unknown);
		first += KRP_THUNK_SIZE;
	}
	krp_orc_put(nr++, end - 1, &krp_orc_unknown);
	for (; i < own->nr; i++)
		if (krp_orc_addr(&own->ip[i]) >= end)
			krp_orc_put(nr++, krp_orc_addr(&own->ip[i]), &own->orc[i]);
	return nr;
}

/* Finds what the kernel does not export; false if it cannot be found. */
static bool krp_orc_symbols(void)
{
	unsigned long ip = krp_symbol_addr("__start_orc_unwind_ip");
	unsigned long ip_end = krp_symbol_addr("__stop_orc_unwind_ip");

	krp_orc_kernel.ip = (const int *)ip;
	krp_orc_kernel.nr = (ip_end - ip) / sizeof(int);
	krp_orc_kernel.orc = (const struct orc_entry *)krp_symbol_addr("__start_orc_unwind");
	krp_orc_kernel.start = krp_symbol_addr("_text");
	krp_orc_kernel.end = krp_symbol_addr("_einittext");
	if (!ip || !ip_end || !krp_orc_kernel.orc || !krp_orc_kernel.start || !krp_orc_kernel.end)
		return false;

	krp_orc_rethook = krp_symbol_addr(KRP_RETHOOK_TRAMPOLINE);
	krp_rethook_find = krp_symbol_addr("rethook_find_ret_addr");
	krp_orc_graph = krp_symbol_addr("return_to_handler");
	krp_graph_find = krp_symbol_addr("ftrace_graph_ret_addr");
	return true;
}

/**
 * krp_arch_trace_init() - make stack traces whole, if asked for and possible
 *
 * Before the first thunk is in use. If it is not possible the log says why, and
 * traces stop at hooked calls.
 *
 * Context: process.
 */
void krp_arch_trace_init(void)
{
	struct mod_arch_specific *arch = &THIS_MODULE->arch;
	struct krp_orc_table own = {
		.ip = arch->orc_unwind_ip, .orc = arch->orc_unwind, .nr = arch->num_orcs,
	};
	struct list_head *modules;
	unsigned int nr;

	if (!stacktrace)
		return;
	modules = (struct list_head *)krp_symbol_addr("modules");
	if (!modules || !krp_orc_symbols()) {
		pr_info("stack traces will stop at hooked calls: the kernel lacks CONFIG_KALLSYMS_ALL\n");
		return;
	}
	krp_orc_borrowed = kvmalloc_array(KRP_ORC_MAX, sizeof(*krp_orc_borrowed), GFP_KERNEL);
	krp_orc_undefined = kvmalloc_array(KRP_ORC_MAX, sizeof(*krp_orc_undefined), GFP_KERNEL);
	if (!own.nr || own.nr >= KRP_ORC_OWN || !krp_orc_borrowed || !krp_orc_undefined ||
	    register_module_notifier(&krp_orc_nb)) {
		pr_info("stack traces will stop at hooked calls: no memory, or no ORC data\n");
		kvfree(krp_orc_borrowed);
		kvfree(krp_orc_undefined);
		krp_orc_borrowed = NULL;
		return;
	}
	krp_orc_saved = *arch;
	nr = krp_orc_splice(&own);
	/*
	 * An unwinder may see some of these and not others: it stays within
	 * the tables, and errs only about this very function's caller.
	 */
	WRITE_ONCE(arch->orc_unwind_ip, krp_orc_ip);
	WRITE_ONCE(arch->orc_unwind, krp_orc_undefined);
	WRITE_ONCE(arch->num_orcs, nr);
	krp_orc_modules_init(modules);
	static_branch_enable(&krp_trace_key);
}

/**
 * krp_arch_trace_exit() - undo krp_arch_trace_init()
 *
 * Context: process; no thunk is in use.
 */
void krp_arch_trace_exit(void)
{
	struct mod_arch_specific *arch = &THIS_MODULE->arch;
	struct krp_orc_table *table, *next;

	if (!krp_orc_borrowed)
		return;
	static_branch_disable(&krp_trace_key);
	unregister_module_notifier(&krp_orc_nb);
	WRITE_ONCE(arch->num_orcs, krp_orc_saved.num_orcs);
	WRITE_ONCE(arch->orc_unwind, krp_orc_saved.orc_unwind);
	WRITE_ONCE(arch->orc_unwind_ip, krp_orc_saved.orc_unwind_ip);
	/* Unwinders run with preemption off. */
	synchronize_rcu();
	list_for_each_entry_safe(table, next, &krp_orc_modules, list)
		kfree(table);
	kvfree(krp_orc_borrowed);
	kvfree(krp_orc_undefined);
}
