// SPDX-License-Identifier: GPL-2.0-only
/*
 * kretpool_bench: /proc/kretpool_bench for scripts.
 *
 *   echo kretpool > mode         hook the target in that way
 *   cat mode                     the mode, hits, missed
 *   echo "4 2000" > run; cat run 4 threads for 2 s; calls, nanoseconds
 *   cat cost                     nanoseconds per 1,000 calls
 *   cat cost_sites               the same, calling from 64 places
 *   echo "krp_multi 1000" > attach   hook so many functions at once; 0: all
 *   echo off > attach            unhook them
 *   cat attach                   how many, nanoseconds to hook and to unhook
 *   cat attach_cost              nanoseconds per 1,000 calls of one of them
 */

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "bench.h"
#include "compat_proc.h"
#include "krp_arch.h"

#define BENCH_TARGET		KRP_ARCH_SYSCALL "prctl"
#define BENCH_COST_LOOPS	16
#define BENCH_COST_ROUNDS	20
#define BENCH_MS_MAX		600000

char *bench_target = BENCH_TARGET;
module_param_named(target, bench_target, charp, 0444);
MODULE_PARM_DESC(target, "system call to hook and to call (default " BENCH_TARGET ")");

static DEFINE_MUTEX(bench_mutex);
static u64 bench_calls, bench_ns;

static int mode_show(struct seq_file *m, void *v)
{
	struct bench_counts counts;

	mutex_lock(&bench_mutex);
	bench_mode_counts(&counts);
	seq_printf(m, "%s %lu %lu\n", bench_mode_name(), counts.hits, counts.missed);
	mutex_unlock(&bench_mutex);
	return 0;
}

static int run_show(struct seq_file *m, void *v)
{
	mutex_lock(&bench_mutex);
	seq_printf(m, "%llu %llu\n", bench_calls, bench_ns);
	mutex_unlock(&bench_mutex);
	return 0;
}

static int cost_show(struct seq_file *m, bool sites)
{
	mutex_lock(&bench_mutex);
	seq_printf(m, "%llu\n", bench_load_cost(sites, BENCH_COST_LOOPS, BENCH_COST_ROUNDS) *
		   1000 / (BENCH_COST_LOOPS * BENCH_SITES));
	mutex_unlock(&bench_mutex);
	return 0;
}

static int cost_one_show(struct seq_file *m, void *v)
{
	return cost_show(m, false);
}

static int cost_sites_show(struct seq_file *m, void *v)
{
	return cost_show(m, true);
}

static int attach_show(struct seq_file *m, void *v)
{
	mutex_lock(&bench_mutex);
	bench_attach_show(m);
	mutex_unlock(&bench_mutex);
	return 0;
}

static int attach_cost_show(struct seq_file *m, void *v)
{
	mutex_lock(&bench_mutex);
	seq_printf(m, "%llu\n", bench_attach_cost());
	mutex_unlock(&bench_mutex);
	return 0;
}

static int attach_write(char *text)
{
	char api[16];
	unsigned int nr;

	if (sysfs_streq(text, "off")) {
		bench_attach_off();
		return 0;
	}
	if (sscanf(text, "%15s %u", api, &nr) != 2)
		return -EINVAL;
	return bench_attach_on(api, nr);
}

static int mode_write(char *text)
{
	return bench_mode_set(strim(text));
}

static int run_write(char *text)
{
	unsigned int threads, ms;

	if (sscanf(text, "%u %u", &threads, &ms) != 2 || !ms || ms > BENCH_MS_MAX)
		return -EINVAL;
	return bench_load_run(threads, ms, &bench_calls, &bench_ns);
}

/**
 * struct bench_file - a file in /proc/kretpool_bench
 * @name: its name
 * @show: prints it
 * @write: takes a line; or NULL
 */
struct bench_file {
	const char *name;
	int (*show)(struct seq_file *m, void *v);
	int (*write)(char *text);
};

static const struct bench_file bench_files[] = {
	{ "mode", mode_show, mode_write },
	{ "run", run_show, run_write },
	{ "cost", cost_one_show, NULL },
	{ "cost_sites", cost_sites_show, NULL },
	{ "attach", attach_show, attach_write },
	{ "attach_cost", attach_cost_show, NULL },
};

static int bench_open(struct inode *inode, struct file *file)
{
	const struct bench_file *f = pde_data(inode);

	return single_open(file, f->show, (void *)f);
}

static ssize_t bench_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	const struct bench_file *f = ((struct seq_file *)file->private_data)->private;
	char text[64];
	int ret;

	if (!f->write || len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = '\0';
	mutex_lock(&bench_mutex);
	ret = f->write(text);
	mutex_unlock(&bench_mutex);
	return ret ?: len;
}

static const struct proc_ops bench_proc_ops = {
	.proc_open = bench_open,
	.proc_read = seq_read,
	.proc_write = bench_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init bench_init(void)
{
	struct proc_dir_entry *dir;
	int i, ret = bench_load_init();

	if (ret)
		return ret;
	dir = proc_mkdir("kretpool_bench", NULL);
	for (i = 0; dir && i < ARRAY_SIZE(bench_files); i++) {
		if (!proc_create_data(bench_files[i].name, 0600, dir, &bench_proc_ops,
				      (void *)&bench_files[i])) {
			proc_remove(dir);
			dir = NULL;
		}
	}
	return dir ? 0 : -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_subtree("kretpool_bench", NULL);
	bench_mode_set("native");
	bench_attach_exit();
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Benchmark of function return hooks");
MODULE_AUTHOR("The kretpool developers");
