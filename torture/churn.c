// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes that come and go while every CPU calls: on the functions in callers.c
 * and on the busiest ones of the kernel, alone and in batches, several on one
 * function, enabled and disabled, and overwritten and freed at once when they
 * are unregistered.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "torture.h"

#define MAGIC		0x7011ed1a
#define BATCH_MAX	8
#define HOT_MAX		96

/* Names differ between kernels: those that are not there are left out. */
static const char * const hot_names[HOT_MAX] = {
	/* scheduler */
	"try_to_wake_up", "ttwu_do_activate", "enqueue_task_fair", "dequeue_task_fair",
	"pick_next_task_fair", "put_prev_task_fair", "update_curr", "select_task_rq_fair",
	"scheduler_tick", "sched_tick", "task_tick_fair", "update_rq_clock", "resched_curr",
	"check_preempt_curr", "wakeup_preempt", "schedule_tail", "wake_up_new_task",
	"activate_task", "set_next_entity", "load_balance", "sched_balance_rq", "sched_clock_cpu",
	/* timers, interrupts, RCU */
	"hrtimer_interrupt", "hrtimer_start_range_ns", "tick_sched_timer", "tick_nohz_handler",
	"update_process_times", "mod_timer", "ktime_get", "timerqueue_add", "timerqueue_del",
	"run_timer_softirq", "rcu_sched_clock_irq", "note_gp_changes", "call_rcu",
	"irq_work_run", "handle_irq_event", "clockevents_program_event",
	"generic_exec_single", "flush_smp_call_function_queue", "__flush_smp_call_function_queue",
	/* locks */
	"_raw_spin_lock_irqsave", "_raw_spin_unlock_irqrestore", "_raw_spin_lock", "mutex_lock",
	"mutex_unlock", "down_read", "up_read",
	/* memory */
	"__alloc_pages", "__alloc_pages_noprof", "get_page_from_freelist", "free_unref_page",
	"kmem_cache_alloc", "kmem_cache_alloc_noprof", "kmem_cache_free", "kfree", "__kmalloc",
	"__kmalloc_noprof", "handle_mm_fault", "do_anonymous_page", "do_wp_page",
	"unmap_page_range", "vm_area_alloc", "find_vma", "mmput",
	/* VFS */
	"vfs_read", "vfs_write", "vfs_open", "path_openat", "do_filp_open", "link_path_walk",
	"dput", "d_lookup", "__d_lookup", "fput", "iput", "inode_permission",
	"generic_permission", "vfs_statx", "filp_close", "security_file_permission",
	/* processes */
	"copy_process", "do_exit", "do_group_exit", "get_signal", "release_task",
	"begin_new_exec", "send_signal_locked",
};

static const char *hot[HOT_MAX];
static int hot_nr, hot_refused;

static atomic_long_t registrations, refusals, batches, toggles, hot_hits;

/**
 * struct torture_probe - a probe that goes again
 * @magic: MAGIC while it may be seen by a handler
 * @rp: the probe
 * @runs: of the handler
 */
struct torture_probe {
	u32 magic;
	struct krp_kretprobe rp;
	atomic_long_t runs;
};

static struct torture_probe *churn_probe_of(struct krp_instance *ri)
{
	struct krp_kretprobe *rp = krp_get_kretprobe(ri);
	struct torture_probe *probe = container_of(rp, struct torture_probe, rp);

	if (!rp || READ_ONCE(probe->magic) != MAGIC) {
		torture_wrong("a handler runs for a probe that is gone");
		return NULL;
	}
	return probe;
}

static int churn_nothing(struct krp_instance *ri, struct pt_regs *regs)
{
	struct torture_probe *probe = churn_probe_of(ri);

	if (probe)
		atomic_long_inc(&probe->runs);
	return 0;
}

static int churn_calls_probed(struct krp_instance *ri, struct pt_regs *regs)
{
	struct torture_probe *probe = churn_probe_of(ri);

	if (probe && torture_leaf(atomic_long_inc_return(&probe->runs), 1) == 1)
		torture_wrong("a call from a handler returned something else");
	return 0;
}

static int churn_runs_long(struct krp_instance *ri, struct pt_regs *regs)
{
	struct torture_probe *probe = churn_probe_of(ri);

	if (probe && !(atomic_long_inc_return(&probe->runs) % 64) && torture_long)
		udelay(20);
	return 0;
}

static int churn_entry_skips(struct krp_instance *ri, struct pt_regs *regs)
{
	return !churn_probe_of(ri) || ri->thunk & 8;
}

static const krp_handler_t churn_handlers[] = {
	churn_nothing, churn_nothing, churn_calls_probed, churn_runs_long,
};

/* 0 may grow. */
static const int churn_sizes[] = { 0, 1, 1, 2, 8, 64, 512 };

static struct torture_probe *churn_new(struct rnd_state *rnd)
{
	struct torture_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;
	probe->magic = MAGIC;
	if (hot_nr && torture_random(rnd, 2))
		probe->rp.kp.symbol_name = hot[torture_random(rnd, hot_nr)];
	else
		probe->rp.kp.symbol_name =
			torture_target_names[torture_random(rnd, TORTURE_TARGETS)];
	probe->rp.handler = churn_handlers[torture_random(rnd, ARRAY_SIZE(churn_handlers))];
	probe->rp.maxactive = churn_sizes[torture_random(rnd, ARRAY_SIZE(churn_sizes))];
	if (!torture_random(rnd, 3))
		probe->rp.data_size = torture_random(rnd, 256);
	if (!torture_random(rnd, 3))
		probe->rp.entry_handler = churn_entry_skips;
	if (!torture_random(rnd, 8))
		probe->rp.handler = NULL;
	if (!torture_random(rnd, 8) && torture_full_regs)
		probe->rp.krp_flags = KRP_KRETPROBE_FULL_REGS;
	if (!torture_random(rnd, 4))
		probe->rp.kp.flags = KPROBE_FLAG_DISABLED;
	return probe;
}

/* Its memory becomes something else, whoever still looks will notice. */
static void churn_free(struct torture_probe *probe)
{
	memset(probe, 0x6b, sizeof(*probe));
	kfree(probe);
}

static bool churn_is_hot(const struct torture_probe *probe)
{
	return strncmp(probe->rp.kp.symbol_name, "torture_", 8);
}

/* Once disabled, and with nothing in flight, every hit was one run. */
static void churn_settle(struct torture_probe *probe)
{
	struct krp_rethook_counts c;
	unsigned int left;

	if (krp_disable_kretprobe(&probe->rp))
		torture_wrong("%s cannot be disabled", probe->rp.kp.symbol_name);
	/* Others may sleep in there for long. */
	if (churn_is_hot(probe) || !probe->rp.handler)
		return;
	for (left = 60000; left; left--) {
		krp_rethook_counts(probe->rp.rh, &c);
		if (!c.inflight)
			break;
		usleep_range(500, 1500);
	}
	if (!left)
		torture_wrong("%s: %lu calls do not return", probe->rp.kp.symbol_name,
			      c.inflight);
	/* Again: what was in flight just then may not have been counted yet. */
	krp_rethook_counts(probe->rp.rh, &c);
	if (c.hits != atomic_long_read(&probe->runs))
		torture_wrong("%s: %lu hits, but the handler ran %ld times",
			      probe->rp.kp.symbol_name, c.hits, atomic_long_read(&probe->runs));
	/* What the kernel's kprobes missed is added at removal. */
	if (probe->rp.nmissed != c.missed[KRP_MISS_EMPTY] ||
	    probe->rp.kp.nmissed > c.missed[KRP_MISS_RECURSION])
		torture_wrong("%s: nmissed is %d and %lu, not %lu and %lu",
			      probe->rp.kp.symbol_name, probe->rp.nmissed, probe->rp.kp.nmissed,
			      c.missed[KRP_MISS_EMPTY], c.missed[KRP_MISS_RECURSION]);
}

static void churn_pause(struct rnd_state *rnd)
{
	unsigned long us = torture_random(rnd, 20000);

	usleep_range(us, us + 100);
}

static void churn_one(struct rnd_state *rnd)
{
	struct torture_probe *probe = churn_new(rnd);
	int n = torture_random(rnd, 3);

	if (!probe)
		return;
	if (krp_register_kretprobe(&probe->rp)) {
		atomic_long_inc(&refusals);
		goto free;
	}
	atomic_long_inc(&registrations);
	churn_pause(rnd);
	while (n--) {
		if (krp_disable_kretprobe(&probe->rp) || krp_enable_kretprobe(&probe->rp))
			torture_wrong("%s cannot be enabled", probe->rp.kp.symbol_name);
		atomic_long_inc(&toggles);
		churn_pause(rnd);
	}
	if (!torture_random(rnd, 3))
		churn_settle(probe);
	krp_unregister_kretprobe(&probe->rp);
	if (churn_is_hot(probe))
		atomic_long_add(atomic_long_read(&probe->runs), &hot_hits);
free:
	churn_free(probe);
}

static void churn_batch(struct rnd_state *rnd)
{
	struct torture_probe *probes[BATCH_MAX];
	struct krp_kretprobe *rps[BATCH_MAX];
	int i, n = 0, max = 2 + torture_random(rnd, BATCH_MAX - 1);

	while (n < max) {
		probes[n] = churn_new(rnd);
		if (!probes[n])
			break;
		rps[n] = &probes[n]->rp;
		n++;
	}
	if (n && !krp_register_kretprobes(rps, n)) {
		atomic_long_inc(&batches);
		atomic_long_add(n, &registrations);
		churn_pause(rnd);
		krp_unregister_kretprobes(rps, n);
	} else {
		atomic_long_inc(&refusals);
	}
	for (i = 0; i < n; i++) {
		if (churn_is_hot(probes[i]))
			atomic_long_add(atomic_long_read(&probes[i]->runs), &hot_hits);
		churn_free(probes[i]);
	}
}

static struct torture_threads churners;

static int churner(void *data)
{
	struct rnd_state rnd;

	torture_seed(&rnd, 2000 + (unsigned long)data);
	while (!kthread_should_stop()) {
		if (torture_batches && !torture_random(&rnd, 4))
			churn_batch(&rnd);
		else
			churn_one(&rnd);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/**
 * torture_churn_find() - which of the kernel's functions can be probed here?
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int torture_churn_find(void)
{
	int i;

	for (i = 0; torture_hot && i < HOT_MAX && hot_names[i]; i++) {
		struct krp_kretprobe rp = {
			.kp.symbol_name = hot_names[i],
			.kp.flags = KPROBE_FLAG_DISABLED,
			.maxactive = 1,
			.handler = churn_nothing,
		};

		switch (krp_register_kretprobe(&rp)) {
		case 0:
			krp_unregister_kretprobe(&rp);
			hot[hot_nr++] = hot_names[i];
			break;
		case -ENOMEM:
			return -ENOMEM;
		default:
			hot_refused++;
		}
	}
	if (torture_hot)
		pr_info("%d of %d busy functions can be probed here\n", hot_nr,
			hot_nr + hot_refused);
	return 0;
}

/**
 * torture_churn_start() - let probes come and go
 *
 * Context: process.
 * Return: 0 or -ENOMEM and the like; none comes then.
 */
int torture_churn_start(void)
{
	return torture_threads_start(&churners, torture_nchurners, churner, "torture_churn");
}

/**
 * torture_churn_stop() - all have gone when this returns
 *
 * Context: process.
 */
void torture_churn_stop(void)
{
	torture_threads_stop(&churners);
}

/**
 * torture_churn_show() - their part of the line of statistics
 * @buf: filled in
 * @size: of @buf
 */
void torture_churn_show(char *buf, size_t size)
{
	snprintf(buf, size, "probes %ld batches %ld toggles %ld refused %ld hot functions %d hits %ld",
		 atomic_long_read(&registrations), atomic_long_read(&batches),
		 atomic_long_read(&toggles), atomic_long_read(&refusals), hot_nr,
		 atomic_long_read(&hot_hits));
}
