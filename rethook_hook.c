// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions and how calls of them are caught: one ftrace_ops for all, found
 * again through a hash table that grows; a kprobe each for those that ftrace
 * cannot reach.
 *
 * A second ftrace_ops serves rethooks whose handlers want all registers at
 * entry. Only calls of functions that have rethooks of both kinds pay for two.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "rethook_internal.h"

#define KRP_FUNC_BITS_MIN	6

struct krp_func_table *krp_funcs;
struct krp_func krp_func_none;

/* Refused beyond the kernel's blacklist: they do not return like others. */
static const char * const krp_refused[] = {
	"do_task_dead", "__schedule", KRP_ARCH_REFUSED,
	/* A CPU goes offline below these. */
	"cpu_startup_entry", "do_idle", "arch_cpu_idle_dead", "play_dead",
	/* 5.10: watched by RCU at entry and not at return. */
	"rcu_idle_enter",
	/* Below it krp_process_exit() takes back what will not return. */
	"__traceiter_sched_process_exit",
};

/**
 * struct krp_hook - a set of functions that ftrace hooks in one way
 * @ops: its filter is the set
 * @nr: functions in it
 */
struct krp_hook {
	struct ftrace_ops ops;
	unsigned int nr;
};

static struct krp_hook krp_hooks[] = {
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

static struct krp_func_table *krp_table_alloc(unsigned int bits)
{
	/* Behind the last slot as many as there can be entries, and one empty. */
	unsigned long i, slots = (3UL << bits) / 2 + 1;
	struct krp_func_table *table = kvzalloc(struct_size(table, slots, slots), GFP_KERNEL);

	if (!table)
		return NULL;
	table->shift = 32 - bits;
	for (i = 0; i < slots; i++)
		table->slots[i] = &krp_func_none;
	return table;
}

static void krp_table_add(struct krp_func_table *table, struct krp_func *func)
{
	struct krp_func **slot = &table->slots[krp_func_hash(table, func->ip)];

	while (*slot != &krp_func_none)
		slot++;
	/* Pairs with the dependent reads in krp_func_find(): seen filled in. */
	smp_store_release(slot, func);
	table->nr++;
}

/* Calls @fn for every function of a table. */
static void krp_table_walk(struct krp_func_table *table,
			   void (*fn)(struct krp_func *func, void *data), void *data)
{
	struct krp_func **slot = table->slots;
	unsigned long n = table->nr;

	while (n) {
		if (*slot != &krp_func_none) {
			fn(*slot, data);
			n--;
		}
		slot++;
	}
}

static void krp_table_copy(struct krp_func *func, void *data)
{
	krp_table_add(data, func);
}

static void krp_func_free(struct krp_func *func, void *data)
{
	kfree(func);
}

/* Makes room for one more. Old tables stay: see struct krp_func. */
static int krp_table_grow(void)
{
	struct krp_func_table *old = krp_funcs, *table;
	unsigned int bits = 32 - old->shift;

	if (old->nr < (1UL << bits) / 2)
		return 0;
	table = krp_table_alloc(bits + 1);
	if (!table)
		return -ENOMEM;
	krp_table_walk(old, krp_table_copy, table);
	table->older = old;
	/* Pairs with the dependent reads in krp_func_find(): seen filled in. */
	smp_store_release(&krp_funcs, table);
	return 0;
}

/* Puts @func->ip into a hook's filter; an empty filter would mean everything. */
static int krp_hook_add(struct krp_hook *hook, unsigned long ip)
{
	int ret = krp_ftrace_set_filter_ip(&hook->ops, ip, 0, !hook->nr);

	if (!ret && !hook->nr) {
		ret = register_ftrace_function(&hook->ops);
		if (ret)
			krp_ftrace_set_filter_ip(&hook->ops, ip, 1, 0);
	}
	if (!ret)
		hook->nr++;
	return ret;
}

static void krp_hook_del(struct krp_hook *hook, unsigned long ip)
{
	if (!--hook->nr)
		unregister_ftrace_function(&hook->ops);
	krp_ftrace_set_filter_ip(&hook->ops, ip, 1, 0);
}

static int krp_func_hook(struct krp_func *func, enum krp_way way)
{
	if (way == KRP_BY_KPROBE)
		return enable_kprobe(&func->kp);
	return krp_hook_add(&krp_hooks[way], func->ip);
}

static void krp_func_unhook(struct krp_func *func, enum krp_way way)
{
	if (way == KRP_BY_KPROBE)
		disable_kprobe(&func->kp);
	else
		krp_hook_del(&krp_hooks[way], func->ip);
}

/* Lets the hit path take its short way, or not. */
static void krp_func_choose(struct krp_func *func, enum krp_way way)
{
	struct krp_rethook *rh = func->rethooks[way];

	/* Pairs with the dependent reads in krp_ftrace_entry(): seen filled in. */
	smp_store_release(&func->only[way], rh && !rh->next && !rh->entry ? rh : NULL);
}

static int krp_func_arm_by(struct krp_func *func, struct krp_rethook *rh, enum krp_way way)
{
	struct krp_rethook **link = &func->rethooks[way];
	bool first = !*link;
	int ret;

	/* Behind the others: calls arriving from now on must find it. */
	WRITE_ONCE(func->only[way], NULL);
	while (*link)
		link = &(*link)->next;
	rh->next = NULL;
	rh->way = way;
	rh->unwatched_base = atomic_long_read(&func->unwatched[way]);
	/* Pairs with the dependent reads in krp_func_entry(): seen filled in. */
	smp_store_release(link, rh);

	ret = first ? krp_func_hook(func, way) : 0;
	if (ret)
		WRITE_ONCE(*link, NULL);
	krp_func_choose(func, way);
	return ret;
}

/**
 * krp_func_arm() - let a rethook see calls of its function
 * @func: the function
 * @rh: a rethook that is not armed
 *
 * Context: process, krp_mutex held.
 * Return: 0 or what ftrace or kprobes returned; nothing has changed then.
 */
int krp_func_arm(struct krp_func *func, struct krp_rethook *rh)
{
	enum krp_way way = krp_way_for(rh->flags & KRP_RETHOOK_FULL_REGS);
	int ret = krp_func_arm_by(func, rh, way);

	/* Not a place that ftrace patches. */
	if (ret == -EINVAL && way != KRP_BY_KPROBE)
		ret = krp_func_arm_by(func, rh, KRP_BY_KPROBE);
	return ret;
}

/**
 * krp_func_unwatched() - calls of an armed rethook that RCU did not watch
 * @rh: a rethook
 *
 * They are counted by function: the rethook could not be looked at.
 *
 * Context: process, krp_mutex held.
 * Return: their number while it has been armed, now and before.
 */
long krp_func_unwatched(const struct krp_rethook *rh)
{
	if (rh->state != KRP_ENABLED)
		return rh->unwatched;
	return rh->unwatched + atomic_long_read(&rh->func->unwatched[rh->way]) -
	       rh->unwatched_base;
}

/**
 * krp_func_disarm() - let a rethook see no more calls of its function
 * @func: the function
 * @rh: an armed rethook
 *
 * Calls that are being entered may still use @rh until an RCU grace period
 * has passed.
 *
 * Context: process, krp_mutex held.
 */
void krp_func_disarm(struct krp_func *func, struct krp_rethook *rh)
{
	struct krp_rethook **link = &func->rethooks[rh->way];

	while (*link != rh)
		link = &(*link)->next;
	rh->unwatched = krp_func_unwatched(rh);
	/* @rh->next stays, for those who stand on it. */
	WRITE_ONCE(*link, rh->next);
	krp_func_choose(func, rh->way);
	if (!func->rethooks[rh->way] && rh->state != KRP_GONE)
		krp_func_unhook(func, rh->way);
}

/* The symbol at @addr, and how far behind its start @addr is. */
static unsigned long krp_symbol(unsigned long addr, char *name)
{
	char buf[KSYM_SYMBOL_LEN], *plus;
	unsigned long offset = 0;

	sprint_symbol(buf, addr);
	plus = strchr(buf, '+');
	if (plus) {
		if (sscanf(plus, "+%lx/", &offset) != 1)
			offset = ULONG_MAX;
		*plus = '\0';
	}
	strscpy(name, buf, KRP_FUNC_NAME_LEN);
	return offset;
}

static struct krp_func *krp_func_new(const struct krp_rethook_desc *desc)
{
	struct krp_func *func = kzalloc(sizeof(*func), GFP_KERNEL);

	if (!func)
		return NULL;
	func->kp.symbol_name = desc->symbol;
	func->kp.addr = desc->addr;
	func->kp.offset = desc->offset;
	func->kp.pre_handler = krp_kprobe_entry;
	func->kp.flags = KPROBE_FLAG_DISABLED;
	return func;
}

/* Is this a function that is never hooked? Says so. */
static int krp_func_check(struct krp_func *func, unsigned long offset, const char *name)
{
	unsigned long addr = (unsigned long)func->kp.addr;

	if (!krp_arch_on_entry(offset)) {
		pr_err("%s+%#lx is not the entry of a function\n", name, offset);
		return -EINVAL;
	}
	if (within_module(addr, THIS_MODULE)) {
		pr_err("%s is part of kretpool itself\n", name);
		return -EINVAL;
	}
	if (match_string(krp_refused, ARRAY_SIZE(krp_refused), name) >= 0) {
		pr_err("%s does not return like other functions and cannot be hooked\n", name);
		return -EINVAL;
	}
	return 0;
}

/**
 * krp_func_get() - find the function that a description means
 * @desc: says which
 * @name: KRP_FUNC_NAME_LEN bytes, filled in
 *
 * The kernel's own register_kprobe() judges the address, by means of a kprobe
 * that stays disarmed.
 *
 * Context: process, krp_mutex held.
 * Return: the function, to be given back by krp_func_put_batch(); or
 * ERR_PTR(): what register_kretprobe() returns for such a description.
 */
struct krp_func *krp_func_get(const struct krp_rethook_desc *desc, char *name)
{
	struct krp_func *func, *known;
	unsigned long offset;
	int ret;

	if (!desc->symbol == !desc->addr) {
		pr_err("give either the name or the address of a function\n");
		return ERR_PTR(-EINVAL);
	}
	if (krp_table_grow())
		return ERR_PTR(-ENOMEM);
	func = krp_func_new(desc);
	if (!func)
		return ERR_PTR(-ENOMEM);

	ret = register_kprobe(&func->kp);
	/* Not an instruction: that it is no entry either is what kretprobes say. */
	if (ret == -EILSEQ &&
	    krp_func_check(func, krp_symbol((unsigned long)func->kp.addr, name), name)) {
		ret = -EINVAL;
		goto free;
	}
	if (ret) {
		if (desc->symbol)
			pr_err("%s+%#lx: %s (%d)\n", desc->symbol, desc->offset,
			       ret == -ENOENT ? "no such function in the kernel" :
			       "the kernel refuses a probe there", ret);
		else
			pr_err("the kernel refuses a probe at the address given (%d)\n", ret);
		goto free;
	}
	/* The caller's string is not ours to keep. */
	func->kp.symbol_name = NULL;
	offset = krp_symbol((unsigned long)func->kp.addr, name);
	ret = krp_func_check(func, offset, name);
	if (ret)
		goto unregister;
	if (desc->symbol)
		strscpy(name, desc->symbol, KRP_FUNC_NAME_LEN);

	func->ip = krp_arch_ftrace_ip((unsigned long)func->kp.addr);
	known = krp_func_find(func->ip);
	if (known == &krp_func_none) {
		krp_table_add(krp_funcs, func);
		known = func;
	} else if (!known->users) {
		/* Its old kprobe is gone: let it have a new one. */
		unregister_kprobe(&func->kp);
		known->kp = (struct kprobe){
			.addr = func->kp.addr,
			.pre_handler = krp_kprobe_entry,
			.flags = KPROBE_FLAG_DISABLED,
		};
		ret = register_kprobe(&known->kp);
		if (ret)
			goto free;
	} else {
		unregister_kprobe(&func->kp);
	}
	if (known != func)
		kfree(func);
	known->users++;
	return known;

unregister:
	unregister_kprobe(&func->kp);
free:
	kfree(func);
	return ERR_PTR(ret);
}

/**
 * krp_func_put_batch() - give rethooks' functions back
 * @rhs: rethooks, disarmed
 * @num: how many
 *
 * Waits for a constant number of grace periods, whatever @num is.
 *
 * Context: process, krp_mutex held.
 */
void krp_func_put_batch(struct krp_rethook **rhs, int num)
{
	struct kprobe **kps = kvmalloc_array(num, sizeof(*kps), GFP_KERNEL);
	int i, n = 0;

	for (i = 0; i < num; i++) {
		struct krp_func *func = rhs[i]->func;

		if (--func->users)
			continue;
		if (kps)
			kps[n++] = &func->kp;
		else
			unregister_kprobe(&func->kp);
	}
	if (n)
		unregister_kprobes(kps, n);
	kvfree(kps);
}

/* A module goes: its functions, and ftrace's notion of them, with it. */
static int krp_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct krp_rethook *rh;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list) {
		if (rh->state == KRP_DRAINING || rh->state == KRP_GONE ||
		    !within_module(rh->func->ip, data))
			continue;
		if (rh->state == KRP_ENABLED)
			krp_func_disarm(rh->func, rh);
		rh->state = KRP_GONE;
		pr_info("%s is gone with its module; unregister the probe\n", rh->name);
	}
	mutex_unlock(&krp_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block krp_module_nb = { .notifier_call = krp_module_event };

/**
 * krp_hook_init() - get ready to hook functions
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int krp_hook_init(void)
{
	int ret;

	krp_funcs = krp_table_alloc(KRP_FUNC_BITS_MIN);
	if (!krp_funcs)
		return -ENOMEM;
	ret = register_module_notifier(&krp_module_nb);
	if (ret)
		kvfree(krp_funcs);
	return ret;
}

/**
 * krp_hook_exit() - forget all functions
 *
 * Context: process; nothing is hooked, so that ftrace and kprobes have waited
 * for all callbacks to end.
 */
void krp_hook_exit(void)
{
	struct krp_func_table *table = krp_funcs, *older;
	unsigned int i;

	unregister_module_notifier(&krp_module_nb);
	krp_table_walk(table, krp_func_free, NULL);
	for (; table; table = older) {
		older = table->older;
		kvfree(table);
	}
	for (i = 0; i < ARRAY_SIZE(krp_hooks); i++)
		krp_ftrace_free_filter(&krp_hooks[i].ops);
}
