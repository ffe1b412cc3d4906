// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any number of probes for scripts, a line each:
 *
 *   echo "name do_exit 64" > /proc/kretpool_many    64 instances
 *   echo "addr ffffffff81234560" > /proc/kretpool_many
 *   echo stop > /proc/kretpool_many     disables all, and takes the handlers away first
 *   echo start > /proc/kretpool_many    enables all
 *   echo clear > /proc/kretpool_many    unregisters all in one batch
 *   cat /proc/kretpool_many             probes, refused, and what clear took:
 *                                       probes removed, waits for grace periods,
 *                                       microseconds; and by name, what it waited in
 */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "command.h"
#include "../kretprobe_shim.h"

/* Thunks are what limits it, long before. */
#define MANY_MAX	16384

static DEFINE_MUTEX(many_mutex);
static struct krp_kretprobe *many[MANY_MAX];
static unsigned int many_nr, many_refused, many_removed;
static s64 many_us;

static DEFINE_RAW_SPINLOCK(many_lock);
static unsigned long many_hits;

/*
 * Takes a lock and frees nothing: functions that may be probed themselves. Where
 * locks are inlined (arm64 without preemption), kfree() is what is left.
 */
static int many_handler(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&many_lock, flags);
	many_hits++;
	raw_spin_unlock_irqrestore(&many_lock, flags);
	kfree(NULL);
	return 0;
}

/* Everything that waits for a grace period, as far as this kernel has it. */
static const char * const many_wait_names[] = {
	"synchronize_rcu", "synchronize_rcu_expedited", "synchronize_rcu_tasks",
	"synchronize_rcu_tasks_rude", "synchronize_rcu_tasks_trace", "rcu_barrier",
	"rcu_barrier_tasks", "synchronize_srcu",
};

static struct kprobe many_wait_kp[ARRAY_SIZE(many_wait_names)];
static unsigned int many_waits[ARRAY_SIZE(many_wait_names)];
static struct task_struct *many_waiter;

static int many_wait_hit(struct kprobe *kp, struct pt_regs *regs)
{
	if (current == READ_ONCE(many_waiter))
		many_waits[kp - many_wait_kp]++;
	return 0;
}

static int many_clear(void)
{
	ktime_t begin;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(many_wait_kp); i++) {
		many_wait_kp[i] = (struct kprobe){
			.symbol_name = many_wait_names[i],
			.pre_handler = many_wait_hit,
		};
		ret = register_kprobe(&many_wait_kp[i]);
		if (ret)
			many_wait_kp[i].addr = NULL;
		/* The first is what all kernels have, and must be counted. */
		if (ret && !i)
			return ret;
	}
	memset(many_waits, 0, sizeof(many_waits));
	begin = ktime_get();
	WRITE_ONCE(many_waiter, current);
	krp_unregister_kretprobes(many, many_nr);
	WRITE_ONCE(many_waiter, NULL);
	many_us = ktime_us_delta(ktime_get(), begin);
	many_removed = many_nr;
	while (many_nr)
		kfree(many[--many_nr]);
	for (i = 0; i < ARRAY_SIZE(many_wait_kp); i++)
		if (many_wait_kp[i].addr)
			unregister_kprobe(&many_wait_kp[i]);
	return 0;
}

static int many_stop(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < many_nr && !ret; i++) {
		WRITE_ONCE(many[i]->handler, NULL);
		ret = krp_disable_kretprobe(many[i]);
	}
	return ret;
}

static int many_start(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < many_nr && !ret; i++) {
		WRITE_ONCE(many[i]->handler, many_handler);
		ret = krp_enable_kretprobe(many[i]);
	}
	return ret;
}

static int many_add(const char *symbol, unsigned long addr, int maxactive)
{
	struct krp_kretprobe *rp;
	char *name;
	int ret;

	if (many_nr == MANY_MAX)
		return -ENOSPC;
	rp = kzalloc(sizeof(*rp) + strlen(symbol) + 1, GFP_KERNEL);
	if (!rp)
		return -ENOMEM;
	name = strcpy((char *)(rp + 1), symbol);
	if (*name)
		rp->kp.symbol_name = name;
	else
		rp->kp.addr = (void *)addr;
	rp->handler = many_handler;
	rp->maxactive = maxactive;
	ret = krp_register_kretprobe(rp);
	if (ret) {
		many_refused++;
		kfree(rp);
		return ret;
	}
	many[many_nr++] = rp;
	return 0;
}

static int many_command(char *text)
{
	char name[128] = "";
	unsigned long addr = 0;
	int maxactive = 1;

	if (!strcmp(text, "clear"))
		return many_clear();
	if (!strcmp(text, "stop"))
		return many_stop();
	if (!strcmp(text, "start"))
		return many_start();
	if (sscanf(text, "name %127s %d", name, &maxactive) >= 1)
		return many_add(name, 0, maxactive);
	if (sscanf(text, "addr %lx", &addr) == 1)
		return many_add("", addr, 1);
	return -EINVAL;
}

static ssize_t many_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[160], *command = command_read(text, sizeof(text), buf, len);
	int ret;

	if (IS_ERR(command))
		return PTR_ERR(command);
	mutex_lock(&many_mutex);
	ret = many_command(command);
	mutex_unlock(&many_mutex);
	return ret ?: len;
}

static int many_show(struct seq_file *m, void *v)
{
	unsigned int i, waits = 0;

	mutex_lock(&many_mutex);
	for (i = 0; i < ARRAY_SIZE(many_waits); i++)
		waits += many_waits[i];
	seq_printf(m, "probes %u refused %u removed %u waits %u us %lld hits %lu\n", many_nr,
		   many_refused, many_removed, waits, many_us, READ_ONCE(many_hits));
	for (i = 0; i < ARRAY_SIZE(many_waits); i++)
		if (many_waits[i])
			seq_printf(m, "%s %u\n", many_wait_names[i], many_waits[i]);
	mutex_unlock(&many_mutex);
	return 0;
}

static int many_open(struct inode *inode, struct file *file)
{
	return single_open(file, many_show, NULL);
}

static const struct proc_ops many_ops = {
	.proc_open = many_open,
	.proc_read = seq_read,
	.proc_write = many_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init many_init(void)
{
	return proc_create("kretpool_many", 0600, NULL, &many_ops) ? 0 : -ENOMEM;
}

static void __exit many_exit(void)
{
	remove_proc_entry("kretpool_many", NULL);
	krp_unregister_kretprobes(many, many_nr);
	while (many_nr)
		kfree(many[--many_nr]);
}

module_init(many_init);
module_exit(many_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probes for kretpool's tests, any number of them");
MODULE_AUTHOR("The kretpool developers");
