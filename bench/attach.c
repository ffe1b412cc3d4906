// SPDX-License-Identifier: GPL-2.0-only
/* What it takes to hook many functions at once, and what a hit costs then. */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "bench.h"
#include "compat_fprobe.h"
#include "compat_ftrace.h"
#include "krp_multi.h"
#include "kretprobe_shim.h"

/* Calls per round, and rounds, of which the best counts. */
#define ATTACH_CALLS	1000
#define ATTACH_ROUNDS	20

/**
 * struct bench_api - a way of hooking many functions
 * @name: for people and tables
 * @all: only all functions, which it finds by itself
 * @on: hooks @nr functions
 * @off: unhooks them
 */
struct bench_api {
	const char *name;
	bool all;
	int (*on)(unsigned long *addrs, unsigned int nr);
	void (*off)(void);
};

/* The function whose calls are measured: it calls nothing, nobody else calls it. */
static noinline __attribute__((__noipa__)) unsigned long bench_attach_target(unsigned long a)
{
	return a + 1;
}

/* ftrace alone, with an empty callback */

static void notrace attach_ftrace_hit(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops attach_ops = {
	.func = attach_ftrace_hit,
	.flags = KRP_FTRACE_ARGS_FLAGS,
};

static int attach_ftrace_on(unsigned long *addrs, unsigned int nr)
{
	int ret = krp_ftrace_set_filter_ips(&attach_ops, addrs, nr, 0, 1);

	return ret ?: register_ftrace_function(&attach_ops);
}

/* By their names, as it would do it for /sys/kernel/tracing/set_ftrace_filter. */
static int attach_ftrace_glob_on(unsigned long *addrs, unsigned int nr)
{
	static unsigned char glob[] = "*";
	int ret = ftrace_set_filter(&attach_ops, glob, 1, 1);

	return ret ?: register_ftrace_function(&attach_ops);
}

static void attach_ftrace_off(void)
{
	unregister_ftrace_function(&attach_ops);
	krp_ftrace_free_filter(&attach_ops);
}

/* The kernel's kretprobes, by its batch interface */

static int attach_kretprobe_hit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static struct kretprobe *attach_rps, **attach_rp_ptrs;
static unsigned int attach_nr_rps;

static void attach_kretprobes_free(void)
{
	kvfree(attach_rps);
	kvfree(attach_rp_ptrs);
}

static int attach_kretprobe_on(unsigned long *addrs, unsigned int nr)
{
	unsigned int i;
	int ret = -ENOMEM;

	attach_rps = kvcalloc(nr, sizeof(*attach_rps), GFP_KERNEL);
	attach_rp_ptrs = kvcalloc(nr, sizeof(*attach_rp_ptrs), GFP_KERNEL);
	attach_nr_rps = nr;
	if (attach_rps && attach_rp_ptrs) {
		for (i = 0; i < nr; i++) {
			attach_rps[i].kp.addr = (void *)addrs[i];
			attach_rps[i].handler = attach_kretprobe_hit;
			attach_rp_ptrs[i] = &attach_rps[i];
		}
		ret = register_kretprobes(attach_rp_ptrs, nr);
	}
	if (ret)
		attach_kretprobes_free();
	return ret;
}

static void attach_kretprobe_off(void)
{
	unregister_kretprobes(attach_rp_ptrs, attach_nr_rps);
	attach_kretprobes_free();
}

/* The kernel's fprobe, where it has one */

static void attach_fprobe_hit(void)
{
}

KRP_FPROBE_EXIT(attach_fprobe_exit, attach_fprobe_hit)

static int attach_fprobe_on(unsigned long *addrs, unsigned int nr)
{
	return krp_fprobe_on_ips(addrs, nr, attach_fprobe_exit);
}

/* kretpool's, one probe on all of them, and one each */

static void attach_multi_hit(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
			     struct pt_regs *regs)
{
}

static struct krp_multi attach_multi;

static int attach_multi_on(unsigned long *addrs, unsigned int nr)
{
	attach_multi = (struct krp_multi){ .exit = attach_multi_hit };
	return krp_multi_register_ips(&attach_multi, addrs, nr);
}

static int attach_light_on(unsigned long *addrs, unsigned int nr)
{
	attach_multi = (struct krp_multi){
		.exit = attach_multi_hit, .flags = KRP_RETHOOK_LIGHT,
	};
	return krp_multi_register_ips(&attach_multi, addrs, nr);
}

/* By their names, as for the first time, which nobody has looked up before. */
static int attach_glob_on(unsigned long *addrs, unsigned int nr)
{
	attach_multi = (struct krp_multi){ .exit = attach_multi_hit };
	return krp_multi_register(&attach_multi, "vmlinux:*,kretpool_bench:bench_attach_target",
				  NULL);
}

static void attach_multi_off(void)
{
	krp_multi_unregister(&attach_multi);
}

static int attach_kretpool_hit(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static struct krp_kretprobe *attach_krps, **attach_krp_ptrs;

static void attach_kretpool_free(void)
{
	kvfree(attach_krps);
	kvfree(attach_krp_ptrs);
}

static int attach_kretpool_on(unsigned long *addrs, unsigned int nr)
{
	unsigned int i;
	int ret = -ENOMEM;

	attach_krps = kvcalloc(nr, sizeof(*attach_krps), GFP_KERNEL);
	attach_krp_ptrs = kvcalloc(nr, sizeof(*attach_krp_ptrs), GFP_KERNEL);
	attach_nr_rps = nr;
	if (attach_krps && attach_krp_ptrs) {
		for (i = 0; i < nr; i++) {
			attach_krps[i].kp.addr = (void *)addrs[i];
			attach_krps[i].handler = attach_kretpool_hit;
			attach_krps[i].maxactive = 1;
			attach_krp_ptrs[i] = &attach_krps[i];
		}
		ret = krp_register_kretprobes(attach_krp_ptrs, nr);
	}
	if (ret)
		attach_kretpool_free();
	return ret;
}

static void attach_kretpool_off(void)
{
	krp_unregister_kretprobes(attach_krp_ptrs, attach_nr_rps);
	attach_kretpool_free();
}

static const struct bench_api bench_apis[] = {
	{ "ftrace", false, attach_ftrace_on, attach_ftrace_off },
	{ "ftrace-glob", true, attach_ftrace_glob_on, attach_ftrace_off },
	{ "kretprobe", false, attach_kretprobe_on, attach_kretprobe_off },
	{ "fprobe", false, attach_fprobe_on, krp_fprobe_off },
	{ "krp_multi", false, attach_multi_on, attach_multi_off },
	{ "multi-glob", true, attach_glob_on, attach_multi_off },
	{ "light", false, attach_light_on, attach_multi_off },
	{ "kretpool", false, attach_kretpool_on, attach_kretpool_off },
};

/* Everything of the kernel's own that can be hooked, and the target at its end. */
static unsigned long *attach_all;
static unsigned int attach_total;

static const struct bench_api *attach_api;
static unsigned int attach_nr;
static u64 attach_on_ns, attach_off_ns;

static int attach_collect(void)
{
	struct krp_multi all = { .exit = attach_multi_hit, .flags = KRP_RETHOOK_DISABLED };
	unsigned int i;
	int ret;

	if (attach_all)
		return 0;
	ret = krp_multi_register(&all, "vmlinux:*", NULL);
	if (ret)
		return ret;
	attach_all = kvmalloc_array(all.functions + 1, sizeof(*attach_all), GFP_KERNEL);
	if (attach_all) {
		for (i = 0; i < all.functions; i++)
			attach_all[i] = krp_multi_address(&all, i);
		attach_all[i] = (unsigned long)bench_attach_target;
		attach_total = all.functions + 1;
	}
	krp_multi_unregister(&all);
	return attach_all ? 0 : -ENOMEM;
}

/* @nr of them from all over the kernel, and the last. */
static unsigned long *attach_addrs(unsigned int *nr)
{
	unsigned long *addrs;
	unsigned int i;
	int ret = attach_collect();

	if (ret)
		return ERR_PTR(ret);
	*nr = *nr ?: attach_total;
	if (*nr > attach_total)
		return ERR_PTR(-EINVAL);
	addrs = kvmalloc_array(*nr, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < *nr; i++)
		addrs[i] = attach_all[(u64)(i + 1) * attach_total / *nr - 1];
	return addrs;
}

/**
 * bench_attach_off() - unhook what bench_attach_on() has hooked
 */
void bench_attach_off(void)
{
	u64 start = ktime_get_ns();

	if (!attach_api)
		return;
	attach_api->off();
	attach_off_ns = ktime_get_ns() - start;
	attach_api = NULL;
}

/**
 * bench_attach_on() - hook many functions
 * @name: by which interface
 * @nr: how many, bench_attach_target() among them; 0 for all
 *
 * Return: 0, -ENOENT if there is no such interface, -EINVAL if the kernel has
 * not so many functions, or what hooking returned.
 */
int bench_attach_on(const char *name, unsigned int nr)
{
	const struct bench_api *api;
	unsigned long *addrs = NULL;
	u64 start;
	int ret;

	for (api = bench_apis; strcmp(api->name, name);)
		if (++api == bench_apis + ARRAY_SIZE(bench_apis))
			return -ENOENT;
	bench_attach_off();
	if (!api->all) {
		addrs = attach_addrs(&nr);
		if (IS_ERR(addrs))
			return PTR_ERR(addrs);
	} else if (nr) {
		return -EINVAL;
	}
	start = ktime_get_ns();
	ret = api->on(addrs, nr);
	attach_on_ns = ktime_get_ns() - start;
	attach_off_ns = 0;
	kvfree(addrs);
	if (!ret) {
		attach_api = api;
		attach_nr = nr;
	}
	return ret;
}

/**
 * bench_attach_show() - functions hooked, nanoseconds to hook and unhook them
 * @m: where to
 */
void bench_attach_show(struct seq_file *m)
{
	seq_printf(m, "%u %llu %llu\n", attach_nr, attach_on_ns, attach_off_ns);
}

/**
 * bench_attach_cost() - what a call of the function that is always hooked costs
 *
 * Return: nanoseconds per 1,000 calls.
 */
u64 bench_attach_cost(void)
{
	u64 best = U64_MAX, start;
	unsigned int rounds, i;

	for (rounds = 0; rounds < ATTACH_ROUNDS; rounds++) {
		start = ktime_get_ns();
		for (i = 0; i < ATTACH_CALLS; i++)
			bench_attach_target(i);
		best = min(best, ktime_get_ns() - start);
		cond_resched();
	}
	return best * 1000 / ATTACH_CALLS;
}

/**
 * bench_attach_exit() - undo it all
 */
void bench_attach_exit(void)
{
	bench_attach_off();
	kvfree(attach_all);
}
