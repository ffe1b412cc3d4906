// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kretpool: what is hooked and how it goes. For root alone, a header
 * line each, columns stay as they are and new ones come last.
 */

#include <linux/bsearch.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/sort.h>

#include "attach.h"
#include "rethook_internal.h"

static const char * const krp_state_names[] = {
	[KRP_ENABLED] = "enabled",
	[KRP_DISABLED] = "disabled",
	[KRP_GONE] = "gone",
	[KRP_DRAINING] = "draining",
};

static struct proc_dir_entry *krp_proc_dir;

static int krp_probes_show(struct seq_file *m, void *v)
{
	struct krp_rethook_counts c;
	struct krp_rethook *rh;

	seq_puts(m, "id function state hits skipped missed_empty missed_recursion missed_unwatched missed_removed missed_exited inflight hook functions\n");
	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list) {
		krp_rethook_counts_locked(rh, &c);
		seq_printf(m, "%u %s %s %lu %lu %lu %lu %lu %lu %lu %lu %s %u\n",
			   rh->id, rh->name, krp_state_names[rh->state], c.hits, c.skipped,
			   c.missed[KRP_MISS_EMPTY], c.missed[KRP_MISS_RECURSION],
			   c.missed[KRP_MISS_UNWATCHED], c.missed[KRP_MISS_REMOVED],
			   c.missed[KRP_MISS_EXITED], c.inflight,
			   rh->state == KRP_ENABLED ? krp_way_name(rh->way) : "-",
			   rh->nr_links - rh->nr_gone);
	}
	mutex_unlock(&krp_mutex);
	krp_uret_list_probes(m);
	return 0;
}

static int krp_pools_show(struct seq_file *m, void *v)
{
	struct krp_rethook *rh;

	seq_puts(m, "id function objects allocated free bytes pops_stash pops_local pops_steal push_overflow misses limit\n");
	mutex_lock(&krp_mutex);
	list_for_each_entry(rh, &krp_rethooks, list) {
		struct krp_rethook_counts c;
		struct krp_objpool_stats st = {};
		unsigned long pops;

		/* Those that are draining have a pool only for those in flight. */
		if (rh->scratch || rh->state == KRP_DRAINING)
			continue;
		krp_rethook_counts_locked(rh, &c);
		krp_objpool_stats(&rh->pool, &st);
		/* Every pop became one of these; the stash does not count itself. */
		pops = c.hits + c.skipped + c.missed[KRP_MISS_EXITED] + c.inflight;
		seq_printf(m, "%u %s %u %u %lu %zu %lu %lu %lu %lu %lu %u\n",
			   rh->id, rh->name, rh->pool.nr_objs, rh->pool.nr_total, st.nr_free,
			   rh->pool.bytes, pops - min(pops, st.counts.local + st.counts.steals),
			   st.counts.local, st.counts.steals, st.counts.overflows,
			   st.counts.misses, krp_rethook_limit(rh));
	}
	mutex_unlock(&krp_mutex);
	krp_uret_list_pools(m);
	seq_printf(m, "# return thunks: %u of %u in use\n", krp_thunks_used(), KRP_NR_THUNKS);
	return 0;
}

/* A call in flight, copied so that nothing of it can go away. */
struct krp_inflight {
	struct task_struct *task;
	struct krp_rethook *rh;
	unsigned long since;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

struct krp_inflight_list {
	struct krp_rethook *rh;
	struct krp_inflight *calls;
	unsigned long nr;
	unsigned long max;
};

static void krp_inflight_add(void *obj, void *data)
{
	struct krp_inflight_list *list = data;
	struct krp_instance *inst = obj;
	struct krp_inflight *call;

	if (!krp_instance_inflight(inst))
		return;
	if (list->nr < list->max) {
		call = &list->calls[list->nr];
		call->task = READ_ONCE(inst->task);
		call->rh = list->rh;
		call->since = READ_ONCE(inst->since);
		call->pid = 0;
		strscpy(call->comm, "?", sizeof(call->comm));
	}
	list->nr++;
}

static int krp_inflight_cmp(const void *a, const void *b)
{
	const struct krp_inflight *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static void krp_inflight_collect(struct krp_inflight_list *list)
{
	struct krp_rethook *rh;

	list->nr = 0;
	list_for_each_entry(rh, &krp_rethooks, list) {
		list->rh = rh;
		krp_rethook_visit_instances(rh, krp_inflight_add, list);
	}
}

/*
 * The task of an instance may be gone by now: its address is only compared
 * with those of tasks that are there.
 */
static void krp_inflight_name(struct krp_inflight_list *list)
{
	struct task_struct *process, *task;

	sort(list->calls, list->nr, sizeof(*list->calls), krp_inflight_cmp, NULL);
	rcu_read_lock();
	for_each_process_thread(process, task) {
		struct krp_inflight key = { .task = task }, *call;

		call = bsearch(&key, list->calls, list->nr, sizeof(key), krp_inflight_cmp);
		if (!call)
			continue;
		while (call > list->calls && call[-1].task == task)
			call--;
		for (; call < list->calls + list->nr && call->task == task; call++) {
			call->pid = task_pid_nr(task);
			get_task_comm(call->comm, task);
		}
	}
	rcu_read_unlock();
}

static int krp_inflight_show(struct seq_file *m, void *v)
{
	struct krp_inflight_list list = {};
	unsigned long i;

	seq_puts(m, "id function pid comm ms\n");
	mutex_lock(&krp_mutex);
	krp_inflight_collect(&list);
	/* A few more, as calls go on being made. */
	list.max = list.nr + 64;
	list.calls = kvmalloc_array(list.max, sizeof(*list.calls), GFP_KERNEL);
	if (!list.calls) {
		mutex_unlock(&krp_mutex);
		return -ENOMEM;
	}
	krp_inflight_collect(&list);
	list.nr = min(list.nr, list.max);
	krp_inflight_name(&list);
	for (i = 0; i < list.nr; i++) {
		struct krp_inflight *call = &list.calls[i];

		seq_printf(m, "%u %s %d %s %u\n", call->rh->id, call->rh->name, call->pid,
			   call->comm, jiffies_to_msecs(jiffies - call->since));
	}
	mutex_unlock(&krp_mutex);
	kvfree(list.calls);
	krp_uret_list_inflight(m);
	return 0;
}

static int krp_version_show(struct seq_file *m, void *v)
{
	seq_puts(m, KRP_VERSION "\n");
	return 0;
}

/**
 * krp_proc_init() - make /proc/kretpool
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int krp_proc_init(void)
{
	krp_proc_dir = proc_mkdir("kretpool", NULL);
	if (krp_proc_dir &&
	    proc_create_single("probes", 0400, krp_proc_dir, krp_probes_show) &&
	    proc_create_single("pools", 0400, krp_proc_dir, krp_pools_show) &&
	    proc_create_single("inflight", 0400, krp_proc_dir, krp_inflight_show) &&
	    proc_create_single("version", 0444, krp_proc_dir, krp_version_show) &&
	    !krp_control_init(krp_proc_dir) && !krp_latency_init(krp_proc_dir))
		return 0;
	proc_remove(krp_proc_dir);
	return -ENOMEM;
}

/**
 * krp_proc_exit() - remove /proc/kretpool
 *
 * Context: process.
 */
void krp_proc_exit(void)
{
	proc_remove(krp_proc_dir);
}
