// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that sleep, for scripts:
 *
 *   cat /proc/kretpool_test/sleep        sleeps in the probed function
 *   echo wake > /proc/kretpool_test/sleep
 *   echo "on 8" > /proc/kretpool_test/probe    probe it with 8 instances
 *   echo off > /proc/kretpool_test/probe
 *   cat /proc/kretpool_test/probe        calls, handler runs, nmissed, in flight
 */

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/wait.h>

#include "command.h"
#include "test.h"

static DECLARE_WAIT_QUEUE_HEAD(sleep_queue);
static atomic_t sleep_wakes, sleep_calls, sleep_hits, sleep_asleep;

noinline krp_noipa int krp_target_sleep(int wakes)
{
	int ret;

	atomic_inc(&sleep_calls);
	atomic_inc(&sleep_asleep);
	ret = wait_event_interruptible(sleep_queue, atomic_read(&sleep_wakes) != wakes);
	atomic_dec(&sleep_asleep);
	return ret;
}

/* What kretpool_patch patches. */
noinline krp_noipa int krp_sleep_caller(int wakes)
{
	int ret = krp_target_sleep(wakes);

	barrier();
	return ret;
}

static int sleep_show(struct seq_file *m, void *v)
{
	int ret = krp_sleep_caller(atomic_read(&sleep_wakes));

	if (!ret)
		seq_puts(m, "woken\n");
	return ret;
}

static int sleep_open(struct inode *inode, struct file *file)
{
	return single_open(file, sleep_show, NULL);
}

static ssize_t sleep_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	atomic_inc(&sleep_wakes);
	wake_up_all(&sleep_queue);
	return len;
}

static const struct proc_ops sleep_ops = {
	.proc_open = sleep_open,
	.proc_read = seq_read,
	.proc_write = sleep_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static DEFINE_MUTEX(probe_mutex);
static struct krp_kretprobe probe;

static int probe_hit(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&sleep_hits);
	return 0;
}

static int probe_show(struct seq_file *m, void *v)
{
	struct krp_rethook_counts counts = {};

	mutex_lock(&probe_mutex);
	if (probe.rh)
		krp_rethook_counts(probe.rh, &counts);
	seq_printf(m, "calls %d hits %d nmissed %d inflight %lu asleep %d\n",
		   atomic_read(&sleep_calls), atomic_read(&sleep_hits), probe.nmissed,
		   counts.inflight, atomic_read(&sleep_asleep));
	mutex_unlock(&probe_mutex);
	return 0;
}

static int probe_open(struct inode *inode, struct file *file)
{
	return single_open(file, probe_show, NULL);
}

static int probe_on(int maxactive)
{
	if (probe.rh)
		return -EBUSY;
	atomic_set(&sleep_calls, 0);
	atomic_set(&sleep_hits, 0);
	probe = (struct krp_kretprobe){
		.kp.symbol_name = "krp_target_sleep",
		.handler = probe_hit,
		.maxactive = maxactive,
	};
	return krp_register_kretprobe(&probe);
}

static ssize_t probe_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[32], *command = command_read(text, sizeof(text), buf, len);
	int maxactive, ret = -EINVAL;

	if (IS_ERR(command))
		return PTR_ERR(command);
	mutex_lock(&probe_mutex);
	if (sscanf(command, "on %d", &maxactive) == 1) {
		ret = probe_on(maxactive);
	} else if (!strcmp(command, "off")) {
		krp_unregister_kretprobe(&probe);
		ret = 0;
	}
	mutex_unlock(&probe_mutex);
	return ret ?: len;
}

static const struct proc_ops probe_ops = {
	.proc_open = probe_open,
	.proc_read = seq_read,
	.proc_write = probe_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/**
 * krp_sleep_init() - make the files
 * @dir: /proc/kretpool_test
 *
 * Return: 0 or -ENOMEM.
 */
int krp_sleep_init(struct proc_dir_entry *dir)
{
	if (proc_create("sleep", 0600, dir, &sleep_ops) &&
	    proc_create("probe", 0600, dir, &probe_ops))
		return 0;
	return -ENOMEM;
}

/**
 * krp_sleep_exit() - unregister what a script has left
 */
void krp_sleep_exit(void)
{
	krp_unregister_kretprobe(&probe);
}
