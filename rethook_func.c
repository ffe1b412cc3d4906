// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions, by address: a hash table that grows. And which function it is
 * that a description means, if it may be hooked at all.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "rethook_internal.h"
#include "symbols.h"

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
 * krp_name_listed() - is a name one of a list?
 * @list: the list; its set of hashes is made when it is first asked for
 * @name: the name
 * @hash: krp_name_hash() of that
 *
 * Most names are told apart by their hash alone.
 *
 * Context: process, krp_mutex held.
 * Return: true if it is.
 */
bool krp_name_listed(struct krp_name_list *list, const char *name, unsigned int hash)
{
	unsigned int i;

	if (!list->hashed) {
		for (i = 0; i < list->nr; i++)
			__set_bit(krp_name_hash(list->names[i]), list->hashes);
		list->hashed = true;
	}
	return test_bit(hash, list->hashes) &&
	       match_string(list->names, list->nr, name) >= 0;
}

static struct krp_name_list krp_refused_list = {
	.names = krp_refused, .nr = ARRAY_SIZE(krp_refused),
};

/**
 * krp_func_refused() - is this a function that does not return like others?
 * @name: its name
 * @hash: krp_name_hash() of that
 *
 * Context: process, krp_mutex held.
 * Return: true if it must not be hooked.
 */
bool krp_func_refused(const char *name, unsigned int hash)
{
	return krp_name_listed(&krp_refused_list, name, hash);
}

static struct krp_func_table *krp_table_alloc(unsigned int bits)
{
	/* Behind the last slot as many as there can be entries, and one empty. */
	unsigned long i, slots = (9UL << bits) / 8 + 1;
	struct krp_func_table *table = kvmalloc(struct_size(table, slots, slots), GFP_KERNEL);

	if (!table)
		return NULL;
	table->mask = (1UL << bits) - 1;
	table->nr = 0;
	table->older = NULL;
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
	kfree(func->probe);
	if (!func->together)
		kfree(func);
}

/**
 * struct krp_func_block - memory for many functions
 * @next: the one before it
 * @nr: functions there is room for
 * @used: how many of these are functions by now
 * @funcs: the functions
 */
struct krp_func_block {
	struct krp_func_block *next;
	unsigned long nr;
	unsigned long used;
	struct krp_func funcs[];
};

/* Fewer are not worth a block. */
#define KRP_FUNC_BLOCK_MIN	8

static struct krp_func_block *krp_func_blocks;

/* Without memory for a block each is allocated by itself. */
static void krp_func_block_alloc(unsigned long nr)
{
	struct krp_func_block *block = krp_func_blocks;

	/* What has failed leaves its own, not used up. */
	if (nr < KRP_FUNC_BLOCK_MIN || (block && block->nr - block->used >= nr))
		return;
	block = kvmalloc(struct_size(block, funcs, nr), GFP_KERNEL | __GFP_NOWARN);
	if (!block)
		return;
	block->nr = nr;
	block->used = 0;
	block->next = krp_func_blocks;
	krp_func_blocks = block;
}

static struct krp_func *krp_func_alloc(void)
{
	struct krp_func_block *block = krp_func_blocks;
	struct krp_func *func;

	if (!block || block->used == block->nr)
		return kzalloc(sizeof(*func), GFP_KERNEL);
	func = &block->funcs[block->used++];
	*func = (struct krp_func){ .together = true };
	return func;
}

/**
 * krp_funcs_reserve() - make room for more functions
 * @more: how many
 *
 * Context: process, krp_mutex held.
 * Return: 0 or -ENOMEM.
 */
int krp_funcs_reserve(unsigned long more)
{
	struct krp_func_table *old = krp_funcs, *table;
	unsigned int bits = ilog2(old->mask + 1UL);

	krp_func_block_alloc(more);
	if (old->nr + more <= (1UL << bits) / 8)
		return 0;
	while (old->nr + more > (1UL << bits) / 8)
		bits++;
	table = krp_table_alloc(bits);
	if (!table)
		return -ENOMEM;
	krp_table_walk(old, krp_table_copy, table);
	/* Old tables stay: see struct krp_func. */
	table->older = old;
	/* Pairs with the dependent reads in krp_func_find(): seen filled in. */
	smp_store_release(&krp_funcs, table);
	return 0;
}

/**
 * krp_func_at() - the function at an address, known already or not
 * @ip: where ftrace patches it
 *
 * Context: process, krp_mutex held, after krp_funcs_reserve().
 * Return: the function, or NULL if there is no memory.
 */
struct krp_func *krp_func_at(unsigned long ip)
{
	struct krp_func *func = krp_func_find(ip);

	if (func != &krp_func_none)
		return func;
	func = krp_func_alloc();
	if (func) {
		func->ip = ip;
		krp_table_add(krp_funcs, func);
	}
	return func;
}

/**
 * krp_func_vetted() - a function that is known to be fit for krp_multi
 * @addr: its address, or where ftrace patches it
 *
 * Context: process, krp_mutex held.
 * Return: the function, or NULL if that is not known.
 */
struct krp_func *krp_func_vetted(unsigned long addr)
{
	unsigned long ip;

	for (ip = addr; ip <= addr + KRP_ARCH_FTRACE_MAX; ip += 4) {
		struct krp_func *func = krp_func_find(ip);

		if (func->vetted && (ip == addr || func->vetted == addr))
			return func;
	}
	return NULL;
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

/* Is this a function that is never hooked? Says so. */
static int krp_func_check(const struct kprobe *kp, unsigned long offset, const char *name)
{
	unsigned long addr = (unsigned long)kp->addr;

	if (!krp_arch_on_entry(offset)) {
		pr_err("%s+%#lx is not the entry of a function\n", name, offset);
		return -EINVAL;
	}
	if (within_module(addr, THIS_MODULE)) {
		pr_err("%s is part of kretpool itself\n", name);
		return -EINVAL;
	}
	if (krp_func_refused(name, krp_name_hash(name))) {
		pr_err("%s does not return like other functions and cannot be hooked\n", name);
		return -EINVAL;
	}
	return 0;
}

/* Says why the kernel wants no probe where @desc says. */
static void krp_func_complain(const struct krp_rethook_desc *desc, int ret)
{
	if (desc->symbol)
		pr_err("%s+%#lx: %s (%d)\n", desc->symbol, desc->offset,
		       ret == -ENOENT ? "no such function in the kernel" :
		       "the kernel refuses a probe there", ret);
	else
		pr_err("the kernel refuses a probe at the address given (%d)\n", ret);
}

/* A kprobe that stays disarmed, so that the kernel judges the place. Says no. */
static int krp_func_probe(struct krp_func *func, const struct krp_rethook_desc *desc, char *name)
{
	struct kprobe *kp;
	int ret;

	if (!func->probe)
		func->probe = kmalloc(sizeof(*func->probe), GFP_KERNEL);
	if (!func->probe)
		return -ENOMEM;
	func->probe->func = func;
	kp = &func->probe->kp;
	*kp = (struct kprobe){
		.symbol_name = desc->symbol,
		.addr = desc->addr,
		.offset = desc->offset,
		.pre_handler = krp_kprobe_entry,
		.flags = KPROBE_FLAG_DISABLED,
	};
	ret = register_kprobe(kp);
	/* Not an instruction: that it is no entry either is what kretprobes say. */
	if (ret == -EILSEQ &&
	    krp_func_check(kp, krp_symbol((unsigned long)kp->addr, name), name))
		return -EINVAL;
	if (ret) {
		krp_func_complain(desc, ret);
		return ret;
	}
	/* The caller's string is not ours to keep. */
	kp->symbol_name = NULL;
	ret = krp_func_check(kp, krp_symbol((unsigned long)kp->addr, name), name);
	if (ret)
		unregister_kprobe(kp);
	else if (desc->symbol)
		strscpy(name, desc->symbol, KRP_FUNC_NAME_LEN);
	return ret;
}

/*
 * A function that is known and has no kprobe now, if @desc seems to mean it: to
 * find that out by a kprobe, and to take that away again, takes a grace period.
 */
static struct krp_func *krp_func_guess(const struct krp_rethook_desc *desc)
{
	unsigned long addr = (unsigned long)desc->addr;
	struct krp_func *func;

	if (!addr)
		addr = krp_symbols_lookup(desc->symbol);
	if (!addr || desc->offset)
		return NULL;
	func = krp_func_find(krp_symbols_ftrace_ip(addr));
	return func == &krp_func_none || func->users ? NULL : func;
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
	int ret;

	if (!desc->symbol == !desc->addr) {
		pr_err("give either the name or the address of a function\n");
		return ERR_PTR(-EINVAL);
	}
	if (krp_funcs_reserve(1))
		return ERR_PTR(-ENOMEM);
	func = krp_func_guess(desc);
	if (func) {
		ret = krp_func_probe(func, desc, name);
		if (ret)
			return ERR_PTR(ret);
		if (krp_arch_ftrace_ip((unsigned long)func->probe->kp.addr) == func->ip)
			goto got;
		unregister_kprobe(&func->probe->kp);
	}
	func = kzalloc(sizeof(*func), GFP_KERNEL);
	if (!func)
		return ERR_PTR(-ENOMEM);
	ret = krp_func_probe(func, desc, name);
	if (ret) {
		krp_func_free(func, NULL);
		return ERR_PTR(ret);
	}
	func->ip = krp_arch_ftrace_ip((unsigned long)func->probe->kp.addr);
	known = krp_func_find(func->ip);
	if (known == &krp_func_none) {
		krp_table_add(krp_funcs, func);
		goto got;
	}
	unregister_kprobe(&func->probe->kp);
	/* Its old kprobe is gone: let it have a new one. */
	ret = known->users ? 0 : krp_func_probe(known, desc, name);
	krp_func_free(func, NULL);
	if (ret)
		return ERR_PTR(ret);
	func = known;
got:
	func->users++;
	return func;
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
		struct krp_func *func = rhs[i]->one.func;

		/* Those of many functions have none by kprobe. */
		if (!func || --func->users)
			continue;
		if (kps)
			kps[n++] = &func->probe->kp;
		else
			unregister_kprobe(&func->probe->kp);
	}
	if (n)
		unregister_kprobes(kps, n);
	kvfree(kps);
}

/**
 * krp_funcs_init() - get ready to know functions
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int krp_funcs_init(void)
{
	krp_funcs = krp_table_alloc(KRP_FUNC_BITS_MIN);
	return krp_funcs ? 0 : -ENOMEM;
}

/**
 * krp_funcs_exit() - forget all functions
 *
 * Context: process; nothing is hooked, so that ftrace and kprobes have waited
 * for all callbacks to end.
 */
void krp_funcs_exit(void)
{
	struct krp_func_table *table = krp_funcs, *older;
	struct krp_func_block *block;

	krp_table_walk(table, krp_func_free, NULL);
	while ((block = krp_func_blocks)) {
		krp_func_blocks = block->next;
		kvfree(block);
	}
	for (; table; table = older) {
		older = table->older;
		kvfree(table);
	}
}
