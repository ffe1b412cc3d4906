// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions are meant. Whatever is asked for, there is one pass over the
 * symbols: each is looked up in the sorted lists of names and addresses.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "krp_resolve.h"
#include "symbols.h"

/* What the kernel's own functions can be asked for by. */
#define KRP_KERNEL	"vmlinux"

/* What catching a call, and timing it, may call outside any handler. */
static const char * const krp_needed[] = {
	"rcu_is_watching", "irq_work_queue", "rethook_find_ret_addr", "ftrace_graph_ret_addr",
	"local_clock", "sched_clock", "sched_clock_cpu", "ktime_get_mono_fast_ns",
	"ktime_get_raw_fast_ns",
};

static struct krp_name_list krp_needed_list = {
	.names = krp_needed, .nr = ARRAY_SIZE(krp_needed),
};

/**
 * struct krp_wanted - a name, or a glob
 * @mod: the module's, or NULL for anyone's
 * @name: the function's
 * @kernel: may it be one of the kernel's own?
 * @all: may it have any name?
 * @order: its place among what was asked for
 * @addr: what it was found to mean
 * @ambiguous: it means something else, too
 */
struct krp_wanted {
	const char *mod;
	const char *name;
	bool kernel;
	bool all;
	unsigned int order;
	unsigned long addr;
	bool ambiguous;
};

/**
 * struct krp_wanted_addr - an address
 * @addr: of a function, or where ftrace patches one
 * @order: its place among what was asked for
 * @found: it is one
 */
struct krp_wanted_addr {
	unsigned long addr;
	unsigned int order;
	bool found;
};

/* A function that is meant. */
struct krp_found {
	unsigned long addr;
	unsigned long ip;
	enum krp_multi_state state;
};

/**
 * struct krp_search - a pass over the symbols
 * @req: what is asked for
 * @text: copies of what holds the globs and names
 * @nr_texts: how many
 * @globs: what has wildcards
 * @nr_globs: how many
 * @nots: what is not meant
 * @nr_nots: how many
 * @names: what has no wildcards, sorted by name
 * @nr_names: how many
 * @addrs: sorted
 * @nr_addrs: how many
 * @next_addr: the first that is not below the symbol visited last
 * @found: what was found
 * @nr: how many
 * @max: how many there is room for
 */
struct krp_search {
	const struct krp_request *req;
	char **text;
	unsigned int nr_texts;
	struct krp_wanted *globs;
	unsigned int nr_globs;
	struct krp_wanted *nots;
	unsigned int nr_nots;
	struct krp_wanted *names;
	unsigned int nr_names;
	struct krp_wanted_addr *addrs;
	unsigned int nr_addrs;
	unsigned int next_addr;
	struct krp_found *found;
	unsigned int nr;
	unsigned int max;
};

static bool krp_wanted_has(const struct krp_wanted *wanted, const char *name, const char *mod)
{
	if (mod ? wanted->mod && !glob_match(wanted->mod, mod) : !wanted->kernel)
		return false;
	return wanted->all || glob_match(wanted->name, name);
}

static bool krp_any_has(const struct krp_wanted *wanted, unsigned int nr, const char *name,
			const char *mod)
{
	while (nr--)
		if (krp_wanted_has(wanted++, name, mod))
			return true;
	return false;
}

/* Names of what the compiler or the kernel's build put beside functions. */
static bool krp_no_function(const char *name)
{
	if (name[0] == '_' && name[1] == '_' &&
	    (!strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6)))
		return true;
	/* As strstr() would, at a fraction of its cost: most names have no dot. */
	for (; *name; name++)
		if (*name == '.' && !strncmp(name, ".cold", 5))
			return true;
	return false;
}

static bool krp_by_glob(struct krp_search *search, const char *name, const char *mod,
			unsigned long addr)
{
	bool hit = false;
	unsigned int i;

	if (!search->nr_globs || krp_no_function(name))
		return false;
	for (i = 0; i < search->nr_globs; i++) {
		if (krp_wanted_has(&search->globs[i], name, mod)) {
			search->globs[i].addr = addr;
			hit = true;
		}
	}
	return hit;
}

static bool krp_by_name(struct krp_search *search, const char *name, const char *mod,
			unsigned long addr)
{
	unsigned int first = 0, last = search->nr_names;
	bool hit = false;

	/* The first of that name: a name may be asked for in several modules. */
	while (first < last) {
		unsigned int middle = first + (last - first) / 2;

		if (strcmp(search->names[middle].name, name) < 0)
			first = middle + 1;
		else
			last = middle;
	}
	for (; first < search->nr_names && !strcmp(search->names[first].name, name); first++) {
		struct krp_wanted *wanted = &search->names[first];

		if (mod ? wanted->mod && strcmp(wanted->mod, mod) : !wanted->kernel)
			continue;
		wanted->ambiguous |= wanted->addr && wanted->addr != addr;
		wanted->addr = addr;
		hit = true;
	}
	return hit;
}

static bool krp_by_addr(struct krp_search *search, unsigned long addr)
{
	unsigned int first = search->next_addr, last = search->nr_addrs;
	bool hit = false;

	/* The kernel's symbols come sorted: most often it is one of the next. */
	if (first && search->addrs[first - 1].addr >= addr) {
		last = first;
		first = 0;
	} else if (first < last && search->addrs[first].addr < addr) {
		first++;
		if (first < last && search->addrs[first].addr >= addr)
			last = first;
	} else {
		last = first;
	}
	while (first < last) {
		unsigned int middle = first + (last - first) / 2;

		if (search->addrs[middle].addr < addr)
			first = middle + 1;
		else
			last = middle;
	}
	search->next_addr = first;
	for (; first < search->nr_addrs; first++) {
		unsigned long wanted = search->addrs[first].addr;

		if (wanted > addr + KRP_ARCH_FTRACE_MAX)
			break;
		if (wanted == addr || wanted == krp_symbols_ftrace_ip(addr)) {
			search->addrs[first].found = true;
			hit = true;
		}
	}
	return hit;
}

/* May it be hooked? If so @ip is where. */
static enum krp_multi_state krp_judge(const struct krp_request *req, const char *name,
				      unsigned long addr, unsigned long *ip)
{
	unsigned int hash = krp_name_hash(name);

	*ip = 0;
	if (within_module(addr, THIS_MODULE))
		return KRP_MULTI_OWN;
	if (krp_func_refused(name, hash))
		return KRP_MULTI_REFUSED;
	if (krp_symbols_blacklisted(addr, name, hash))
		return KRP_MULTI_BLACKLISTED;
	if (addr == req->entry || addr == req->exit ||
	    krp_name_listed(&krp_needed_list, name, hash))
		return KRP_MULTI_NEEDED;
	*ip = krp_symbols_ftrace_ip(addr);
	return *ip ? KRP_MULTI_ATTACHED : KRP_MULTI_UNTRACEABLE;
}

static int krp_found_room(struct krp_search *search)
{
	unsigned int max = search->max ? 2 * search->max : max(search->nr_addrs, 1024U);
	struct krp_found *found = kvmalloc_array(max, sizeof(*found), GFP_KERNEL);

	if (!found)
		return -ENOMEM;
	if (search->nr)
		memcpy(found, search->found, search->nr * sizeof(*found));
	kvfree(search->found);
	search->found = found;
	search->max = max;
	return 0;
}

static int krp_search_symbol(void *data, const char *name, const char *mod, unsigned long addr)
{
	struct krp_search *search = data;
	struct krp_found *found;
	bool hit;

	/* All of them: each keeps account of what it has met. */
	hit = krp_by_glob(search, name, mod, addr);
	hit |= krp_by_name(search, name, mod, addr);
	hit |= krp_by_addr(search, addr);
	if (!hit || krp_any_has(search->nots, search->nr_nots, name, mod))
		return 0;
	if (search->nr == search->max && krp_found_room(search))
		return -ENOMEM;
	found = &search->found[search->nr++];
	found->addr = addr;
	found->state = krp_judge(search->req, name, addr, &found->ip);
	return 0;
}

static void krp_wanted_set(struct krp_wanted *wanted, char *text, unsigned int order)
{
	char *colon = strchr(text, ':');

	*wanted = (struct krp_wanted){ .name = text, .kernel = true, .order = order };
	if (colon) {
		*colon = '\0';
		wanted->mod = text;
		wanted->name = colon + 1;
		wanted->kernel = glob_match(text, KRP_KERNEL);
	}
	wanted->all = !strcmp(wanted->name, "*");
}

/* Takes a text of globs and names apart; all are globs if there are no @names. */
static int krp_search_parse(struct krp_search *search, const char *list,
			    struct krp_wanted **globs, unsigned int *nr_globs,
			    struct krp_wanted **names, unsigned int *nr_names)
{
	char *text = kstrdup(list, GFP_KERNEL), *word;
	unsigned int max = 1, order = 0;
	const char *c;

	search->text[search->nr_texts++] = text;
	for (c = list; *c; c++)
		max += *c == ',' || isspace(*c);
	*globs = kvmalloc_array(max, sizeof(**globs), GFP_KERNEL);
	if (names)
		*names = kvmalloc_array(max, sizeof(**names), GFP_KERNEL);
	if (!text || !*globs || (names && !*names))
		return -ENOMEM;
	while ((word = strsep(&text, ", \t\n"))) {
		if (!*word)
			continue;
		if (!names || strpbrk(word, "*?[\\"))
			krp_wanted_set(&(*globs)[(*nr_globs)++], word, order++);
		else
			krp_wanted_set(&(*names)[(*nr_names)++], word, order++);
	}
	return 0;
}

static int krp_search_take_syms(struct krp_search *search, const struct krp_request *req)
{
	int i;

	search->names = kvmalloc_array(req->nr_syms, sizeof(*search->names), GFP_KERNEL);
	if (!search->names)
		return -ENOMEM;
	for (i = 0; i < req->nr_syms; i++) {
		char *text = (char *)req->syms[i];

		/* Only those of a module are taken apart, and so copied. */
		if (strchr(text, ':')) {
			text = kstrdup(text, GFP_KERNEL);
			if (!text)
				return -ENOMEM;
			search->text[search->nr_texts++] = text;
		}
		krp_wanted_set(&search->names[search->nr_names++], text, i);
	}
	return 0;
}

static int krp_search_take_addrs(struct krp_search *search, const struct krp_request *req)
{
	int i;

	search->addrs = kvmalloc_array(req->nr_addrs, sizeof(*search->addrs), GFP_KERNEL);
	if (!search->addrs)
		return -ENOMEM;
	for (i = 0; i < req->nr_addrs; i++)
		search->addrs[i] = (struct krp_wanted_addr){ .addr = req->addrs[i], .order = i };
	search->nr_addrs = req->nr_addrs;
	return 0;
}

static int krp_wanted_cmp(const void *a, const void *b)
{
	return strcmp(((const struct krp_wanted *)a)->name, ((const struct krp_wanted *)b)->name);
}

static int krp_wanted_addr_cmp(const void *a, const void *b)
{
	const struct krp_wanted_addr *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* What comes from a list of the kernel's is sorted, most often. */
static void krp_sort(void *base, unsigned int nr, size_t size,
		     int (*cmp)(const void *a, const void *b))
{
	unsigned int i;

	for (i = 1; i < nr; i++) {
		if (cmp(base + (i - 1) * size, base + i * size) > 0) {
			sort(base, nr, size, cmp, NULL);
			return;
		}
	}
}

static int krp_search_begin(struct krp_search *search, const struct krp_request *req)
{
	int ret = 0;

	search->text = kvcalloc(req->nr_syms + 2, sizeof(*search->text), GFP_KERNEL);
	if (!search->text)
		return -ENOMEM;
	if (req->filter)
		ret = krp_search_parse(search, req->filter, &search->globs, &search->nr_globs,
				       &search->names, &search->nr_names);
	if (!ret && req->notfilter)
		ret = krp_search_parse(search, req->notfilter, &search->nots, &search->nr_nots,
				       NULL, NULL);
	if (!ret && req->nr_syms)
		ret = krp_search_take_syms(search, req);
	if (!ret && req->nr_addrs)
		ret = krp_search_take_addrs(search, req);
	if (ret)
		return ret;
	krp_sort(search->names, search->nr_names, sizeof(*search->names), krp_wanted_cmp);
	krp_sort(search->addrs, search->nr_addrs, sizeof(*search->addrs), krp_wanted_addr_cmp);
	return 0;
}

static void krp_search_end(struct krp_search *search)
{
	while (search->nr_texts)
		kfree(search->text[--search->nr_texts]);
	kvfree(search->text);
	kvfree(search->globs);
	kvfree(search->nots);
	kvfree(search->names);
	kvfree(search->addrs);
	kvfree(search->found);
}

/* The first that means no function, or more than one. */
static const struct krp_wanted *krp_first_bad(const struct krp_wanted *wanted, unsigned int nr,
					      const struct krp_wanted *bad)
{
	for (; nr--; wanted++)
		if ((!wanted->addr || wanted->ambiguous) && (!bad || wanted->order < bad->order))
			bad = wanted;
	return bad;
}

/* Was everything found that was asked for? Says what was not, the first. */
static int krp_search_check(const struct krp_search *search)
{
	const struct krp_wanted_addr *bad_addr = NULL;
	const struct krp_wanted *bad;
	unsigned int i;

	bad = krp_first_bad(search->names, search->nr_names, NULL);
	bad = krp_first_bad(search->globs, search->nr_globs, bad);
	if (bad && bad->ambiguous) {
		pr_err("%s%s%s is the name of several functions: say MODULE:%s, or give addresses\n",
		       bad->mod ?: "", bad->mod ? ":" : "", bad->name, bad->name);
		return -EADDRNOTAVAIL;
	}
	if (bad) {
		pr_err("%s%s%s: no such function in the kernel\n", bad->mod ?: "",
		       bad->mod ? ":" : "", bad->name);
		return -ENOENT;
	}
	for (i = 0; i < search->nr_addrs; i++)
		if (!search->addrs[i].found &&
		    (!bad_addr || search->addrs[i].order < bad_addr->order))
			bad_addr = &search->addrs[i];
	if (bad_addr) {
		pr_err("%#lx is not the entry of a function\n", bad_addr->addr);
		return -EINVAL;
	}
	return 0;
}

static int krp_found_cmp(const void *a, const void *b)
{
	const struct krp_found *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* Of a function's names one may tell that it is to be left alone. */
	return (int)y->state - (int)x->state;
}

/* Each function once. */
static void krp_found_unique(struct krp_search *search)
{
	unsigned int i, n = 0;

	krp_sort(search->found, search->nr, sizeof(*search->found), krp_found_cmp);
	for (i = 0; i < search->nr; i++)
		if (!n || search->found[n - 1].addr != search->found[i].addr)
			search->found[n++] = search->found[i];
	search->nr = n;
}

/* Were the kernel's functions judged by every name that they have? */
static bool krp_search_all_names(const struct krp_search *search)
{
	const struct krp_wanted *glob = search->globs;
	unsigned int i;

	for (i = 0; i < search->nr_globs; i++, glob++)
		if (glob->kernel && glob->all)
			return !search->nr_nots;
	/* Each that has an address that is asked for was met, or vetted before. */
	return search->req->nr_addrs && !search->nr_globs && !search->nr_names;
}

static bool krp_any_of_kernel(const struct krp_wanted *wanted, unsigned int nr)
{
	while (nr--)
		if (wanted++->kernel)
			return true;
	return false;
}

/*
 * Takes those addresses whose functions have been found fit before: no need to
 * look for them among the symbols. Are there others of the kernel's own, or
 * names?
 */
static bool krp_search_vetted(struct krp_search *search, const struct krp_request *req)
{
	bool kernel = krp_any_of_kernel(search->globs, search->nr_globs) ||
		      krp_any_of_kernel(search->names, search->nr_names);
	unsigned int i, nr = 0;

	for (i = 0; i < search->nr_addrs; i++) {
		struct krp_func *func = krp_func_vetted(search->addrs[i].addr);

		/* Names may say that it is not meant. */
		if (kernel || !func || func->vetted == req->entry || func->vetted == req->exit) {
			kernel |= krp_symbols_stay(search->addrs[i].addr);
			search->addrs[nr++] = search->addrs[i];
			continue;
		}
		search->found[search->nr++] = (struct krp_found){
			.addr = func->vetted, .ip = func->ip, .state = KRP_MULTI_ATTACHED,
		};
	}
	search->nr_addrs = nr;
	return kernel;
}

/* Finds what is meant, whatever becomes of it. */
static int krp_search_all(struct krp_search *search, const struct krp_request *req)
{
	bool kernel;
	int ret = krp_symbols_begin();

	if (ret)
		return ret;
	ret = krp_found_room(search);
	if (!ret) {
		kernel = krp_search_vetted(search, req);
		if (kernel || search->nr_globs || search->nr_names || search->nr_addrs)
			ret = krp_symbols_walk(krp_search_symbol, search, !kernel);
	}
	krp_symbols_end();
	return ret ?: krp_search_check(search);
}

static int krp_found_divide(const struct krp_search *search, struct krp_resolution *res)
{
	unsigned int i, nr_left = 0;

	for (i = 0; i < search->nr; i++)
		nr_left += search->found[i].state != KRP_MULTI_ATTACHED;
	/* Not an empty list, either. */
	res->targets = kvmalloc_array(search->nr - nr_left + 1, sizeof(*res->targets), GFP_KERNEL);
	res->left = kvmalloc(struct_size(res->left, functions, nr_left), GFP_KERNEL);
	if (!res->targets || !res->left)
		return -ENOMEM;
	res->nr = 0;
	res->left->nr = 0;
	for (i = 0; i < search->nr; i++) {
		const struct krp_found *found = &search->found[i];

		if (found->state == KRP_MULTI_ATTACHED) {
			res->targets[res->nr++] = (struct krp_target){
				.ip = found->ip, .addr = found->addr,
			};
		} else {
			res->left->functions[res->left->nr].addr = found->addr;
			res->left->functions[res->left->nr++].state = found->state;
		}
	}
	return 0;
}

/**
 * krp_resolve() - find the functions that are meant
 * @req: what is meant
 * @res: filled in, zero before; the caller frees its lists with kvfree(), on
 *       failure as well
 *
 * Context: process, krp_mutex held; while it is no function goes away.
 * Return: 0; -ENOENT if a name, or a glob, means no function, -EADDRNOTAVAIL
 * if a name means several, -EINVAL if an address is not a function's, each with
 * a line in the log that names the first such; -EOPNOTSUPP, -ENOMEM.
 */
int krp_resolve(const struct krp_request *req, struct krp_resolution *res)
{
	struct krp_search search = { .req = req };
	int ret = krp_search_begin(&search, req);

	if (!ret)
		ret = krp_search_all(&search, req);
	if (!ret) {
		res->all_names = krp_search_all_names(&search);
		krp_found_unique(&search);
		ret = krp_found_divide(&search, res);
	}
	krp_search_end(&search);
	return ret;
}
