// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes that stay while everything else happens: registered before the first
 * call and removed after the last, so that every call must be in their counts.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "torture.h"

/**
 * struct torture_steady - a probe that stays
 * @target: what it is on
 * @rp: the probe
 * @calls: what @target had counted at registration
 * @counts: at the end
 * @entries: runs of the entry handler
 * @skips: those that said no
 * @returns: runs of the handler
 */
struct torture_steady {
	enum torture_target target;
	struct krp_kretprobe rp;
	unsigned long calls;
	struct krp_rethook_counts counts;
	unsigned long __percpu *entries;
	unsigned long __percpu *skips;
	unsigned long __percpu *returns;
};

static struct torture_steady *torture_steady_of(struct krp_instance *ri)
{
	return container_of(krp_get_kretprobe(ri), struct torture_steady, rp);
}

static int nothing(struct krp_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(*torture_steady_of(ri)->returns);
	return 0;
}

/* Calls what is probed itself: must be counted, must not recurse. */
static int calls_probed(struct krp_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(*torture_steady_of(ri)->returns);
	if (torture_leaf(ri->since, 1) != ri->since + 1)
		torture_wrong("a call from a handler returned something else");
	return 0;
}

/* Long enough for interrupts to come in between. */
static int runs_long(struct krp_instance *ri, struct pt_regs *regs)
{
	unsigned long n = this_cpu_inc_return(*torture_steady_of(ri)->returns);

	if (torture_long && !(n % 64))
		udelay(30);
	return 0;
}

/* At return the instance must hold what was put there at entry. */
static int entry_marks(struct krp_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(*torture_steady_of(ri)->entries);
	memset(ri->data, (u8)ri->thunk ^ 0x5a, 64);
	return 0;
}

static int return_marked(struct krp_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(*torture_steady_of(ri)->returns);
	if (memchr_inv(ri->data, (u8)ri->thunk ^ 0x5a, 64))
		torture_wrong("an instance's data changed on the way");
	return 0;
}

static int entry_skips(struct krp_instance *ri, struct pt_regs *regs)
{
	struct torture_steady *steady = torture_steady_of(ri);

	if (this_cpu_inc_return(*steady->entries) % 3)
		return 0;
	this_cpu_inc(*steady->skips);
	return 1;
}

/* maxactive: 1 runs empty all the time, the large ones never. */
static struct torture_steady torture_steadies[] = {
	{ TORTURE_LEAF, { .handler = nothing, .maxactive = 64 } },
	{ TORTURE_NEST, { .handler = calls_probed, .maxactive = 4 } },
	{ TORTURE_NEST, { .entry_handler = entry_skips, .handler = nothing, .maxactive = 512 } },
	{ TORTURE_TAIL, { .handler = runs_long, .maxactive = 1 } },
	{ TORTURE_NOTRACE, { .entry_handler = entry_marks, .handler = return_marked,
			     .maxactive = 16, .data_size = 64 } },
	{ TORTURE_SLEEP, { .entry_handler = entry_marks, .handler = return_marked,
			   .maxactive = 2, .data_size = 64 } },
	{ TORTURE_SLEEP, { .entry_handler = entry_skips, .handler = nothing, .maxactive = 64,
			   .krp_flags = KRP_KRETPROBE_FULL_REGS } },
};

static unsigned long torture_sum(unsigned long __percpu *counter)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(counter, cpu);
	return sum;
}

static void torture_steady_free(struct torture_steady *steady)
{
	free_percpu(steady->entries);
	free_percpu(steady->skips);
	free_percpu(steady->returns);
	steady->entries = NULL;
	steady->skips = NULL;
	steady->returns = NULL;
}

static int torture_steady_add(struct torture_steady *steady)
{
	int ret;

	steady->entries = alloc_percpu(unsigned long);
	steady->skips = alloc_percpu(unsigned long);
	steady->returns = alloc_percpu(unsigned long);
	if (!steady->entries || !steady->skips || !steady->returns) {
		torture_steady_free(steady);
		return -ENOMEM;
	}
	steady->calls = torture_calls(steady->target);
	steady->rp.kp.symbol_name = torture_target_names[steady->target];
	ret = krp_register_kretprobe(&steady->rp);
	if (ret) {
		pr_err("%s: cannot be probed (%d)\n", steady->rp.kp.symbol_name, ret);
		torture_steady_free(steady);
	}
	return ret;
}

/**
 * torture_steady_register() - register them, while nobody calls
 *
 * Context: process.
 * Return: 0 or what registration returned; none is registered then.
 */
int torture_steady_register(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(torture_steadies); i++) {
		ret = torture_steady_add(&torture_steadies[i]);
		if (ret) {
			torture_steady_unregister(false);
			return ret;
		}
	}
	return 0;
}

static unsigned long torture_missed(const struct krp_rethook_counts *c)
{
	unsigned long sum = 0;
	int cause;

	for (cause = 0; cause < KRP_NR_MISSES; cause++)
		sum += c->missed[cause];
	return sum;
}

static void torture_steady_check_one(struct torture_steady *steady)
{
	const char *name = torture_target_names[steady->target];
	unsigned long calls = torture_calls(steady->target) - steady->calls;
	unsigned long slack = 0, counted;
	struct krp_rethook_counts c;

	krp_rethook_counts(steady->rp.rh, &c);
	counted = c.hits + c.skipped + torture_missed(&c);
	/* The kernel counts what its kprobes miss without an atomic instruction. */
	if (steady->target == TORTURE_NOTRACE)
		slack = c.missed[KRP_MISS_RECURSION] / 1000;
	if (counted > calls || counted + slack < calls)
		torture_wrong("%s: %lu calls, but %lu hits, %lu skipped, %lu missed", name, calls,
			      c.hits, c.skipped, torture_missed(&c));
	if (c.inflight)
		torture_wrong("%s: %lu calls still in flight", name, c.inflight);
	if (c.hits != torture_sum(steady->returns))
		torture_wrong("%s: the handler ran %lu times, not %lu", name,
			      torture_sum(steady->returns), c.hits);
	if (c.skipped != torture_sum(steady->skips))
		torture_wrong("%s: %lu calls were skipped, not %lu", name,
			      torture_sum(steady->skips), c.skipped);
	steady->counts = c;
	if (c.missed[KRP_MISS_REMOVED] || c.missed[KRP_MISS_EXITED])
		torture_wrong("%s: %lu calls of a live probe were missed as removed, %lu as exited",
			      name, c.missed[KRP_MISS_REMOVED], c.missed[KRP_MISS_EXITED]);
	if (steady->rp.maxactive == 512 && c.missed[KRP_MISS_EMPTY])
		torture_wrong("%s: %lu calls found none of 512 instances free", name,
			      c.missed[KRP_MISS_EMPTY]);
}

/**
 * torture_steady_check() - do all counts agree, and are all instances home?
 *
 * Context: process; nobody calls any more, and no other probes are left.
 */
void torture_steady_check(void)
{
	char what[200];
	int i, pools;

	for (i = 0; i < ARRAY_SIZE(torture_steadies); i++)
		torture_steady_check_one(&torture_steadies[i]);
	pools = torture_pools_full("torture_", what, sizeof(what));
	if (pools < 0)
		torture_wrong("pool: %s", what);
	else if (pools != ARRAY_SIZE(torture_steadies))
		torture_wrong("pool: there are %d, not %zu", pools, ARRAY_SIZE(torture_steadies));
}

/* Nobody has called since torture_steady_check(): these are the last counts. */
static void torture_steady_compare(struct torture_steady *steady)
{
	const struct krp_rethook_counts *c = &steady->counts;

	if (c->missed[KRP_MISS_EMPTY] + c->missed[KRP_MISS_UNWATCHED] != steady->rp.nmissed ||
	    c->missed[KRP_MISS_RECURSION] != steady->rp.kp.nmissed)
		torture_wrong("%s: nmissed is %d and %lu, not %lu and %lu",
			      torture_target_names[steady->target], steady->rp.nmissed,
			      steady->rp.kp.nmissed,
			      c->missed[KRP_MISS_EMPTY] + c->missed[KRP_MISS_UNWATCHED],
			      c->missed[KRP_MISS_RECURSION]);
}

/**
 * torture_steady_unregister() - remove them
 * @checked: after torture_steady_check()
 *
 * Context: process; nobody calls.
 */
void torture_steady_unregister(bool checked)
{
	struct krp_kretprobe *rps[ARRAY_SIZE(torture_steadies)];
	int i;

	/* Those that never were registered are passed over. */
	for (i = 0; i < ARRAY_SIZE(torture_steadies); i++)
		rps[i] = &torture_steadies[i].rp;
	krp_unregister_kretprobes(rps, ARRAY_SIZE(rps));
	for (i = 0; i < ARRAY_SIZE(torture_steadies); i++) {
		if (checked)
			torture_steady_compare(&torture_steadies[i]);
		torture_steady_free(&torture_steadies[i]);
	}
}

/**
 * torture_steady_show() - their part of the line of statistics
 * @buf: filled in
 * @size: of @buf
 *
 * Context: process; they are registered.
 */
void torture_steady_show(char *buf, size_t size)
{
	struct krp_rethook_counts c, all = {};
	int i, cause;

	for (i = 0; i < ARRAY_SIZE(torture_steadies); i++) {
		krp_rethook_counts(torture_steadies[i].rp.rh, &c);
		all.hits += c.hits;
		all.skipped += c.skipped;
		for (cause = 0; cause < KRP_NR_MISSES; cause++)
			all.missed[cause] += c.missed[cause];
	}
	snprintf(buf, size, "hits %lu skipped %lu empty %lu recursion %lu", all.hits, all.skipped,
		 all.missed[KRP_MISS_EMPTY], all.missed[KRP_MISS_RECURSION]);
}
