// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of user-space functions, for scripts: /proc/kretpool_uret takes
 *
 *	add PATH OFFSET INSTANCES HOW	HOW: both, skip (its entry handler skips
 *					calls with an odd argument), entry, bench
 *	del NUMBER			0 is the one added first
 *	clear
 *
 * and says what became of the calls, a line for each probe there is or was. The
 * functions return their first argument plus one: that is how a return handler
 * sees whether the data is of the call that returns.
 */

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../uretprobe.h"

#define KRP_MAX_PROBES	32

/* What a call takes along. */
struct krp_note {
	unsigned long arg;
	unsigned long frame;
	pid_t pid;
};

struct krp_probe {
	struct krp_uretprobe *up;
	struct krp_uretprobe_counts last;
	char what[200];
	unsigned long removed_ms;
	atomic_t bad;
	atomic_t forked;
	bool skips;
};

static struct krp_probe krp_probes[KRP_MAX_PROBES];
static unsigned int krp_nr_probes;
static DEFINE_MUTEX(krp_probes_mutex);

static int krp_on_entry(struct krp_uret_call *call, struct pt_regs *regs)
{
	struct krp_probe *probe = krp_uretprobe_owner(call);
	struct krp_note *note = (void *)call->data;
	unsigned long arg = regs_get_kernel_argument(regs, 0);

	if (probe->skips && arg % 2)
		return 1;
	note->arg = arg;
	note->frame = call->frame;
	note->pid = current->pid;
	return 0;
}

static int krp_on_return(struct krp_uret_call *call, struct pt_regs *regs)
{
	struct krp_probe *probe = krp_uretprobe_owner(call);
	struct krp_note *note = (void *)call->data;

	if (regs_return_value(regs) != note->arg + 1 || note->frame != call->frame ||
	    call->task != current || call->pid != current->pid)
		atomic_inc(&probe->bad);
	if (note->pid != current->pid)
		atomic_inc(&probe->forked);
	return 0;
}

/* Entry-only probes have a call without data. */
static int krp_on_entry_alone(struct krp_uret_call *call, struct pt_regs *regs)
{
	return 0;
}

static int krp_on_return_alone(struct krp_uret_call *call, struct pt_regs *regs)
{
	return 0;
}

static int krp_add(char *args)
{
	struct krp_probe *probe = &krp_probes[krp_nr_probes];
	struct krp_uretprobe_desc desc = { .owner = probe, .data_size = sizeof(struct krp_note) };
	char *path = strsep(&args, " "), *offset = strsep(&args, " ");
	char *instances = strsep(&args, " "), *how = strsep(&args, " ");
	struct krp_uretprobe *up;
	int ret;

	if (!how || krp_nr_probes == KRP_MAX_PROBES)
		return -EINVAL;
	ret = kstrtoll(offset, 0, &desc.offset) ?: kstrtoint(instances, 0, &desc.nr_instances);
	if (ret)
		return ret;
	memset(probe, 0, sizeof(*probe));
	probe->skips = !strcmp(how, "skip");
	desc.path = path;
	desc.entry = krp_on_entry;
	desc.handler = krp_on_return;
	if (!strcmp(how, "entry")) {
		desc.entry = krp_on_entry_alone;
		desc.handler = NULL;
	} else if (!strcmp(how, "bench")) {
		desc.entry = NULL;
		desc.handler = krp_on_return_alone;
	} else if (!strcmp(how, "large")) {
		desc.data_size = KRP_DATA_SIZE_MAX + 1;
	}
	snprintf(probe->what, sizeof(probe->what), "%s:%s", path, offset);
	up = krp_uretprobe_register(&desc);
	if (IS_ERR(up))
		return PTR_ERR(up);
	probe->up = up;
	krp_nr_probes++;
	return 0;
}

static int krp_del(unsigned int nr)
{
	struct krp_probe *probe = &krp_probes[nr];
	ktime_t start = ktime_get();

	if (nr >= krp_nr_probes || !probe->up)
		return -ENOENT;
	krp_uretprobe_unregister(probe->up, &probe->last);
	probe->up = NULL;
	probe->removed_ms = ktime_ms_delta(ktime_get(), start);
	return 0;
}

static void krp_clear(void)
{
	unsigned int nr;

	for (nr = 0; nr < krp_nr_probes; nr++)
		krp_del(nr);
	krp_nr_probes = 0;
}

static int krp_command(char *text)
{
	unsigned int nr;

	if (!strncmp(text, "add ", 4))
		return krp_add(text + 4);
	if (!strcmp(text, "clear")) {
		krp_clear();
		return 0;
	}
	if (strncmp(text, "del ", 4) || kstrtouint(text + 4, 0, &nr))
		return -EINVAL;
	return krp_del(nr);
}

static ssize_t krp_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char *text = memdup_user_nul(from, min_t(size_t, count, PAGE_SIZE));
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&krp_probes_mutex);
	ret = krp_command(strim(text));
	mutex_unlock(&krp_probes_mutex);
	kfree(text);
	return ret ?: count;
}

static int krp_show(struct seq_file *m, void *v)
{
	struct krp_uretprobe_counts c;
	unsigned int nr;

	mutex_lock(&krp_probes_mutex);
	for (nr = 0; nr < krp_nr_probes; nr++) {
		struct krp_probe *probe = &krp_probes[nr];

		c = probe->last;
		if (probe->up)
			krp_uretprobe_counts(probe->up, &c);
		seq_printf(m, "%u %s calls %lu hits %lu skipped %lu empty %lu deep %lu removed %lu exited %lu inflight %lu bad %d forked %d ms %lu\n",
			   nr, probe->what, c.calls, c.hits, c.skipped,
			   c.missed[KRP_MISS_EMPTY], c.missed[KRP_MISS_RECURSION],
			   c.missed[KRP_MISS_REMOVED], c.missed[KRP_MISS_EXITED], c.inflight,
			   atomic_read(&probe->bad), atomic_read(&probe->forked),
			   probe->removed_ms);
	}
	mutex_unlock(&krp_probes_mutex);
	return 0;
}

static int krp_open(struct inode *inode, struct file *file)
{
	return single_open(file, krp_show, NULL);
}

static const struct proc_ops krp_ops = {
	.proc_open = krp_open,
	.proc_read = seq_read,
	.proc_write = krp_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init krp_uret_test_init(void)
{
	return proc_create("kretpool_uret", 0600, NULL, &krp_ops) ? 0 : -ENOMEM;
}

static void __exit krp_uret_test_exit(void)
{
	remove_proc_entry("kretpool_uret", NULL);
	krp_clear();
}

module_init(krp_uret_test_init);
module_exit(krp_uret_test_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probes of user-space functions, for kretpool's tests");
MODULE_AUTHOR("The kretpool developers");
