// SPDX-License-Identifier: GPL-2.0-only
/* The part of /proc/kretpool that probes of user-space functions have. */

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "uret_internal.h"
#include "rethook_internal.h"

/* A file's name may hold anything, and columns are told apart by blanks. */
static void krp_uret_list_name(struct seq_file *m, struct krp_uretprobe *up)
{
	seq_printf(m, "%u ", up->id);
	seq_escape(m, up->name, " \t\n\\");
}

/**
 * krp_uret_list_probes() - these probes' lines of "probes"
 * @m: the file
 *
 * Context: process.
 */
void krp_uret_list_probes(struct seq_file *m)
{
	struct krp_uretprobe_counts c;
	struct krp_uretprobe *up;

	mutex_lock(&krp_uret_mutex);
	list_for_each_entry(up, &krp_uretprobes, list) {
		krp_uretprobe_counts(up, &c);
		krp_uret_list_name(m, up);
		seq_printf(m, " enabled %lu %lu %lu %lu %lu %lu %lu %lu uprobe\n",
			   c.hits, c.skipped, c.missed[KRP_MISS_EMPTY],
			   c.missed[KRP_MISS_RECURSION], c.missed[KRP_MISS_UNWATCHED],
			   c.missed[KRP_MISS_REMOVED], c.missed[KRP_MISS_EXITED], c.inflight);
	}
	mutex_unlock(&krp_uret_mutex);
}

/**
 * krp_uret_list_pools() - their lines of "pools"
 * @m: the file
 *
 * Context: process.
 */
void krp_uret_list_pools(struct seq_file *m)
{
	struct krp_uretprobe *up;

	mutex_lock(&krp_uret_mutex);
	list_for_each_entry(up, &krp_uretprobes, list) {
		struct krp_uretprobe_counts c;
		struct krp_objpool_stats st;
		unsigned long pops;
		unsigned int limit;

		if (!up->handler)
			continue;
		krp_uretprobe_counts(up, &c);
		krp_objpool_stats(&up->pool, &st);
		/* Every pop became one of these; the stash does not count itself. */
		pops = c.hits + c.skipped + c.missed[KRP_MISS_EXITED] + c.inflight;
		limit = up->pool.nr_objs;
		if (up->grows)
			limit = max(limit, krp_max_instances());
		krp_uret_list_name(m, up);
		seq_printf(m, " %u %u %lu %zu %lu %lu %lu %lu %lu %u\n",
			   up->pool.nr_objs, up->pool.nr_total, st.nr_free, up->pool.bytes,
			   pops - min(pops, st.counts.local + st.counts.steals),
			   st.counts.local, st.counts.steals, st.counts.overflows,
			   st.counts.misses, limit);
	}
	mutex_unlock(&krp_uret_mutex);
}

struct krp_uret_inflight {
	struct seq_file *m;
	struct krp_uretprobe *up;
};

static void krp_uret_list_call(void *obj, void *data)
{
	struct krp_uret_inflight *list = data;
	struct krp_uret_call *call = obj;
	struct task_struct *owner = READ_ONCE(call->task), *task;
	char comm[TASK_COMM_LEN] = "?";

	if (!owner)
		return;
	/* It may have returned by now, or exited: the address is only compared. */
	task = pid_task(find_pid_ns(READ_ONCE(call->pid), &init_pid_ns), PIDTYPE_PID);
	if (task && task == owner)
		get_task_comm(comm, task);
	krp_uret_list_name(list->m, list->up);
	seq_printf(list->m, " %d %s %u\n", READ_ONCE(call->pid), comm,
		   jiffies_to_msecs(jiffies - READ_ONCE(call->since)));
}

/**
 * krp_uret_list_inflight() - their calls' lines of "inflight"
 * @m: the file
 *
 * Context: process.
 */
void krp_uret_list_inflight(struct seq_file *m)
{
	struct krp_uret_inflight list = { .m = m };

	mutex_lock(&krp_uret_mutex);
	list_for_each_entry(list.up, &krp_uretprobes, list) {
		if (!list.up->handler)
			continue;
		rcu_read_lock();
		krp_objpool_for_each(&list.up->pool, krp_uret_list_call, &list);
		rcu_read_unlock();
	}
	mutex_unlock(&krp_uret_mutex);
}
