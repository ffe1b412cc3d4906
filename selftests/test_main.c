// SPDX-License-Identifier: GPL-2.0-only
/* kretpool_test: runs the groups of tests. */

#include <linux/module.h>
#include <linux/proc_fs.h>

#include "compat_proc.h"
#include "test.h"

static const struct krp_test_group krp_groups[] = {
	{ "calls", krp_tests_calls },
	{ "stacking", krp_tests_stacking },
	{ "control", krp_tests_control },
	{ "errors", krp_tests_errors },
	{ "objpool", krp_tests_objpool },
	{ "trace", krp_tests_trace },
	{ "multi", krp_tests_multi },
};

static void krp_test_one(struct seq_file *m, const struct krp_test *test, int nr)
{
	struct krp_test_run run = { .m = m };

	test->fn(&run);
	if (run.skipped)
		seq_printf(m, "ok %d %s # SKIP %s\n", nr, test->name, run.skipped);
	else
		seq_printf(m, "%s %d %s\n", run.failed ? "not ok" : "ok", nr, test->name);
}

/*
 * The first read runs everything. seq_file runs this again if its buffer was
 * too small, so a large one is asked for at open.
 */
static int krp_group_show(struct seq_file *m, void *v)
{
	const struct krp_test_group *group = m->private;
	int nr, total = 0;

	while (group->tests[total].name)
		total++;
	seq_printf(m, "TAP version 13\n1..%d\n", total);
	for (nr = 0; nr < total; nr++)
		krp_test_one(m, &group->tests[nr], nr + 1);
	return 0;
}

static int krp_group_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, krp_group_show, pde_data(inode), 64 * 1024);
}

static const struct proc_ops krp_group_ops = {
	.proc_open = krp_group_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init krp_test_init(void)
{
	struct proc_dir_entry *dir = proc_mkdir("kretpool_test", NULL);
	int i;

	if (!dir)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(krp_groups); i++)
		if (!proc_create_data(krp_groups[i].name, 0400, dir, &krp_group_ops,
				      (void *)&krp_groups[i]))
			goto remove;
	if (!krp_sleep_init(dir) && !krp_faults_init(dir))
		return 0;
remove:
	proc_remove(dir);
	return -ENOMEM;
}

static void __exit krp_test_exit(void)
{
	remove_proc_subtree("kretpool_test", NULL);
	krp_sleep_exit();
}

module_init(krp_test_init);
module_exit(krp_test_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tests of kretpool");
MODULE_AUTHOR("The kretpool developers");
