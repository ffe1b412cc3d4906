// SPDX-License-Identifier: GPL-2.0-only
/*
 * One probe on many functions, for scripts:
 *
 *   echo "attach vfs_*,ksys_* *_poll" > /proc/kretpool_multi   and what not to
 *   echo detach > /proc/kretpool_multi
 *   cat /proc/kretpool_multi            what is attached and has been counted,
 *                                       and how long it took, microseconds
 */

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "command.h"
#include "../krp_multi.h"

static void multi_exit(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
		       struct pt_regs *regs)
{
}

static DEFINE_MUTEX(multi_mutex);
static struct krp_multi multi = { .exit = multi_exit };
static s64 multi_on_us, multi_off_us;

static int multi_command(char *text)
{
	char *verb = strsep(&text, " "), *filter = strsep(&text, " ");
	ktime_t begin = ktime_get();
	int ret = -EINVAL;

	if (!strcmp(verb, "attach") && filter) {
		ret = krp_multi_register(&multi, filter, text);
		multi_on_us = ktime_us_delta(ktime_get(), begin);
	} else if (!strcmp(verb, "detach")) {
		ret = krp_multi_unregister(&multi);
		multi_off_us = ktime_us_delta(ktime_get(), begin);
	}
	return ret;
}

static ssize_t multi_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[256], *command = command_read(text, sizeof(text), buf, len);
	int ret;

	if (IS_ERR(command))
		return PTR_ERR(command);
	mutex_lock(&multi_mutex);
	ret = multi_command(command);
	mutex_unlock(&multi_mutex);
	return ret ?: len;
}

static int count_state(unsigned long ip, const char *name, enum krp_multi_state state, void *data)
{
	((unsigned int *)data)[state]++;
	return 0;
}

static int multi_show(struct seq_file *m, void *v)
{
	unsigned int states[KRP_NR_MULTI_STATES] = {};
	struct krp_rethook_counts counts = {};
	int i;

	mutex_lock(&multi_mutex);
	if (multi.rh) {
		krp_multi_counts(&multi, &counts);
		krp_multi_visit(&multi, count_state, states);
	}
	seq_printf(m, "functions %u left_out %u gone %u on_us %lld off_us %lld\n",
		   multi.functions, multi.left_out, multi.gone, multi_on_us, multi_off_us);
	seq_printf(m, "hits %lu skipped %lu empty %lu recursion %lu unwatched %lu exited %lu inflight %lu\n",
		   counts.hits, counts.skipped, counts.missed[KRP_MISS_EMPTY],
		   counts.missed[KRP_MISS_RECURSION], counts.missed[KRP_MISS_UNWATCHED],
		   counts.missed[KRP_MISS_EXITED], counts.inflight);
	for (i = 0; i < KRP_NR_MULTI_STATES; i++)
		seq_printf(m, "%s-%u ", krp_multi_state_name(i), states[i]);
	seq_puts(m, "\n");
	mutex_unlock(&multi_mutex);
	return 0;
}

static int multi_open(struct inode *inode, struct file *file)
{
	return single_open(file, multi_show, NULL);
}

static const struct proc_ops multi_ops = {
	.proc_open = multi_open,
	.proc_read = seq_read,
	.proc_write = multi_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init multi_init(void)
{
	return proc_create("kretpool_multi", 0600, NULL, &multi_ops) ? 0 : -ENOMEM;
}

static void __exit multi_end(void)
{
	remove_proc_entry("kretpool_multi", NULL);
	krp_multi_unregister(&multi);
}

module_init(multi_init);
module_exit(multi_end);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("One probe on many functions, for kretpool's tests");
MODULE_AUTHOR("The kretpool developers");
