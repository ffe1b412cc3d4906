// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long calls of attached functions took: per function and CPU a histogram
 * in powers of two. /proc/kretpool/latency shows them.
 *
 * A hit reads the clock twice and adds to its own CPU's histogram: no locked
 * instruction, no line that another CPU writes. Handlers do not interrupt each
 * other on a CPU, so that plain additions are exact. Those of functions of programs
 * run in tasks, and do not let others run meanwhile.
 *
 * Memory: sizeof(struct krp_hist), 320 bytes, per function and possible CPU; at
 * most what the parameter latency_mib says for all attachments together.
 */

#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include "attach.h"
#include "rethook_internal.h"

static uint krp_latency_mib = 64;
module_param_named(latency_mib, krp_latency_mib, uint, 0600);
MODULE_PARM_DESC(latency_mib, "memory for the histograms of what people attach, in MiB (64)");

/* Of all attachments; protected by krp_attach_mutex. */
static size_t krp_latency_used;

/**
 * struct krp_latency - the histograms of one attachment
 * @nr: functions
 * @bytes: all memory of this
 * @hist: by CPU, then by krp_multi_index()
 */
struct krp_latency {
	unsigned int nr;
	size_t bytes;
	struct krp_hist *hist[];
};

/* The clock is the fast one, which may step back by a little when it is adjusted. */
static __always_inline void krp_latency_record(struct krp_latency *lat, unsigned int index,
					       u64 since)
{
	u64 ns = ktime_get_mono_fast_ns() - since;
	struct krp_hist *hist;

	ns = (s64)ns < 0 ? 0 : ns;
	hist = &lat->hist[raw_smp_processor_id()][index];
	hist->total_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	hist->buckets[min_t(unsigned int, __fls(ns | 1), KRP_HIST_BUCKETS - 1)]++;
}

/**
 * krp_latency_exit() - an attached function returns
 * @m: the probe, with KRP_RETHOOK_TIMED
 * @ip: not used
 * @inst: has the time of entry
 * @regs: not used
 *
 * Context: any, preemption off.
 */
void __kprobes krp_latency_exit(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
				struct pt_regs *regs)
{
	/* Pairs with the release in krp_attach_time(), through the dependency. */
	struct krp_latency *lat = READ_ONCE(container_of(m, struct krp_attach, multi)->latency);

	/* The first calls may come before the histograms. */
	if (likely(lat))
		krp_latency_record(lat, krp_multi_index(inst), *(u64 *)inst->data);
}

/**
 * krp_latency_returned() - an attached function of a program has returned
 * @lat: the histograms
 * @index: of the function
 * @since: ktime_get_mono_fast_ns() at its entry
 *
 * Context: process.
 */
void krp_latency_returned(struct krp_latency *lat, unsigned int index, u64 since)
{
	/* Another task's would come in between. */
	preempt_disable();
	krp_latency_record(lat, index, since);
	preempt_enable();
}

/**
 * krp_latency_need() - what histograms of some functions take
 * @functions: how many
 *
 * Context: any.
 * Return: bytes.
 */
size_t krp_latency_need(unsigned int functions)
{
	return sizeof(struct krp_latency) + nr_cpu_ids * sizeof(struct krp_hist *) +
	       (size_t)functions * num_possible_cpus() * sizeof(struct krp_hist);
}

/**
 * krp_latency_limit() - what histograms may take
 *
 * Context: process, krp_attach_mutex held.
 * Return: bytes that are left.
 */
size_t krp_latency_limit(void)
{
	size_t limit = (size_t)READ_ONCE(krp_latency_mib) << 20;

	return limit - min(limit, krp_latency_used);
}

/**
 * krp_latency_bytes() - what histograms take
 * @lat: the histograms or NULL
 *
 * Context: any.
 * Return: bytes.
 */
size_t krp_latency_bytes(const struct krp_latency *lat)
{
	return lat ? lat->bytes : 0;
}

/**
 * krp_latency_free() - free histograms
 * @lat: the histograms or NULL
 *
 * Context: process, krp_attach_mutex held; no handler uses them.
 */
void krp_latency_free(struct krp_latency *lat)
{
	unsigned int cpu;

	if (!lat)
		return;
	for_each_possible_cpu(cpu)
		kvfree(lat->hist[cpu]);
	krp_latency_used -= lat->bytes;
	kfree(lat);
}

/**
 * krp_latency_alloc() - make histograms for all functions of an attachment
 * @functions: how many
 *
 * Context: process, krp_attach_mutex held.
 * Return: the histograms, ERR_PTR(-E2BIG) if they are more than latency_mib
 * allows, ERR_PTR(-ENOMEM).
 */
struct krp_latency *krp_latency_alloc(unsigned int functions)
{
	size_t need = krp_latency_need(functions);
	struct krp_latency *lat;
	unsigned int cpu;

	if (need > krp_latency_limit())
		return ERR_PTR(-E2BIG);
	lat = kzalloc(struct_size(lat, hist, nr_cpu_ids), GFP_KERNEL);
	if (!lat)
		return ERR_PTR(-ENOMEM);
	krp_latency_used += need;
	lat->bytes = need;
	lat->nr = functions;
	for_each_possible_cpu(cpu) {
		lat->hist[cpu] = kvzalloc_node(array_size(functions, sizeof(struct krp_hist)),
					       GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
					       cpu_to_node(cpu));
		if (!lat->hist[cpu]) {
			krp_latency_free(lat);
			return ERR_PTR(-ENOMEM);
		}
	}
	return lat;
}

/* Where a reader is: the attachment with this id or the next, and its function. */
#define KRP_POS_BITS		24
#define KRP_POS(id, index)	(((loff_t)(id) << KRP_POS_BITS) | (index))

struct krp_latency_iter {
	struct krp_attach *att;
	unsigned int index;
};

/* Those that have gone since the last read are passed over. */
static void *krp_latency_at(struct krp_latency_iter *iter, loff_t *pos)
{
	unsigned int id = *pos >> KRP_POS_BITS;

	iter->index = *pos & (KRP_POS(1, 0) - 1);
	list_for_each_entry(iter->att, &krp_attached, list) {
		if (iter->att->id < id)
			continue;
		if (iter->att->id > id)
			iter->index = 0;
		if (iter->index >= iter->att->latency->nr)
			continue;
		*pos = KRP_POS(iter->att->id, iter->index);
		return iter;
	}
	return NULL;
}

static void *krp_latency_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&krp_attach_mutex);
	return *pos ? krp_latency_at(m->private, pos) : SEQ_START_TOKEN;
}

static void *krp_latency_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return krp_latency_at(m->private, pos);
}

static void krp_latency_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&krp_attach_mutex);
}

static u64 krp_latency_sum(const struct krp_latency *lat, unsigned int index, struct krp_hist *sum)
{
	unsigned int cpu, i;
	u64 calls = 0;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		struct krp_hist *hist = &lat->hist[cpu][index];

		sum->total_ns += READ_ONCE(hist->total_ns);
		sum->max_ns = max(sum->max_ns, READ_ONCE(hist->max_ns));
		for (i = 0; i < KRP_HIST_BUCKETS; i++)
			sum->buckets[i] += READ_ONCE(hist->buckets[i]);
	}
	for (i = 0; i < KRP_HIST_BUCKETS; i++)
		calls += sum->buckets[i];
	return calls;
}

/* The function's name, one word; "?" if it is gone: no address must be shown. */
static void krp_latency_name(struct seq_file *m, struct krp_attach *att, unsigned int index)
{
	struct krp_multi *multi = &att->multi;
	char name[KSYM_SYMBOL_LEN];

	if (att->user) {
		krp_uattach_name(m, att->user, index);
		return;
	}
	sprint_symbol_no_offset(name, krp_multi_address(multi, index));
	/* Its address may be another's by now. */
	if (!strncmp(name, "0x", 2) || READ_ONCE(multi->rh->links[index].gone))
		strscpy(name, "?", KSYM_SYMBOL_LEN);
	/* Not the "[module]" behind it. */
	*strchrnul(name, ' ') = '\0';
	seq_puts(m, name);
}

static int krp_latency_show(struct seq_file *m, void *v)
{
	struct krp_latency_iter *iter = v;
	struct krp_hist sum;
	unsigned int i;
	u64 calls;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "id function calls total_ns max_ns");
		for (i = 1; i < KRP_HIST_BUCKETS; i++)
			seq_printf(m, " lt_%llu", 1ULL << i);
		seq_puts(m, " more\n");
		return 0;
	}
	calls = krp_latency_sum(iter->att->latency, iter->index, &sum);
	if (!calls)
		return SEQ_SKIP;
	seq_printf(m, "%u ", iter->att->id);
	krp_latency_name(m, iter->att, iter->index);
	seq_printf(m, " %llu %llu %llu", calls, sum.total_ns, sum.max_ns);
	for (i = 0; i < KRP_HIST_BUCKETS; i++)
		seq_put_decimal_ull(m, " ", sum.buckets[i]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations krp_latency_ops = {
	.start = krp_latency_start,
	.next = krp_latency_next,
	.stop = krp_latency_stop,
	.show = krp_latency_show,
};

/**
 * krp_latency_init() - make /proc/kretpool/latency
 * @dir: /proc/kretpool
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int krp_latency_init(struct proc_dir_entry *dir)
{
	return proc_create_seq_private("latency", 0400, dir, &krp_latency_ops,
				       sizeof(struct krp_latency_iter), NULL) ? 0 : -ENOMEM;
}
