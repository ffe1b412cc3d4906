// SPDX-License-Identifier: GPL-2.0-only
/* Registration, removal, enabling, disabling; alone, in batches, under load. */

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "test.h"

static atomic_long_t hits;

static int hit(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_long_inc(&hits);
	return 0;
}

static long hits_of(unsigned int calls)
{
	long before = atomic_long_read(&hits);

	while (calls--)
		krp_target_add(1, 1);
	return atomic_long_read(&hits) - before;
}

static void test_enable_disable(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = hit };
	int i;

	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	for (i = 0; i < 5; i++) {
		krp_expect_eq(run, hits_of(10), 10);
		krp_expect_eq(run, krp_disable_kretprobe(&rp), 0);
		krp_expect_eq(run, krp_disable_kretprobe(&rp), 0);
		krp_expect(run, rp.kp.flags & KPROBE_FLAG_DISABLED);
		krp_expect_eq(run, hits_of(10), 0);
		krp_expect_eq(run, krp_enable_kretprobe(&rp), 0);
		krp_expect_eq(run, krp_enable_kretprobe(&rp), 0);
	}
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, hits_of(10), 0);
	krp_expect_eq(run, krp_enable_kretprobe(&rp), -EINVAL);
	krp_expect_eq(run, krp_disable_kretprobe(&rp), -EINVAL);
}

static void test_register_disabled(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.kp.flags = KPROBE_FLAG_DISABLED,
		.handler = hit,
	};

	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	krp_expect_eq(run, hits_of(10), 0);
	krp_expect_eq(run, krp_enable_kretprobe(&rp), 0);
	krp_expect_eq(run, hits_of(10), 10);
	krp_unregister_kretprobe(&rp);
}

/* Two on one function: each goes its own way. */
static void test_enable_one_of_two(struct krp_test_run *run)
{
	struct krp_kretprobe a = { .kp.symbol_name = "krp_target_add", .handler = hit };
	struct krp_kretprobe b = a;

	if (!krp_expect_eq(run, krp_register_kretprobe(&a), 0))
		return;
	if (krp_expect_eq(run, krp_register_kretprobe(&b), 0)) {
		krp_expect_eq(run, hits_of(10), 20);
		krp_expect_eq(run, krp_disable_kretprobe(&a), 0);
		krp_expect_eq(run, hits_of(10), 10);
		krp_expect_eq(run, krp_disable_kretprobe(&b), 0);
		krp_expect_eq(run, hits_of(10), 0);
		krp_expect_eq(run, krp_enable_kretprobe(&a), 0);
		krp_expect_eq(run, hits_of(10), 10);
		krp_unregister_kretprobe(&b);
	}
	krp_expect_eq(run, hits_of(10), 10);
	krp_unregister_kretprobe(&a);
}

static void test_register_again(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = hit };
	int i;

	for (i = 0; i < 5; i++) {
		if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
			return;
		krp_expect_eq(run, hits_of(10), 10);
		krp_unregister_kretprobe(&rp);
		krp_expect_eq(run, hits_of(10), 0);
	}
}

static void test_by_address(struct krp_test_run *run)
{
	struct krp_kretprobe named = { .kp.symbol_name = "krp_target_add", .handler = hit };
	struct krp_kretprobe rp = { .handler = hit };

	if (!krp_expect_eq(run, krp_register_kretprobe(&named), 0))
		return;
	rp.kp.addr = named.kp.addr;
	krp_unregister_kretprobe(&named);
	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	krp_expect_eq(run, hits_of(10), 10);
	krp_unregister_kretprobe(&rp);
}

static void test_batch(struct krp_test_run *run)
{
	struct krp_kretprobe a = { .kp.symbol_name = "krp_target_add", .handler = hit };
	struct krp_kretprobe b = { .kp.symbol_name = "krp_target_nine", .handler = hit };
	struct krp_kretprobe c = { .kp.symbol_name = "krp_target_notrace", .handler = hit };
	struct krp_kretprobe bad = { .kp.symbol_name = "krp_target_missing", .handler = hit };
	struct krp_kretprobe *good[] = { &a, &b, &c };
	struct krp_kretprobe *mixed[] = { &a, &b, &bad, &c };
	long before;

	krp_expect_eq(run, krp_register_kretprobes(good, 0), -EINVAL);
	krp_expect_eq(run, krp_register_kretprobes(mixed, 4), -ENOENT);
	krp_expect_eq(run, hits_of(10), 0);
	if (!krp_expect_eq(run, krp_register_kretprobes(good, 3), 0))
		return;
	before = atomic_long_read(&hits);
	krp_target_add(1, 1);
	krp_target_nine(1, 1, 1, 1, 1, 1, 1, 1, 1);
	krp_target_notrace(1);
	krp_expect_eq(run, atomic_long_read(&hits) - before, 3);
	krp_unregister_kretprobes(good, 3);
	krp_target_notrace(1);
	krp_expect_eq(run, atomic_long_read(&hits) - before, 3);
	/* Those that are not registered are passed over. */
	krp_unregister_kretprobes(mixed, 4);
}

/* Functions that most kernels have and few tests call. */
static const char * const many_names[] = {
	"kern_path", "vfs_mkdir", "vfs_rmdir", "vfs_unlink", "vfs_link", "vfs_rename",
	"vfs_symlink", "vfs_create", "vfs_mknod", "vfs_statfs", "vfs_fallocate",
	"notify_change", "dentry_open", "kernel_read", "kernel_write", "iterate_dir",
	"simple_statfs", "simple_lookup", "seq_open", "seq_release", "proc_mkdir",
	"proc_remove", "sysfs_create_group", "sysfs_remove_group", "kobject_add",
	"kobject_del", "kset_register", "device_register", "device_unregister",
	"device_add", "device_del", "driver_register", "driver_unregister",
	"bus_register", "bus_unregister", "platform_device_register",
	"platform_device_unregister", "register_netdevice", "dev_open", "dev_close",
	"sock_release", "kernel_bind", "kernel_listen", "kernel_accept",
	"kernel_connect", "kernel_sendmsg", "kernel_recvmsg", "inet_release",
	"inet_bind", "tcp_close", "udp_sendmsg", "ip_output", "kthread_park",
	"kthread_unpark", "set_user_nice", "commit_creds", "prepare_creds",
	"cdev_add", "cdev_del", "misc_register", "misc_deregister",
	"tty_register_driver", "crypto_register_alg",
};

/* So many that the table of functions, which begins with 64, grows twice. */
static void test_many(struct krp_test_run *run)
{
	struct krp_kretprobe first = { .kp.symbol_name = "krp_target_add", .handler = hit };
	struct krp_kretprobe *rp, *rps[ARRAY_SIZE(many_names)];
	int i, n = 0;

	rp = kcalloc(ARRAY_SIZE(many_names), sizeof(*rp), GFP_KERNEL);
	if (!krp_expect(run, rp) || !krp_expect_eq(run, krp_register_kretprobe(&first), 0))
		goto free;
	for (i = 0; i < ARRAY_SIZE(many_names); i++) {
		rp[n].kp.symbol_name = many_names[i];
		rp[n].handler = hit;
		rps[n] = &rp[n];
		n += !krp_register_kretprobe(&rp[n]);
	}
	krp_expect(run, n > 40);
	krp_expect(run, hits_of(10) >= 10);
	krp_unregister_kretprobes(rps, n);
	krp_expect_eq(run, hits_of(10), 10);
	krp_unregister_kretprobe(&first);
	krp_expect_eq(run, hits_of(10), 0);
free:
	kfree(rp);
}

/* Callers on every CPU while probes come and go. */

static bool load_stop;

static int load_fn(void *data)
{
	atomic_long_t *wrong = data;
	unsigned long i;

	for (i = 0; !READ_ONCE(load_stop); i++) {
		if (krp_target_add(i, 3) != i + 3 || krp_target_depth(5) != 6)
			atomic_long_inc(wrong);
		if (!(i % 256))
			cond_resched_tasks_rcu_qs();
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static unsigned int load_start(struct task_struct **tasks, atomic_long_t *wrong)
{
	unsigned int cpu, n = 0;

	WRITE_ONCE(load_stop, false);
	for_each_online_cpu(cpu) {
		struct task_struct *task = kthread_create(load_fn, wrong, "krp_load/%u", cpu);

		if (IS_ERR(task))
			break;
		kthread_bind(task, cpu);
		wake_up_process(task);
		tasks[n++] = task;
	}
	return n;
}

static void load_end(struct task_struct **tasks, unsigned int n)
{
	WRITE_ONCE(load_stop, true);
	while (n--)
		kthread_stop(tasks[n]);
}

static int hit_marked(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	struct krp_kretprobe *rp = krp_get_kretprobe(ri);

	/* After unregistering returned the probe is filled with another byte. */
	if (!rp || rp->data_size != sizeof(long))
		atomic_long_inc(&hits);
	return 0;
}

/* C9: the probe is overwritten and freed at once. */
static void test_removal_under_load(struct krp_test_run *run)
{
	struct task_struct **tasks = kcalloc(nr_cpu_ids, sizeof(*tasks), GFP_KERNEL);
	atomic_long_t wrong = ATOMIC_LONG_INIT(0);
	unsigned int i, n;

	if (!krp_expect(run, tasks))
		return;
	atomic_long_set(&hits, 0);
	n = load_start(tasks, &wrong);
	krp_expect_eq(run, n, num_online_cpus());
	for (i = 0; i < 30; i++) {
		struct krp_kretprobe *rp = kzalloc(sizeof(*rp), GFP_KERNEL);

		if (!krp_expect(run, rp))
			break;
		rp->kp.symbol_name = i & 1 ? "krp_target_add" : "krp_target_depth";
		rp->handler = hit_marked;
		rp->data_size = sizeof(long);
		if (krp_expect_eq(run, krp_register_kretprobe(rp), 0))
			krp_unregister_kretprobe(rp);
		memset(rp, 0x5a, sizeof(*rp));
		kfree(rp);
	}
	load_end(tasks, n);
	kfree(tasks);
	krp_expect_eq(run, atomic_long_read(&hits), 0);
	krp_expect_eq(run, atomic_long_read(&wrong), 0);
}

/* Every call is counted once, whatever the CPUs do meanwhile. */
static void test_exact_under_load(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_depth",
		.handler = hit,
		.maxactive = 2,
	};
	struct task_struct **tasks = kcalloc(nr_cpu_ids, sizeof(*tasks), GFP_KERNEL);
	atomic_long_t wrong = ATOMIC_LONG_INIT(0);
	struct krp_rethook_counts counts;
	unsigned int n;

	if (!krp_expect(run, tasks))
		return;
	atomic_long_set(&hits, 0);
	if (krp_expect_eq(run, krp_register_kretprobe(&rp), 0)) {
		n = load_start(tasks, &wrong);
		msleep(300);
		load_end(tasks, n);
		krp_rethook_counts(rp.rh, &counts);
		krp_unregister_kretprobe(&rp);
		krp_expect_eq(run, atomic_long_read(&wrong), 0);
		krp_expect_eq(run, counts.hits, atomic_long_read(&hits));
		krp_expect_eq(run, counts.missed[KRP_MISS_EMPTY], rp.nmissed);
		krp_expect_eq(run, counts.inflight, 0);
		/* krp_target_depth(5) is six calls. */
		krp_expect_eq(run, (counts.hits + counts.missed[KRP_MISS_EMPTY] +
			      counts.missed[KRP_MISS_RECURSION]) % 6, 0);
		krp_expect(run, counts.hits > 0);
	}
	kfree(tasks);
}

const struct krp_test krp_tests_control[] = {
	{ "enabled and disabled", test_enable_disable },
	{ "registered disabled", test_register_disabled },
	{ "one of two on a function disabled", test_enable_one_of_two },
	{ "registered again and again", test_register_again },
	{ "registered by address", test_by_address },
	{ "batches, all or none", test_batch },
	{ "more functions than the table begins with", test_many },
	{ "removed and freed while every CPU calls", test_removal_under_load },
	{ "every call counted while every CPU calls", test_exact_under_load },
	{ }
};
