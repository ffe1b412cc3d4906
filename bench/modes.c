// SPDX-License-Identifier: GPL-2.0-only
/* The ways of hooking a function that the benchmark compares. */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "bench.h"
#include "compat_fprobe.h"
#include "compat_ftrace.h"
#include "kretprobe_shim.h"

static DEFINE_PER_CPU(unsigned long, bench_hits);

/**
 * struct bench_mode - a way of hooking the function
 * @name: for people and tables
 * @on: starts hooking bench_target
 * @off: stops
 * @missed: calls missed since @on
 */
struct bench_mode {
	const char *name;
	int (*on)(void);
	void (*off)(void);
	unsigned long (*missed)(void);
};

static int native_on(void)
{
	return 0;
}

static void native_off(void)
{
}

static unsigned long no_missed(void)
{
	return 0;
}

/* The kernel's kretprobe */

static int kretprobe_hit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	/* Handlers do not interrupt each other. */
	__this_cpu_inc(bench_hits);
	return 0;
}

static struct kretprobe bench_kretprobe;

static int kretprobe_on(void)
{
	bench_kretprobe = (struct kretprobe){
		.kp.symbol_name = bench_target,
		.handler = kretprobe_hit,
	};
	return register_kretprobe(&bench_kretprobe);
}

static void kretprobe_off(void)
{
	unregister_kretprobe(&bench_kretprobe);
}

static unsigned long kretprobe_missed(void)
{
	return bench_kretprobe.nmissed + bench_kretprobe.kp.nmissed;
}

/* The kernel's fprobe, where it has one */

static void fprobe_hit(void)
{
	this_cpu_inc(bench_hits);
}

KRP_FPROBE_EXIT(fprobe_exit, fprobe_hit)

static int fprobe_on(void)
{
	return krp_fprobe_on(bench_target, fprobe_exit);
}

/* kretpool, with the arguments or all registers at entry */

static int kretpool_hit(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	/* Handlers do not interrupt each other. */
	__this_cpu_inc(bench_hits);
	return 0;
}

static struct krp_kretprobe bench_kretpool;

static int kretpool_start(unsigned int flags)
{
	bench_kretpool = (struct krp_kretprobe){
		.kp.symbol_name = bench_target,
		.handler = kretpool_hit,
		.krp_flags = flags,
	};
	return krp_register_kretprobe(&bench_kretpool);
}

static int kretpool_on(void)
{
	return kretpool_start(0);
}

static int kretpool_regs_on(void)
{
	return kretpool_start(KRP_KRETPROBE_FULL_REGS);
}

static void kretpool_off(void)
{
	krp_unregister_kretprobe(&bench_kretpool);
}

static unsigned long kretpool_missed(void)
{
	return bench_kretpool.nmissed + bench_kretpool.kp.nmissed;
}

/* ftrace alone, to see what of the cost is its */

static void notrace ftrace_hit(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops bench_ops;

static int ftrace_start(unsigned long flags)
{
	unsigned long ip = krp_arch_ftrace_ip(bench_load_address());
	int ret;

	bench_ops = (struct ftrace_ops){ .func = ftrace_hit, .flags = flags };
	ret = krp_ftrace_set_filter_ip(&bench_ops, ip, 0, 1);
	return ret ?: register_ftrace_function(&bench_ops);
}

static int ftrace_args_on(void)
{
	return KRP_FTRACE_ARGS ? ftrace_start(KRP_FTRACE_ARGS_FLAGS) : -EOPNOTSUPP;
}

static int ftrace_regs_on(void)
{
	return KRP_FTRACE_REGS ? ftrace_start(KRP_FTRACE_REGS_FLAGS) : -EOPNOTSUPP;
}

static void ftrace_off(void)
{
	unregister_ftrace_function(&bench_ops);
	krp_ftrace_free_filter(&bench_ops);
}

static const struct bench_mode bench_modes[] = {
	{ "native", native_on, native_off, no_missed },
	{ "ftrace-nop-args", ftrace_args_on, ftrace_off, no_missed },
	{ "ftrace-nop-regs", ftrace_regs_on, ftrace_off, no_missed },
	{ "kretprobe", kretprobe_on, kretprobe_off, kretprobe_missed },
	{ "fprobe", fprobe_on, krp_fprobe_off, krp_fprobe_missed },
	{ "kretpool", kretpool_on, kretpool_off, kretpool_missed },
	{ "kretpool-args", kretpool_on, kretpool_off, kretpool_missed },
	{ "kretpool-regs", kretpool_regs_on, kretpool_off, kretpool_missed },
};

static const struct bench_mode *bench_mode = &bench_modes[0];

/**
 * bench_mode_set() - hook the function in another way
 * @name: of a mode
 *
 * Return: 0, -ENOENT if there is no such mode, or what hooking returned;
 * "native" is on then.
 */
int bench_mode_set(const char *name)
{
	const struct bench_mode *mode;
	unsigned int cpu;
	int ret;

	for (mode = bench_modes; strcmp(mode->name, name);)
		if (++mode == bench_modes + ARRAY_SIZE(bench_modes))
			return -ENOENT;

	bench_mode->off();
	for_each_possible_cpu(cpu)
		per_cpu(bench_hits, cpu) = 0;
	ret = mode->on();
	bench_mode = ret ? &bench_modes[0] : mode;
	return ret;
}

/**
 * bench_mode_name() - the mode that is on
 *
 * Return: its name.
 */
const char *bench_mode_name(void)
{
	return bench_mode->name;
}

/**
 * bench_mode_counts() - what has been counted since it is on
 * @counts: filled in
 */
void bench_mode_counts(struct bench_counts *counts)
{
	unsigned int cpu;

	counts->hits = 0;
	for_each_possible_cpu(cpu)
		counts->hits += per_cpu(bench_hits, cpu);
	counts->missed = bench_mode->missed();
}
