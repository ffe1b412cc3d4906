// SPDX-License-Identifier: GPL-2.0-only
/*
 * How calls are caught: one ftrace_ops for all functions; a kprobe each for
 * those that ftrace cannot reach. Whatever the number of functions that are
 * hooked or unhooked together, ftrace patches code once for all of them. Old
 * kernels can only do that with an ftrace_ops that is new: there, many functions
 * get one of their own. No function is ever in two of the same way.
 *
 * A second ftrace_ops serves rethooks whose handlers want all registers at
 * entry. Only calls of functions that have rethooks of both kinds pay for two.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "rethook_internal.h"
#include "symbols.h"

/**
 * struct krp_hook - a set of functions whose calls are caught
 * @ops: for ftrace: its filter is the set
 * @nr: functions in it
 * @list: on krp_hooks_more, if it is one of these
 */
struct krp_hook {
	struct ftrace_ops ops;
	unsigned int nr;
	struct list_head list;
};

/* The last stands for all those that have their kprobe. */
static struct krp_hook krp_hooks[KRP_NR_WAYS] = {
	[KRP_BY_FTRACE_ARGS] = {
		.ops = {
			.func = krp_ftrace_entry_args,
			.flags = KRP_FTRACE_ARGS_FLAGS,
		},
	},
	[KRP_BY_FTRACE_REGS] = {
		.ops = {
			.func = krp_ftrace_entry_regs,
			.flags = KRP_FTRACE_REGS_FLAGS,
		},
	},
};

/* Those of many functions, where they need their own. */
static LIST_HEAD(krp_hooks_more);

/* What is to catch calls, with all registers if @full. */
static enum krp_way krp_way_for(bool full)
{
	/* A second ftrace_ops that does the same would make all hits dearer. */
	if (!full || KRP_FTRACE_ARGS_FLAGS == KRP_FTRACE_REGS_FLAGS)
		return KRP_FTRACE_ARGS ? KRP_BY_FTRACE_ARGS : KRP_BY_KPROBE;
	return KRP_FTRACE_REGS ? KRP_BY_FTRACE_REGS : KRP_BY_KPROBE;
}

/**
 * krp_way_name() - what catches calls
 * @way: in which way
 *
 * Context: any.
 * Return: a word for people.
 */
const char *krp_way_name(enum krp_way way)
{
	static const char * const names[] = {
		[KRP_BY_FTRACE_ARGS] = "ftrace",
		[KRP_BY_FTRACE_REGS] = "ftrace-regs",
		[KRP_BY_KPROBE] = "kprobe",
	};

	return names[way];
}

/**
 * krp_hook_many_possible() - can many functions be hooked at once?
 * @full: with all registers at entry
 *
 * Context: any.
 * Return: false if that would take a kprobe each.
 */
bool krp_hook_many_possible(bool full)
{
	return krp_way_for(full) != KRP_BY_KPROBE;
}

/**
 * krp_hook_is_ftrace() - will ftrace catch the calls of a rethook?
 * @rh: the rethook
 *
 * Context: process, krp_mutex held.
 * Return: false if a kprobe will.
 */
bool krp_hook_is_ftrace(const struct krp_rethook *rh)
{
	if (krp_way_for(rh->flags & KRP_RETHOOK_FULL_REGS) == KRP_BY_KPROBE)
		return false;
	/* Of many functions all are known to be. */
	return rh->links != &rh->one || krp_symbols_traceable(rh->one.func->ip);
}

/* Few at a time if there is no memory for more. */
#define KRP_CHANGE_MIN	32

/* A function that is about to be hooked, or unhooked. */
struct krp_changed {
	struct krp_func *func;
	struct krp_hook *hook;
	unsigned long ip;
};

/**
 * struct krp_change - functions about to be hooked, or unhooked, in one way
 * @way: in which
 * @on: are they to be hooked?
 * @nr: how many are noted
 * @max: how many there is room for
 * @funcs: the functions, and what hooks them now
 * @ips: room for addresses
 * @few_funcs: what @funcs is without memory
 * @few_ips: and @ips
 */
struct krp_change {
	enum krp_way way;
	bool on;
	unsigned int nr;
	unsigned int max;
	struct krp_changed *funcs;
	unsigned long *ips;
	struct krp_changed few_funcs[KRP_CHANGE_MIN];
	unsigned long few_ips[KRP_CHANGE_MIN];
};

/* Only one at a time: krp_mutex. */
static struct krp_change krp_change;

static struct krp_change *krp_change_begin(unsigned long max, bool on)
{
	struct krp_change *change = &krp_change;

	change->on = on;
	change->nr = 0;
	change->max = KRP_CHANGE_MIN;
	change->funcs = change->few_funcs;
	change->ips = change->few_ips;
	if (max > KRP_CHANGE_MIN) {
		void *both = kvmalloc_array(max, sizeof(*change->funcs) + sizeof(*change->ips),
					    GFP_KERNEL | __GFP_NOWARN);

		if (both) {
			change->max = max;
			change->funcs = both;
			change->ips = both + max * sizeof(*change->funcs);
		}
	}
	return change;
}

static void krp_change_end(struct krp_change *change)
{
	if (change->funcs != change->few_funcs)
		kvfree(change->funcs);
}

/* What is to hook @nr more functions; NULL if there is no memory. */
static struct krp_hook *krp_hook_for(enum krp_way way, unsigned int nr)
{
	struct krp_hook *hook = &krp_hooks[way];

	if (way == KRP_BY_KPROBE || KRP_FTRACE_ADDS_MANY || !hook->nr || nr < KRP_FTRACE_MANY)
		return hook;
	hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	if (!hook)
		return NULL;
	hook->ops.func = krp_hooks[way].ops.func;
	hook->ops.flags = way == KRP_BY_FTRACE_ARGS ? KRP_FTRACE_ARGS_FLAGS : KRP_FTRACE_REGS_FLAGS;
	list_add(&hook->list, &krp_hooks_more);
	return hook;
}

/* Nothing is in it any more. */
static void krp_hook_put(struct krp_hook *hook)
{
	if (hook->nr || (hook >= krp_hooks && hook < krp_hooks + KRP_NR_WAYS))
		return;
	list_del(&hook->list);
	kfree(hook);
}

/* An empty filter would mean everything: no hook has one while it is registered. */
static int krp_hook_add(struct krp_hook *hook, unsigned long *ips, unsigned int nr)
{
	int ret = krp_ftrace_set_filter_ips(&hook->ops, ips, nr, 0, !hook->nr);

	if (!ret && !hook->nr) {
		ret = register_ftrace_function(&hook->ops);
		if (ret)
			krp_ftrace_free_filter(&hook->ops);
	}
	if (!ret)
		hook->nr += nr;
	return ret;
}

static int krp_hook_del(struct krp_hook *hook, unsigned long *ips, unsigned int nr)
{
	int ret = 0;

	if (hook->nr == nr) {
		unregister_ftrace_function(&hook->ops);
		krp_ftrace_free_filter(&hook->ops);
	} else {
		ret = krp_ftrace_set_filter_ips(&hook->ops, ips, nr, 1, 0);
	}
	if (!ret)
		hook->nr -= nr;
	return ret;
}

static int krp_kprobes_on(const struct krp_change *change)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < change->nr && !ret; i++)
		ret = enable_kprobe(&change->funcs[i].func->probe->kp);
	if (ret)
		while (--i)
			disable_kprobe(&change->funcs[i - 1].func->probe->kp);
	return ret;
}

/* All that has been noted, or on failure nothing. */
static int krp_change_on(struct krp_change *change)
{
	struct krp_hook *hook = krp_hook_for(change->way, change->nr);
	unsigned int i;
	int ret;

	if (!hook) {
		ret = -ENOMEM;
	} else if (change->way == KRP_BY_KPROBE) {
		ret = krp_kprobes_on(change);
	} else {
		for (i = 0; i < change->nr; i++)
			change->ips[i] = change->funcs[i].ip;
		ret = krp_hook_add(hook, change->ips, change->nr);
		krp_hook_put(hook);
	}
	for (i = 0; i < change->nr; i++)
		change->funcs[i].func->hook[change->way] = ret ? NULL : hook;
	return ret;
}

/*
 * What has been noted, as far as @hook has it. What cannot be unhooked, for want
 * of memory, stays so: calls of it find nobody that wants to know, and who hooks
 * it again need not.
 */
static void krp_change_off(struct krp_change *change, struct krp_hook *hook)
{
	unsigned int i, n = 0;
	int ret;

	for (i = 0; i < change->nr; i++)
		if (change->funcs[i].hook == hook)
			change->ips[n++] = change->funcs[i].ip;
	if (!n)
		return;
	ret = krp_hook_del(hook, change->ips, n);
	for (i = 0; i < change->nr; i++)
		if (change->funcs[i].hook == hook)
			change->funcs[i].func->hook[change->way] = ret ? hook : NULL;
	krp_hook_put(hook);
}

static int krp_change_apply(struct krp_change *change)
{
	struct krp_hook *hook, *next;
	unsigned int i;
	int ret = 0;

	if (!change->nr)
		return 0;
	if (change->on) {
		ret = krp_change_on(change);
	} else if (change->way == KRP_BY_KPROBE) {
		for (i = 0; i < change->nr; i++) {
			disable_kprobe(&change->funcs[i].func->probe->kp);
			change->funcs[i].func->hook[change->way] = NULL;
		}
	} else {
		krp_change_off(change, &krp_hooks[change->way]);
		list_for_each_entry_safe(hook, next, &krp_hooks_more, list)
			krp_change_off(change, hook);
	}
	change->nr = 0;
	return ret;
}

/* In &krp_func.hook of those that have been noted. */
static struct krp_hook krp_hook_noted;

static int krp_change_note(struct krp_change *change, struct krp_func *func)
{
	struct krp_hook **hook = &func->hook[change->way];
	int ret = 0;

	if (*hook == &krp_hook_noted || !*hook != change->on)
		return 0;
	if (change->nr == change->max)
		ret = krp_change_apply(change);
	if (!ret) {
		change->funcs[change->nr++] = (struct krp_changed){
			.func = func, .hook = *hook, .ip = func->ip,
		};
		*hook = &krp_hook_noted;
	}
	return ret;
}

/* Lets the hit path take its short way, or not. */
static void krp_func_choose(struct krp_func *func, enum krp_way way)
{
	struct krp_link *link = func->links[way];

	/* Pairs with the dependent reads in krp_ftrace_entry(): seen filled in. */
	smp_store_release(&func->only[way],
			  link && !link->next && !link->rh->entry && !link->timed ? link : NULL);
}

static void krp_link_add(struct krp_link *link, enum krp_way way)
{
	struct krp_func *func = link->func;
	struct krp_link **end = &func->links[way];

	/* Behind the others: calls arriving from now on must find it. */
	WRITE_ONCE(func->only[way], NULL);
	while (*end)
		end = &(*end)->next;
	link->next = NULL;
	link->slots = link->rh->pool.slots;
	link->timed = link->rh->flags & KRP_RETHOOK_TIMED;
	link->unwatched_base = atomic_long_read(&func->unwatched[way]);
	/* Pairs with the dependent reads in krp_func_entry(): seen filled in. */
	smp_store_release(end, link);
	krp_func_choose(func, way);
}

static void krp_link_del(struct krp_link *link, enum krp_way way)
{
	struct krp_func *func = link->func;
	struct krp_link **at = &func->links[way];

	while (*at && *at != link)
		at = &(*at)->next;
	/* Not there if arming has failed before it. */
	if (!*at)
		return;
	link->rh->unwatched += atomic_long_read(&func->unwatched[way]) - link->unwatched_base;
	/* @link->next stays, for those who stand on it. */
	WRITE_ONCE(*at, link->next);
	krp_func_choose(func, way);
}

static unsigned long krp_links_of(struct krp_rethook **rhs, int num)
{
	unsigned long nr = 0;
	int i;

	for (i = 0; i < num; i++)
		nr += rhs[i]->nr_links;
	return nr;
}

/*
 * Links come last: what is hooked already is being called while the rest is
 * patched, not least by what patches it.
 */
static int krp_arm_by(struct krp_rethook **rhs, int num, struct krp_change *change)
{
	unsigned int n;
	int i, ret = 0;

	for (i = 0; i < num; i++)
		for (n = 0; rhs[i]->way == change->way && n < rhs[i]->nr_links && !ret; n++)
			if (!rhs[i]->links[n].gone)
				ret = krp_change_note(change, rhs[i]->links[n].func);
	if (!ret)
		ret = krp_change_apply(change);
	if (ret)
		return ret;
	for (i = 0; i < num; i++)
		for (n = 0; rhs[i]->way == change->way && n < rhs[i]->nr_links; n++)
			if (!rhs[i]->links[n].gone)
				krp_link_add(&rhs[i]->links[n], rhs[i]->way);
	return 0;
}

static void krp_disarm_by(struct krp_rethook **rhs, int num, struct krp_change *change)
{
	unsigned int n;
	int i;

	for (i = 0; i < num; i++) {
		struct krp_rethook *rh = rhs[i];

		if (rh->way != change->way)
			continue;
		for (n = 0; n < rh->nr_links; n++) {
			struct krp_func *func = rh->links[n].func;

			if (rh->links[n].gone)
				continue;
			krp_link_del(&rh->links[n], rh->way);
			if (!func->links[rh->way])
				krp_change_note(change, func);
		}
	}
	krp_change_apply(change);
}

/* All of them in every way up to @last, which need not be armed completely. */
static void krp_disarm(struct krp_rethook **rhs, int num, enum krp_way last)
{
	struct krp_change *change = krp_change_begin(krp_links_of(rhs, num), false);

	for (change->way = 0; change->way <= last; change->way++)
		krp_disarm_by(rhs, num, change);
	krp_change_end(change);
}

/**
 * krp_hook_arm_batch() - let rethooks see calls of their functions
 * @rhs: rethooks that are not armed
 * @num: how many
 *
 * Context: process, krp_mutex held.
 * Return: 0, all are KRP_ENABLED; or what ftrace or kprobes returned, nothing
 * has changed then, and an RCU grace period must pass before they are freed.
 */
int krp_hook_arm_batch(struct krp_rethook **rhs, int num)
{
	struct krp_change *change;
	enum krp_way way;
	int i, ret = 0;

	for (i = 0; i < num; i++) {
		struct krp_rethook *rh = rhs[i];

		rh->way = krp_hook_is_ftrace(rh) ?
			  krp_way_for(rh->flags & KRP_RETHOOK_FULL_REGS) : KRP_BY_KPROBE;
	}
	change = krp_change_begin(krp_links_of(rhs, num), true);
	for (way = 0; way < KRP_NR_WAYS && !ret; way++) {
		change->way = way;
		ret = krp_arm_by(rhs, num, change);
	}
	krp_change_end(change);
	if (ret) {
		krp_disarm(rhs, num, way - 1);
		return ret;
	}
	for (i = 0; i < num; i++)
		rhs[i]->state = KRP_ENABLED;
	return 0;
}

/**
 * krp_hook_disarm_batch() - let rethooks see no more calls of their functions
 * @rhs: rethooks; those that are not armed are passed over
 * @num: how many
 *
 * Calls that are being entered may still use them until an RCU grace period
 * has passed.
 *
 * Context: process, krp_mutex held.
 */
void krp_hook_disarm_batch(struct krp_rethook **rhs, int num)
{
	int i;

	krp_disarm(rhs, num, KRP_NR_WAYS - 1);
	for (i = 0; i < num; i++)
		if (rhs[i]->state == KRP_ENABLED)
			rhs[i]->state = KRP_DISABLED;
}

/* Takes the functions of a module that goes off a rethook. */
static void krp_rethook_leave(struct krp_rethook *rh, struct module *mod,
			      struct krp_change *change)
{
	unsigned int n, gone = 0;

	for (n = 0; n < rh->nr_links; n++) {
		struct krp_link *link = &rh->links[n];

		if (link->gone || !within_module(link->func->ip, mod))
			continue;
		if (rh->state == KRP_ENABLED) {
			krp_link_del(link, rh->way);
			if (!link->func->links[rh->way])
				krp_change_note(change, link->func);
		}
		link->gone = true;
		gone++;
	}
	if (!gone)
		return;
	rh->nr_gone += gone;
	if (rh->nr_gone == rh->nr_links)
		rh->state = KRP_GONE;
	if (rh->links == &rh->one)
		pr_info("%s is gone with its module; unregister the probe\n", rh->name);
	else
		pr_info("%s: %u functions are gone with module %s\n", rh->name, gone, mod->name);
}

/* A module goes: its functions, and ftrace's notion of them, with it. */
static int krp_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct krp_change *change;
	struct krp_rethook *rh;
	unsigned long max = 0;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list)
		max += rh->nr_links;
	change = krp_change_begin(max, false);
	for (change->way = 0; change->way < KRP_NR_WAYS; change->way++) {
		list_for_each_entry(rh, &krp_rethooks, list)
			if (rh->way == change->way && rh->state != KRP_DRAINING &&
			    rh->state != KRP_GONE)
				krp_rethook_leave(rh, data, change);
		krp_change_apply(change);
	}
	krp_change_end(change);
	mutex_unlock(&krp_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block krp_module_nb = { .notifier_call = krp_module_event };

/**
 * krp_hook_init() - get ready to hook functions
 *
 * Context: process.
 * Return: 0 or a negative error.
 */
int krp_hook_init(void)
{
	int ret = krp_funcs_init();

	if (ret)
		return ret;
	krp_symbols_init();
	ret = register_module_notifier(&krp_module_nb);
	if (ret)
		krp_funcs_exit();
	return ret;
}

/**
 * krp_hook_exit() - undo krp_hook_init()
 *
 * Context: process; nothing is hooked.
 */
void krp_hook_exit(void)
{
	unsigned int i;

	unregister_module_notifier(&krp_module_nb);
	for (i = 0; i < ARRAY_SIZE(krp_hooks); i++)
		krp_ftrace_free_filter(&krp_hooks[i].ops);
	krp_funcs_exit();
}
