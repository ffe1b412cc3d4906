// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of a function of a program that others run meanwhile: one that stays,
 * so that it must have seen every call, and others that come and go. The
 * function returns its first argument plus one.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "torture.h"
#include "../uretprobe.h"

#define MAGIC		0x0ca11e25
#define BATCH_MAX	4

static char *user_path;
module_param(user_path, charp, 0444);
MODULE_PARM_DESC(user_path, "a program, one of whose functions is probed, too");

static unsigned long user_offset;
module_param(user_offset, ulong, 0444);
MODULE_PARM_DESC(user_offset, "where in the file that function is: it returns its first argument plus one");

static int nusers = 2;
module_param(nusers, int, 0444);
MODULE_PARM_DESC(nusers, "tasks that register and unregister probes of it");

/**
 * struct torture_user - a probe
 * @magic: MAGIC while handlers may see it
 * @up: the kernel's part
 * @skips: its entry handler says no to some
 * @entry_only: it has no return handler
 * @runs: of the return handler, or where there is none, of the entry handler
 */
struct torture_user {
	u32 magic;
	struct krp_uretprobe *up;
	bool skips;
	bool entry_only;
	atomic_long_t runs;
};

/* What a call takes along. */
struct torture_user_note {
	unsigned long arg;
	unsigned long frame;
	struct task_struct *task;
};

static struct torture_user *steady;
static struct path user_file;
static unsigned long user_calls;
static atomic_long_t user_probes, user_refusals;

static struct torture_user *torture_user_of(struct krp_uret_call *call)
{
	struct torture_user *user = krp_uretprobe_owner(call);

	if (READ_ONCE(user->magic) == MAGIC)
		return user;
	torture_wrong("a handler runs for a probe of a program that is gone");
	return NULL;
}

static int torture_user_entry(struct krp_uret_call *call, struct pt_regs *regs)
{
	struct torture_user *user = torture_user_of(call);
	unsigned long arg = regs_get_kernel_argument(regs, 0);
	struct torture_user_note *note;

	if (!user || (user->skips && arg % 3 == 1))
		return 1;
	if (user->entry_only) {
		atomic_long_inc(&user->runs);
		return 0;
	}
	note = (void *)call->data;
	note->arg = arg;
	note->frame = call->frame;
	note->task = current;
	return 0;
}

static int torture_user_return(struct krp_uret_call *call, struct pt_regs *regs)
{
	struct torture_user *user = torture_user_of(call);
	struct torture_user_note *note = (void *)call->data;

	if (!user)
		return 0;
	atomic_long_inc(&user->runs);
	if (regs_return_value(regs) != note->arg + 1 || note->frame != call->frame ||
	    note->task != current || call->task != current)
		torture_wrong("a call of a program returned with another's data");
	return 0;
}

static int torture_user_register(struct torture_user *user, int nr_instances)
{
	const struct krp_uretprobe_desc desc = {
		.inode = d_real_inode(user_file.dentry),
		.offset = user_offset,
		.entry = torture_user_entry,
		.handler = user->entry_only ? NULL : torture_user_return,
		.owner = user,
		.nr_instances = nr_instances,
		.data_size = sizeof(struct torture_user_note),
	};

	user->magic = MAGIC;
	user->up = krp_uretprobe_register(&desc);
	return PTR_ERR_OR_ZERO(user->up);
}

/* It has been removed: every call that it has seen became something. */
static void torture_user_check(struct torture_user *user, const struct krp_uretprobe_counts *c)
{
	unsigned long missed = 0;
	int cause;

	for (cause = 0; cause < KRP_NR_MISSES; cause++)
		missed += c->missed[cause];
	if (c->calls != c->hits + c->skipped + missed || c->inflight)
		torture_wrong("a program's function: %lu calls, but %lu hits, %lu skipped, %lu missed, %lu in flight",
			      c->calls, c->hits, c->skipped, missed, c->inflight);
	if (c->hits != atomic_long_read(&user->runs))
		torture_wrong("a program's function: %lu hits, but the handler ran %ld times",
			      c->hits, atomic_long_read(&user->runs));
	if (c->skipped && !user->skips)
		torture_wrong("a program's function: %lu calls were skipped by nobody", c->skipped);
}

/* Its memory becomes something else, whoever still looks will notice. */
static void torture_user_free(struct torture_user *user)
{
	memset(user, 0x6b, sizeof(*user));
	kfree(user);
}

/* 0 may grow. */
static const int user_sizes[] = { 0, 0, 1, 8, 64 };

static struct torture_user *torture_user_new(struct rnd_state *rnd)
{
	struct torture_user *user = kzalloc(sizeof(*user), GFP_KERNEL);

	if (!user)
		return NULL;
	user->skips = !torture_random(rnd, 3);
	user->entry_only = !torture_random(rnd, 4);
	if (torture_user_register(user, user_sizes[torture_random(rnd, ARRAY_SIZE(user_sizes))])) {
		atomic_long_inc(&user_refusals);
		kfree(user);
		return NULL;
	}
	atomic_long_inc(&user_probes);
	return user;
}

/* Some at once, for a while. */
static void torture_user_round(struct rnd_state *rnd)
{
	struct krp_uretprobe_counts last[BATCH_MAX];
	struct krp_uretprobe *ups[BATCH_MAX];
	struct torture_user *users[BATCH_MAX];
	int i, n = 0, max = 1 + torture_random(rnd, BATCH_MAX);
	unsigned long us = torture_random(rnd, 50000);

	while (n < max) {
		users[n] = torture_user_new(rnd);
		if (!users[n])
			break;
		ups[n] = users[n]->up;
		n++;
	}
	usleep_range(us, us + 100);
	krp_uretprobe_unregister_batch(ups, last, n);
	for (i = 0; i < n; i++) {
		torture_user_check(users[i], &last[i]);
		torture_user_free(users[i]);
	}
}

static struct torture_threads churners;

static int churner(void *data)
{
	struct rnd_state rnd;

	torture_seed(&rnd, 3000 + (unsigned long)data);
	while (!kthread_should_stop()) {
		torture_user_round(&rnd);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int torture_users_steady(void)
{
	int ret = kern_path(user_path, LOOKUP_FOLLOW, &user_file);

	if (ret) {
		pr_err("%s: there is no such program (%d)\n", user_path, ret);
		return ret;
	}
	steady = kzalloc(sizeof(*steady), GFP_KERNEL);
	ret = steady ? torture_user_register(steady, 0) : -ENOMEM;
	if (ret) {
		kfree(steady);
		steady = NULL;
		path_put(&user_file);
	}
	return ret;
}

/**
 * torture_users_start() - probe a program's function, if there is one to probe
 *
 * Context: process.
 * Return: 0 or what registration returned; nothing is probed then.
 */
int torture_users_start(void)
{
	int ret;

	if (!user_path)
		return 0;
	ret = torture_users_steady();
	if (ret)
		return ret;
	ret = torture_threads_start(&churners, nusers, churner, "torture_user");
	if (ret)
		torture_users_stop();
	return ret;
}

/**
 * torture_users_stop() - all have gone when this returns
 *
 * Context: process.
 */
void torture_users_stop(void)
{
	struct krp_uretprobe_counts last;

	if (!steady)
		return;
	torture_threads_stop(&churners);
	krp_uretprobe_unregister(steady->up, &last);
	torture_user_check(steady, &last);
	user_calls = last.calls;
	torture_user_free(steady);
	steady = NULL;
	path_put(&user_file);
}

/**
 * torture_users_show() - their part of the line of statistics
 * @buf: filled in
 * @size: of @buf
 *
 * Context: process; not while they are started or stopped.
 */
void torture_users_show(char *buf, size_t size)
{
	struct krp_uretprobe_counts c = {};

	if (steady)
		krp_uretprobe_counts(steady->up, &c);
	snprintf(buf, size, "uretprobes %ld refused %ld hits %lu", atomic_long_read(&user_probes),
		 atomic_long_read(&user_refusals), c.hits);
}

static int user_calls_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%lu\n", READ_ONCE(user_calls));
}

static const struct kernel_param_ops user_calls_ops = { .get = user_calls_get };

module_param_cb(user_calls, &user_calls_ops, NULL, 0400);
MODULE_PARM_DESC(user_calls, "calls of the program's function, in the last round");
