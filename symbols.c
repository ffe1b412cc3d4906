// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's symbols. It exports no way to look at them: what is needed for
 * that is looked up by way of kprobes, once.
 *
 * A walk holds krp_mutex. A module whose state was seen to be live meanwhile
 * stays until the walk is over: before it goes its going is announced to
 * krp_module_event(), which waits for krp_mutex.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bsearch.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "rethook_internal.h"
#include "symbols.h"
#include "compat_kallsyms.h"
#include "compat_unwind.h"

/* Addresses of what the kernel keeps to itself; 0 for what it has not. */
static struct {
	unsigned long on_each_symbol;
	unsigned long lookup_name;
	unsigned long location_range;
	unsigned long blacklisted;
	unsigned long is_module;
	unsigned long text, text_end;
	struct list_head *blacklist;
	struct mutex *blacklist_mutex;
} krp_kernel;

/* A stretch of code that the kernel does not want to be probed. */
struct krp_range {
	unsigned long start, end;
};

/* The blacklist, sorted, between krp_symbols_begin() and krp_symbols_end(). */
static struct krp_range *krp_ranges;
static unsigned int krp_nr_ranges;
/* The first that does not end before what was looked for last. */
static unsigned int krp_range_next;
/* The names of what begins at each, as krp_name_key(), sorted; and krp_name_hash() of each. */
static u64 *krp_range_names;
static unsigned int krp_nr_range_names;
static DECLARE_BITMAP(krp_range_hashes, KRP_NAME_HASHES);

/**
 * krp_symbol_addr() - the address of any symbol of the kernel's
 * @name: its name
 *
 * register_kprobe() looks it up, and leaves it there, before it refuses what is
 * not code.
 *
 * Context: process.
 * Return: the address, of a function the one where kprobes go; or 0.
 */
unsigned long krp_symbol_addr(const char *name)
{
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };

	if (!register_kprobe(&kp))
		unregister_kprobe(&kp);
	return (unsigned long)kp.addr;
}

/**
 * krp_symbols_init() - find what the kernel does not export
 *
 * Context: process.
 */
void krp_symbols_init(void)
{
	krp_kernel.lookup_name = krp_symbol_addr("kallsyms_lookup_name");
	krp_kernel.on_each_symbol = krp_symbol_addr("kallsyms_on_each_symbol");
	krp_kernel.location_range = krp_symbol_addr("ftrace_location_range");
	krp_kernel.blacklisted = krp_symbol_addr("within_kprobe_blacklist");
	krp_kernel.is_module = krp_symbol_addr("is_module_address");
	krp_kernel.text = krp_symbol_addr("_stext");
	/* Kprobes do not look behind the text without CONFIG_KALLSYMS_ALL. */
	krp_kernel.text_end = krp_symbols_lookup("_etext");
	krp_kernel.blacklist = (struct list_head *)krp_symbol_addr("kprobe_blacklist");
	krp_kernel.blacklist_mutex = (struct mutex *)krp_symbol_addr("kprobe_mutex");
}

static int krp_range_cmp(const void *a, const void *b)
{
	const struct krp_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Stands for a name, of @len characters: that two have the same is as good as impossible. */
static u64 krp_name_key(const char *name, size_t len)
{
	return (u64)full_name_hash(NULL, name, len) << 32 |
	       full_name_hash(&krp_kernel, name, len);
}

static int krp_name_key_cmp(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void krp_range_names_read(void)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i;

	krp_nr_range_names = krp_nr_ranges;
	krp_range_names = kvmalloc_array(krp_nr_ranges, sizeof(*krp_range_names), GFP_KERNEL);
	if (!krp_range_names)
		return;
	bitmap_zero(krp_range_hashes, KRP_NAME_HASHES);
	for (i = 0; i < krp_nr_ranges; i++) {
		sprint_symbol_no_offset(name, krp_ranges[i].start);
		__set_bit(krp_name_hash(name), krp_range_hashes);
		krp_range_names[i] = krp_name_key(name, strlen(name));
	}
	sort(krp_range_names, krp_nr_range_names, sizeof(*krp_range_names), krp_name_key_cmp,
	     NULL);
}

/* Those that overlap become one. */
static void krp_ranges_join(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < krp_nr_ranges; i++) {
		if (n && krp_ranges[i].start <= krp_ranges[n - 1].end)
			krp_ranges[n - 1].end = max(krp_ranges[n - 1].end, krp_ranges[i].end);
		else
			krp_ranges[n++] = krp_ranges[i];
	}
	krp_nr_ranges = n;
	krp_range_next = 0;
}

/* Without memory, or the list's address, the kernel is asked about each. */
static void krp_ranges_read(void)
{
	struct kprobe_blacklist_entry *entry;
	unsigned int n = 0;

	if (!krp_kernel.blacklist || !krp_kernel.blacklist_mutex)
		return;
	mutex_lock(krp_kernel.blacklist_mutex);
	list_for_each_entry(entry, krp_kernel.blacklist, list)
		n++;
	krp_ranges = kvmalloc_array(n, sizeof(*krp_ranges), GFP_KERNEL);
	krp_nr_ranges = 0;
	if (krp_ranges) {
		list_for_each_entry(entry, krp_kernel.blacklist, list)
			krp_ranges[krp_nr_ranges++] = (struct krp_range){
				.start = entry->start_addr, .end = entry->end_addr,
			};
	}
	mutex_unlock(krp_kernel.blacklist_mutex);
	if (!krp_ranges)
		return;
	sort(krp_ranges, krp_nr_ranges, sizeof(*krp_ranges), krp_range_cmp, NULL);
	krp_range_names_read();
	krp_ranges_join();
}

/**
 * krp_symbols_begin() - get ready to ask about functions
 *
 * Context: process, krp_mutex held.
 * Return: 0, or -EOPNOTSUPP with a line in the log if this kernel does not let
 * its symbols be walked over, or has no ftrace.
 */
int krp_symbols_begin(void)
{
	if (!krp_kernel.on_each_symbol || !krp_kernel.location_range ||
	    !krp_kernel.blacklisted || !krp_kernel.text || !krp_kernel.text_end) {
		pr_err("probes on many functions need a kernel with CONFIG_KALLSYMS and CONFIG_DYNAMIC_FTRACE\n");
		return -EOPNOTSUPP;
	}
	krp_ranges_read();
	return 0;
}

/**
 * krp_symbols_end() - forget what krp_symbols_begin() has gathered
 *
 * Context: process, krp_mutex held.
 */
void krp_symbols_end(void)
{
	kvfree(krp_range_names);
	krp_range_names = NULL;
	kvfree(krp_ranges);
	krp_ranges = NULL;
}

/* What returns a bool sets no more of the register than its lowest byte. */
static bool krp_call_bool(unsigned long fn, unsigned long arg)
{
	return (u8)krp_arch_call(fn, arg, 0, 0, 0);
}

struct krp_walk {
	krp_symbol_visit_t visit;
	void *data;
	int ret;
};

static int krp_walk_kernel(KRP_KALLSYMS_ARGS(data, name, mod, addr))
{
	struct krp_walk *walk = data;

	/* They are sorted by address, for the kernel's own search: the rest is data. */
	if (KRP_KALLSYMS_FOREIGN(mod) || addr >= krp_kernel.text_end)
		return 1;
	if (addr >= krp_kernel.text)
		walk->ret = walk->visit(walk->data, name, NULL, addr);
	return walk->ret;
}

static void krp_walk_module(struct krp_walk *walk, struct module *mod)
{
	/* Changes once, when the module has been initialised. */
	struct mod_kallsyms *syms = rcu_dereference_protected(mod->kallsyms, true);
	unsigned long start, end;
	unsigned int i;

	krp_module_text(mod, false, &start, &end);
	for (i = 0; i < syms->num_symtab && !walk->ret; i++) {
		const Elf_Sym *sym = &syms->symtab[i];
		const char *name = syms->strtab + sym->st_name;

		/* Not what the compiler needs for itself, such as arm64's $x. */
		if (sym->st_shndx != SHN_UNDEF && sym->st_value >= start &&
		    sym->st_value < end && *name && *name != '$' && *name != '.')
			walk->ret = walk->visit(walk->data, name, mod->name, sym->st_value);
	}
}

/*
 * The next live module behind @mod, or NULL after the last. The list's head
 * is among them: it alone is no part of a module.
 */
static struct module *krp_module_next(struct module *mod)
{
	preempt_disable();
	do {
		mod = list_entry_rcu(mod->list.next, struct module, list);
		if (mod == THIS_MODULE) {
			mod = NULL;
			break;
		}
	} while (!krp_call_bool(krp_kernel.is_module, (unsigned long)mod) ||
		 READ_ONCE(mod->state) != MODULE_STATE_LIVE);
	preempt_enable();
	return mod;
}

/**
 * krp_symbols_walk() - visit all symbols in the text of the kernel and of modules
 * @visit: called for each; of this module only what others see of it
 * @data: passed to @visit
 * @modules_only: not the kernel's own
 *
 * Context: process, krp_mutex held, after krp_symbols_begin().
 * Return: 0, or what @visit returned when it ended the walk.
 */
int krp_symbols_walk(krp_symbol_visit_t visit, void *data, bool modules_only)
{
	struct krp_walk walk = { .visit = visit, .data = data };
	struct module *mod = THIS_MODULE;

	if (!modules_only)
		krp_arch_call(krp_kernel.on_each_symbol, (unsigned long)krp_walk_kernel,
			      (unsigned long)&walk, 0, 0);
	do {
		if (walk.ret)
			break;
		krp_walk_module(&walk, mod);
		mod = krp_kernel.is_module ? krp_module_next(mod) : NULL;
	} while (mod);
	return walk.ret;
}

/**
 * krp_symbols_ftrace_ip() - where ftrace patches a function
 * @addr: the function's address, or that place itself
 *
 * Context: process, krp_mutex held.
 * Return: the address, or 0 if it does not.
 */
unsigned long krp_symbols_ftrace_ip(unsigned long addr)
{
	return krp_kernel.location_range ?
	       krp_arch_call(krp_kernel.location_range, addr, addr + KRP_ARCH_FTRACE_MAX, 0, 0) :
	       0;
}

/**
 * krp_symbols_lookup() - the address of a symbol, as the kernel knows it
 * @name: its name, may be "module:function"
 *
 * Context: process.
 * Return: the address, or 0.
 */
unsigned long krp_symbols_lookup(const char *name)
{
	return krp_kernel.lookup_name ?
	       krp_arch_call(krp_kernel.lookup_name, (unsigned long)name, 0, 0, 0) : 0;
}

/**
 * krp_symbols_traceable() - can ftrace patch this place?
 * @ip: the address
 *
 * Context: process, krp_mutex held.
 * Return: true if it can.
 */
bool krp_symbols_traceable(unsigned long ip)
{
	return krp_kernel.location_range &&
	       krp_arch_call(krp_kernel.location_range, ip, ip, 0, 0) == ip;
}

/**
 * krp_symbols_stay() - does code stay where it is, as what it is?
 * @addr: its address
 *
 * Context: any.
 * Return: true if it is the kernel's own.
 */
bool krp_symbols_stay(unsigned long addr)
{
	return addr >= krp_kernel.text && addr < krp_kernel.text_end;
}

/* Those who ask do so in ascending order, most often. */
static bool krp_range_has(unsigned long addr)
{
	unsigned int first = krp_range_next, last = first;

	if (first && krp_ranges[first - 1].end > addr)
		first = 0;
	else if (first < krp_nr_ranges && krp_ranges[first].end <= addr)
		last = krp_nr_ranges;
	while (first < last) {
		unsigned int middle = first + (last - first) / 2;

		if (krp_ranges[middle].end <= addr)
			first = middle + 1;
		else
			last = middle;
	}
	krp_range_next = first;
	return first < krp_nr_ranges && krp_ranges[first].start <= addr;
}

/*
 * What the compiler has made of a function is listed by its origin. The kernel
 * would look for that among all symbols, each time.
 */
static bool krp_origin_listed(const char *name)
{
	const char *dot = strchr(name, '.');
	u64 key;

	if (!dot)
		return false;
	key = krp_name_key(name, dot - name);
	return bsearch(&key, krp_range_names, krp_nr_range_names, sizeof(key), krp_name_key_cmp);
}

/**
 * krp_symbols_blacklisted() - is a function on the kernel's kprobe blacklist?
 * @addr: its address
 * @name: its name
 * @hash: krp_name_hash() of that
 *
 * Context: process, krp_mutex held, after krp_symbols_begin().
 * Return: true if it is.
 */
bool krp_symbols_blacklisted(unsigned long addr, const char *name, unsigned int hash)
{
	if (!krp_ranges || !krp_range_names)
		return krp_call_bool(krp_kernel.blacklisted, addr);
	return krp_range_has(addr) || (test_bit(hash, krp_range_hashes) && krp_origin_listed(name));
}
