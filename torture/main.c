// SPDX-License-Identifier: GPL-2.0-only
/*
 * kretpool_torture: starts and stops the others, says how it goes, and judges
 * when it is unloaded, as rcutorture does:
 *
 *   insmod kretpool_torture.ko duration=60
 *   rmmod kretpool_torture; dmesg | grep -e 'End of test' -e '!!!'
 *
 * Writing 0 to the parameter "run" stops everything, checks that all counts
 * agree and leaves nothing hooked; 1 starts again.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "torture.h"

static int duration;
module_param(duration, int, 0444);
MODULE_PARM_DESC(duration, "seconds until it stops by itself (0: not)");

static int stat_interval = 10;
module_param(stat_interval, int, 0444);
MODULE_PARM_DESC(stat_interval, "seconds between lines of statistics in the log (0: none)");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random numbers");

int torture_nreaders = -1;
module_param_named(nreaders, torture_nreaders, int, 0444);
MODULE_PARM_DESC(nreaders, "tasks that call (-1: one per CPU)");

int torture_nchurners = 3;
module_param_named(nchurners, torture_nchurners, int, 0444);
MODULE_PARM_DESC(nchurners, "tasks that register and unregister");

bool torture_hot = true;
module_param_named(hot, torture_hot, bool, 0444);
MODULE_PARM_DESC(hot, "probe the kernel's busiest functions, too");

bool torture_timers = true;
module_param_named(timers, torture_timers, bool, 0444);
MODULE_PARM_DESC(timers, "call from a timer on each CPU");

bool torture_nmis = true;
module_param_named(nmis, torture_nmis, bool, 0444);
MODULE_PARM_DESC(nmis, "call from NMIs, where they can be sent");

bool torture_batches = true;
module_param_named(batches, torture_batches, bool, 0444);
MODULE_PARM_DESC(batches, "register and unregister several at once, too");

bool torture_long = true;
module_param_named(long_handlers, torture_long, bool, 0444);
MODULE_PARM_DESC(long_handlers, "some handlers take tens of microseconds");

bool torture_full_regs = true;
module_param_named(full_regs, torture_full_regs, bool, 0444);
MODULE_PARM_DESC(full_regs, "some probes want all registers, and their function changes hooks");

atomic_long_t torture_errors;

/* Of what follows, and of starting and stopping. */
static DEFINE_MUTEX(torture_mutex);
static bool torture_loaded;
static bool torture_running;
static bool torture_failed_to_start;
static unsigned long torture_rounds;
static long torture_thunks;
static unsigned int torture_older;
static unsigned long torture_since, torture_ran;

/**
 * torture_seed() - random numbers of one's own
 * @rnd: filled in
 * @who: whose, so that all differ
 */
void torture_seed(struct rnd_state *rnd, unsigned int who)
{
	/* Each round goes another way. */
	prandom_seed_state(rnd, ((u64)seed << 32) + torture_rounds * 10000 + who);
}

static void torture_say(struct work_struct *work);
static void torture_end(struct work_struct *work);
static DECLARE_DELAYED_WORK(torture_say_work, torture_say);
static DECLARE_DELAYED_WORK(torture_end_work, torture_end);

static void torture_line(void)
{
	char callers[100], steady[100], churn[120], users[80];

	torture_callers_show(callers, sizeof(callers));
	torture_steady_show(steady, sizeof(steady));
	torture_churn_show(churn, sizeof(churn));
	torture_users_show(users, sizeof(users));
	pr_info("%lu s: %s; %s; %s; %s; errors %ld\n", (jiffies - torture_since) / HZ, callers,
		steady, churn, users, atomic_long_read(&torture_errors));
}

static void torture_say(struct work_struct *work)
{
	mutex_lock(&torture_mutex);
	if (torture_running) {
		torture_line();
		schedule_delayed_work(&torture_say_work, stat_interval * HZ);
	}
	mutex_unlock(&torture_mutex);
}

/*
 * What draining probes hold comes back when the last task has returned. A
 * kernel thread that sleeps in a function once probed may not do so for hours.
 */
static void torture_thunks_check(void)
{
	long used, others, sleepers = -1;
	int tenths;

	for (tenths = 0; tenths < 600; tenths++) {
		sleepers = torture_sleepers(torture_older, &others);
		used = torture_thunks_used() - others;
		/* Most are only slow: give them a few seconds. */
		if (used == torture_thunks)
			return;
		if (tenths >= 50 && sleepers > 0 && used - sleepers == torture_thunks) {
			pr_info("%ld calls sleep on in functions that were probed\n", sleepers);
			return;
		}
		msleep(100);
	}
	torture_wrong("%ld return thunks are in use a minute after the end, %ld of them by calls asleep; %ld were before",
		      used, sleepers, torture_thunks);
}

static int torture_start(void)
{
	long others;
	int ret;

	torture_older = torture_newest();
	torture_sleepers(torture_older, &others);
	torture_thunks = torture_thunks_used() - others;
	ret = torture_steady_register();
	if (ret)
		return ret;
	ret = torture_callers_start();
	if (ret)
		goto steady;
	ret = torture_churn_start();
	if (ret)
		goto callers;
	ret = torture_users_start();
	if (ret)
		goto churn;
	torture_since = jiffies;
	torture_running = true;
	if (stat_interval > 0)
		schedule_delayed_work(&torture_say_work, stat_interval * HZ);
	return 0;

churn:
	torture_churn_stop();
callers:
	torture_callers_stop();
steady:
	torture_steady_unregister(false);
	return ret;
}

static void torture_stop(void)
{
	if (!torture_running)
		return;
	torture_churn_stop();
	torture_callers_stop();
	torture_line();
	torture_users_stop();
	torture_steady_check();
	torture_steady_unregister(true);
	torture_thunks_check();
	torture_running = false;
	torture_rounds++;
	torture_ran += (jiffies - torture_since) / HZ;
}

static void torture_end(struct work_struct *work)
{
	mutex_lock(&torture_mutex);
	torture_stop();
	mutex_unlock(&torture_mutex);
}

/* Before the module is initialised this is only remembered. */
static bool torture_run = true;

struct torture_change {
	struct work_struct work;
	struct completion done;
	bool run;
	int ret;
};

static void torture_change(struct work_struct *work)
{
	struct torture_change *change = container_of(work, struct torture_change, work);

	mutex_lock(&torture_mutex);
	torture_run = change->run;
	if (torture_loaded && torture_run != torture_running) {
		if (torture_run)
			change->ret = torture_start();
		else
			torture_stop();
		torture_failed_to_start |= change->ret;
	}
	mutex_unlock(&torture_mutex);
	complete(&change->done);
}

/*
 * By a worker: both read files, and who writes a parameter holds a lock of a file,
 * which lockdep takes for one that is held while a parameter is read.
 */
static int torture_run_set(const char *val, const struct kernel_param *kp)
{
	struct torture_change change = { .ret = 0 };
	int ret = kstrtobool(val ?: "1", &change.run);

	if (ret)
		return ret;
	INIT_WORK_ONSTACK(&change.work, torture_change);
	init_completion(&change.done);
	queue_work(system_unbound_wq, &change.work);
	wait_for_completion(&change.done);
	destroy_work_on_stack(&change.work);
	return change.ret;
}

static int torture_run_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", READ_ONCE(torture_running));
}

static const struct kernel_param_ops torture_run_ops = {
	.set = torture_run_set,
	.get = torture_run_get,
};

module_param_cb(run, &torture_run_ops, &torture_run, 0600);
MODULE_PARM_DESC(run, "1: running, 0: stopped, with nothing hooked");

static int torture_errors_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%ld\n", atomic_long_read(&torture_errors));
}

static const struct kernel_param_ops torture_errors_ops = { .get = torture_errors_get };

module_param_cb(errors, &torture_errors_ops, NULL, 0400);
MODULE_PARM_DESC(errors, "what was wrong, so far");

static int __init torture_init(void)
{
	int ret = torture_churn_find();

	if (ret)
		return ret;
	if (torture_nreaders < 0)
		torture_nreaders = num_online_cpus();
	pr_info("--- Start of test: duration=%d stat_interval=%d nreaders=%d nchurners=%d hot=%d timers=%d nmis=%d batches=%d long_handlers=%d full_regs=%d seed=%u\n",
		duration, stat_interval, torture_nreaders, torture_nchurners, torture_hot,
		torture_timers, torture_nmis, torture_batches, torture_long, torture_full_regs, seed);
	mutex_lock(&torture_mutex);
	if (torture_run)
		ret = torture_start();
	torture_loaded = !ret;
	mutex_unlock(&torture_mutex);
	if (!ret && duration > 0)
		schedule_delayed_work(&torture_end_work, duration * HZ);
	return ret;
}

static void __exit torture_exit(void)
{
	long errors;

	cancel_delayed_work_sync(&torture_end_work);
	mutex_lock(&torture_mutex);
	torture_stop();
	mutex_unlock(&torture_mutex);
	cancel_delayed_work_sync(&torture_say_work);
	errors = atomic_long_read(&torture_errors);
	if (errors)
		pr_alert("--- End of test: FAILURE: %ld errors, the first of them above with !!!\n",
			 errors);
	else if (torture_failed_to_start || !torture_rounds)
		pr_alert("--- End of test: FAILURE: it did not run\n");
	else
		pr_info("--- End of test: SUCCESS: %lu rounds, %lu s\n", torture_rounds,
			torture_ran);
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Torture test of kretpool");
MODULE_AUTHOR("The kretpool developers");
