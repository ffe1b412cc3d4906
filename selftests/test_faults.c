// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations that allocate, each done and undone within one system call, so that
 * a script can let any one of the allocations in it fail (C2):
 *
 *   echo OPERATION > /proc/kretpool_test/faults
 *   cat /proc/kretpool_test/faults       the operations
 *
 * The write fails as the operation does. -EBADMSG: it claimed to have worked and
 * had not, or a failure was not a clean one; the log says what.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "command.h"
#include "test.h"
#include "../krp_multi.h"
#include "../uretprobe.h"

/* 12, enough to let the table of functions grow once: it starts with 64 slots. */
#define FAULT_TARGET(n)								\
	static noinline krp_noipa unsigned long fault_target_##n(unsigned long a)	\
	{									\
		return a + n;							\
	}
#define FAULT_NAME(n)	fault_target_##n

FAULT_TARGET(0) FAULT_TARGET(1) FAULT_TARGET(2) FAULT_TARGET(3)
FAULT_TARGET(4) FAULT_TARGET(5) FAULT_TARGET(6) FAULT_TARGET(7)
FAULT_TARGET(8) FAULT_TARGET(9) FAULT_TARGET(10) FAULT_TARGET(11)

static unsigned long (* const fault_targets[])(unsigned long) = {
	FAULT_NAME(0), FAULT_NAME(1), FAULT_NAME(2), FAULT_NAME(3), FAULT_NAME(4), FAULT_NAME(5),
	FAULT_NAME(6), FAULT_NAME(7), FAULT_NAME(8), FAULT_NAME(9), FAULT_NAME(10), FAULT_NAME(11),
};

/*
 * As many as it takes to have some that kretpool does not know, each time: 1024,
 * by their three hexadecimal digits. A table of each 16, and one of these tables.
 */
typedef unsigned long fault_target_fn(unsigned long a);

#define FAULT_FRESH(n)								\
	static noinline krp_noipa unsigned long fault_fresh_##n(unsigned long a)	\
	{									\
		return a + 0x##n;						\
	}
#define FAULT_FRESH_16(n)							\
	FAULT_FRESH(n##0) FAULT_FRESH(n##1) FAULT_FRESH(n##2) FAULT_FRESH(n##3)	\
	FAULT_FRESH(n##4) FAULT_FRESH(n##5) FAULT_FRESH(n##6) FAULT_FRESH(n##7)	\
	FAULT_FRESH(n##8) FAULT_FRESH(n##9) FAULT_FRESH(n##a) FAULT_FRESH(n##b)	\
	FAULT_FRESH(n##c) FAULT_FRESH(n##d) FAULT_FRESH(n##e) FAULT_FRESH(n##f)	\
	static unsigned long (* const fault_fresh_##n[])(unsigned long a) = {		\
		fault_fresh_##n##0, fault_fresh_##n##1, fault_fresh_##n##2, fault_fresh_##n##3,	\
		fault_fresh_##n##4, fault_fresh_##n##5, fault_fresh_##n##6, fault_fresh_##n##7,	\
		fault_fresh_##n##8, fault_fresh_##n##9, fault_fresh_##n##a, fault_fresh_##n##b,	\
		fault_fresh_##n##c, fault_fresh_##n##d, fault_fresh_##n##e, fault_fresh_##n##f,	\
	}

FAULT_FRESH_16(00); FAULT_FRESH_16(01); FAULT_FRESH_16(02); FAULT_FRESH_16(03);
FAULT_FRESH_16(04); FAULT_FRESH_16(05); FAULT_FRESH_16(06); FAULT_FRESH_16(07);
FAULT_FRESH_16(08); FAULT_FRESH_16(09); FAULT_FRESH_16(0a); FAULT_FRESH_16(0b);
FAULT_FRESH_16(0c); FAULT_FRESH_16(0d); FAULT_FRESH_16(0e); FAULT_FRESH_16(0f);
FAULT_FRESH_16(10); FAULT_FRESH_16(11); FAULT_FRESH_16(12); FAULT_FRESH_16(13);
FAULT_FRESH_16(14); FAULT_FRESH_16(15); FAULT_FRESH_16(16); FAULT_FRESH_16(17);
FAULT_FRESH_16(18); FAULT_FRESH_16(19); FAULT_FRESH_16(1a); FAULT_FRESH_16(1b);
FAULT_FRESH_16(1c); FAULT_FRESH_16(1d); FAULT_FRESH_16(1e); FAULT_FRESH_16(1f);
FAULT_FRESH_16(20); FAULT_FRESH_16(21); FAULT_FRESH_16(22); FAULT_FRESH_16(23);
FAULT_FRESH_16(24); FAULT_FRESH_16(25); FAULT_FRESH_16(26); FAULT_FRESH_16(27);
FAULT_FRESH_16(28); FAULT_FRESH_16(29); FAULT_FRESH_16(2a); FAULT_FRESH_16(2b);
FAULT_FRESH_16(2c); FAULT_FRESH_16(2d); FAULT_FRESH_16(2e); FAULT_FRESH_16(2f);
FAULT_FRESH_16(30); FAULT_FRESH_16(31); FAULT_FRESH_16(32); FAULT_FRESH_16(33);
FAULT_FRESH_16(34); FAULT_FRESH_16(35); FAULT_FRESH_16(36); FAULT_FRESH_16(37);
FAULT_FRESH_16(38); FAULT_FRESH_16(39); FAULT_FRESH_16(3a); FAULT_FRESH_16(3b);
FAULT_FRESH_16(3c); FAULT_FRESH_16(3d); FAULT_FRESH_16(3e); FAULT_FRESH_16(3f);

static fault_target_fn * const * const fault_fresh_targets[] = {
	fault_fresh_00, fault_fresh_01, fault_fresh_02, fault_fresh_03, fault_fresh_04,
	fault_fresh_05, fault_fresh_06, fault_fresh_07, fault_fresh_08, fault_fresh_09,
	fault_fresh_0a, fault_fresh_0b, fault_fresh_0c, fault_fresh_0d, fault_fresh_0e,
	fault_fresh_0f, fault_fresh_10, fault_fresh_11, fault_fresh_12, fault_fresh_13,
	fault_fresh_14, fault_fresh_15, fault_fresh_16, fault_fresh_17, fault_fresh_18,
	fault_fresh_19, fault_fresh_1a, fault_fresh_1b, fault_fresh_1c, fault_fresh_1d,
	fault_fresh_1e, fault_fresh_1f, fault_fresh_20, fault_fresh_21, fault_fresh_22,
	fault_fresh_23, fault_fresh_24, fault_fresh_25, fault_fresh_26, fault_fresh_27,
	fault_fresh_28, fault_fresh_29, fault_fresh_2a, fault_fresh_2b, fault_fresh_2c,
	fault_fresh_2d, fault_fresh_2e, fault_fresh_2f, fault_fresh_30, fault_fresh_31,
	fault_fresh_32, fault_fresh_33, fault_fresh_34, fault_fresh_35, fault_fresh_36,
	fault_fresh_37, fault_fresh_38, fault_fresh_39, fault_fresh_3a, fault_fresh_3b,
	fault_fresh_3c, fault_fresh_3d, fault_fresh_3e, fault_fresh_3f,
};

static unsigned long fault_hits;

static int fault_hit(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(fault_hits, fault_hits + 1);
	return 0;
}

/* Calls the first @calls of @targets and wants @hits handler runs of it. */
static int fault_expect_of(fault_target_fn * const targets[], int calls, unsigned long hits,
			   const char *what)
{
	int i;

	WRITE_ONCE(fault_hits, 0);
	for (i = 0; i < calls; i++)
		targets[i](1);
	if (READ_ONCE(fault_hits) == hits)
		return 0;
	pr_err("%s: %d calls, %lu handler runs instead of %lu\n", what, calls,
	       READ_ONCE(fault_hits), hits);
	return -EBADMSG;
}

static int fault_expect(int calls, unsigned long hits, const char *what)
{
	return fault_expect_of(fault_targets, calls, hits, what);
}

/*
 * One probe as described, on the first target, which @others have as well; there
 * and gone.
 */
static int fault_probe_beside(int others, const struct krp_kretprobe *like)
{
	struct krp_kretprobe rp = *like;
	int ret, bad;

	rp.kp.addr = (void *)fault_targets[0];
	ret = krp_register_kretprobe(&rp);
	if (ret)
		return fault_expect(1, others, "after a failed registration") ?: ret;
	bad = fault_expect(1, others + 1, "registered");
	krp_unregister_kretprobe(&rp);
	return fault_expect(1, others, "unregistered") ?: bad;
}

static int fault_probe(const struct krp_kretprobe *like)
{
	return fault_probe_beside(0, like);
}

static int fault_simple(void)
{
	return fault_probe(&(struct krp_kretprobe){ .handler = fault_hit });
}

static int fault_entry(void)
{
	return fault_probe(&(struct krp_kretprobe){ .entry_handler = fault_hit });
}

static int fault_large(void)
{
	return fault_probe(&(struct krp_kretprobe){ .handler = fault_hit, .maxactive = 20000 });
}

static int fault_data(void)
{
	return fault_probe(&(struct krp_kretprobe){
		.handler = fault_hit, .maxactive = 64, .data_size = KRP_DATA_SIZE_MAX });
}

static int fault_regs(void)
{
	return fault_probe(&(struct krp_kretprobe){
		.handler = fault_hit, .krp_flags = KRP_KRETPROBE_FULL_REGS });
}

/* Two on one function, the second of which wants more registers. */
static int fault_upgrade(void)
{
	struct krp_kretprobe rp = { .kp.addr = (void *)fault_targets[0], .handler = fault_hit };
	int ret = krp_register_kretprobe(&rp);

	if (ret)
		return ret;
	ret = fault_probe_beside(1, &(struct krp_kretprobe){
		.entry_handler = fault_hit, .krp_flags = KRP_KRETPROBE_FULL_REGS });
	krp_unregister_kretprobe(&rp);
	return fault_expect(1, 0, "both unregistered") ?: ret;
}

/* Where ftrace does not reach. */
static int fault_kprobe(void)
{
	struct krp_kretprobe rp = {
		.kp.addr = (void *)krp_target_notrace, .handler = fault_hit,
	};
	int ret = krp_register_kretprobe(&rp);

	if (ret)
		return ret;
	WRITE_ONCE(fault_hits, 0);
	krp_target_notrace(1);
	krp_unregister_kretprobe(&rp);
	krp_target_notrace(1);
	return READ_ONCE(fault_hits) == 1 ? 0 : -EBADMSG;
}

static int fault_again(void)
{
	struct krp_kretprobe rp = {
		.kp.addr = (void *)fault_targets[0], .kp.flags = KPROBE_FLAG_DISABLED,
		.handler = fault_hit,
	};
	int ret = krp_register_kretprobe(&rp), bad;

	if (ret)
		return ret;
	ret = krp_enable_kretprobe(&rp);
	bad = fault_expect(1, !ret, "enabled");
	if (!ret)
		ret = krp_disable_kretprobe(&rp);
	if (!ret)
		bad = bad ?: fault_expect(1, 0, "disabled");
	krp_unregister_kretprobe(&rp);
	return bad ?: ret;
}

static int fault_batch_of(int nr)
{
	struct krp_kretprobe *rps = kcalloc(nr, sizeof(*rps), GFP_KERNEL);
	struct krp_kretprobe **ptrs = kcalloc(nr, sizeof(*ptrs), GFP_KERNEL);
	int ret = -ENOMEM, bad = 0, i;

	if (!rps || !ptrs)
		goto free;
	for (i = 0; i < nr; i++) {
		rps[i].kp.addr = (void *)fault_targets[i];
		rps[i].handler = fault_hit;
		ptrs[i] = &rps[i];
	}
	ret = krp_register_kretprobes(ptrs, nr);
	bad = fault_expect(nr, ret ? 0 : nr, "a batch");
	if (!ret)
		krp_unregister_kretprobes(ptrs, nr);
	bad = bad ?: fault_expect(nr, 0, "a batch, unregistered");
free:
	kfree(rps);
	kfree(ptrs);
	return bad ?: ret;
}

static int fault_batch(void)
{
	return fault_batch_of(4);
}

static int fault_many(void)
{
	return fault_batch_of(ARRAY_SIZE(fault_targets));
}

static void fault_multi_exit(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
			     struct pt_regs *regs)
{
	WRITE_ONCE(fault_hits, fault_hits + 1);
}

/* One probe on all of them. */
static int fault_multi(void)
{
	struct krp_multi m = { .exit = fault_multi_exit, .nr_instances = 8 };
	int ret = krp_multi_register(&m, "kretpool_test:fault_target_*",
				     "*_1,*_2");
	int bad, nr = ARRAY_SIZE(fault_targets);

	bad = fault_expect(nr, ret ? 0 : nr - 2, "many by one");
	if (!ret)
		krp_multi_unregister(&m);
	return fault_expect(nr, 0, "many by one, unregistered") ?: bad ?: ret;
}

/*
 * One probe on functions that none has been on before, and so many that they are
 * allocated in one block.
 */
static int fault_fresh(void)
{
	static unsigned int next;
	fault_target_fn * const *targets =
		fault_fresh_targets[next / 2 % ARRAY_SIZE(fault_fresh_targets)] + next % 2 * 8;
	struct krp_multi m = { .exit = fault_multi_exit, .nr_instances = 8 };
	unsigned long addrs[8];
	int ret, bad, i;

	next++;
	for (i = 0; i < ARRAY_SIZE(addrs); i++)
		addrs[i] = (unsigned long)targets[i];
	ret = krp_multi_register_ips(&m, addrs, ARRAY_SIZE(addrs));
	bad = fault_expect_of(targets, ARRAY_SIZE(addrs), ret ? 0 : ARRAY_SIZE(addrs), "new ones");
	if (!ret)
		krp_multi_unregister(&m);
	return fault_expect_of(targets, ARRAY_SIZE(addrs), 0, "new ones, unregistered") ?:
	       bad ?: ret;
}

static int fault_uret_nothing(struct krp_uret_call *call, struct pt_regs *regs)
{
	return 0;
}

/* Nobody executes the first bytes of a program: they say that it is one. */
static int fault_uretprobe(void)
{
	const struct krp_uretprobe_desc desc = {
		.path = "/proc/self/exe",
		.entry = fault_uret_nothing,
		.handler = fault_uret_nothing,
		.data_size = KRP_DATA_SIZE_MAX,
	};
	struct krp_uretprobe *up = krp_uretprobe_register(&desc);
	struct krp_uretprobe_counts last = { .calls = 1 };

	if (IS_ERR(up))
		return PTR_ERR(up);
	krp_uretprobe_unregister(up, &last);
	return last.calls ? -EBADMSG : 0;
}

struct fault_pool {
	struct krp_objpool pool;
	struct completion gone;
};

static int fault_pool_gone(struct krp_objpool *pool, void *context)
{
	struct fault_pool *fp = context;

	complete(&fp->gone);
	return 0;
}

static int fault_pool_of(int nr, int size, int more, gfp_t gfp)
{
	static struct fault_pool fp;
	int ret, grown, want, n = 0;
	void *list = NULL, **obj;

	init_completion(&fp.gone);
	ret = krp_objpool_init(&fp.pool, nr, size, gfp, &fp, NULL, fault_pool_gone);
	if (ret)
		return ret;
	grown = more ? krp_objpool_grow(&fp.pool, more, gfp, NULL) : 0;
	want = fp.pool.nr_total - num_possible_cpus();
	while ((obj = krp_objpool_pop(&fp.pool))) {
		*obj = list;
		list = obj;
		n++;
	}
	for (; list; list = obj) {
		obj = *(void **)list;
		krp_objpool_push(list, &fp.pool);
	}
	krp_objpool_fini(&fp.pool);
	/* It lies in static memory: to be sure that it is out of use. */
	if (!wait_for_completion_timeout(&fp.gone, 60 * HZ) || n < want ||
	    want != nr + (grown ? 0 : more)) {
		pr_err("a pool of %d + %d: %d objects\n", nr, more, n);
		return -EBADMSG;
	}
	return grown;
}

static int fault_pool_1(void)
{
	return fault_pool_of(1, 8, 0, GFP_KERNEL);
}

static int fault_pool_1000(void)
{
	return fault_pool_of(1000, 128, 1000, GFP_KERNEL);
}

static int fault_pool_65536(void)
{
	return fault_pool_of(65536, 64, 4096, GFP_KERNEL);
}

static int fault_pool_atomic(void)
{
	return fault_pool_of(64, 64, 64, GFP_ATOMIC);
}

static const struct {
	const char *name;
	int (*fn)(void);
} fault_ops[] = {
	/* The first one that has so many functions makes the table grow. */
	{ "many", fault_many },
	{ "simple", fault_simple },
	{ "entry-only", fault_entry },
	{ "large", fault_large },
	{ "data", fault_data },
	{ "regs", fault_regs },
	{ "upgrade", fault_upgrade },
	{ "kprobe", fault_kprobe },
	{ "disabled", fault_again },
	{ "batch", fault_batch },
	{ "multi", fault_multi },
	{ "fresh", fault_fresh },
	{ "uretprobe", fault_uretprobe },
	{ "pool-1", fault_pool_1 },
	{ "pool-1000", fault_pool_1000 },
	{ "pool-65536", fault_pool_65536 },
	{ "pool-atomic", fault_pool_atomic },
};

static int faults_show(struct seq_file *m, void *v)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fault_ops); i++)
		seq_printf(m, "%s\n", fault_ops[i].name);
	return 0;
}

static int faults_open(struct inode *inode, struct file *file)
{
	return single_open(file, faults_show, NULL);
}

static ssize_t faults_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	static DEFINE_MUTEX(one_at_a_time);
	char text[32], *name = command_read(text, sizeof(text), buf, len);
	int i, ret = -EINVAL;

	if (IS_ERR(name))
		return PTR_ERR(name);
	mutex_lock(&one_at_a_time);
	for (i = 0; i < ARRAY_SIZE(fault_ops); i++)
		if (!strcmp(name, fault_ops[i].name))
			ret = fault_ops[i].fn();
	mutex_unlock(&one_at_a_time);
	return ret ?: len;
}

static const struct proc_ops faults_ops = {
	.proc_open = faults_open,
	.proc_read = seq_read,
	.proc_write = faults_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/**
 * krp_faults_init() - make the file
 * @dir: /proc/kretpool_test
 *
 * Return: 0 or -ENOMEM.
 */
int krp_faults_init(struct proc_dir_entry *dir)
{
	return proc_create("faults", 0600, dir, &faults_ops) ? 0 : -ENOMEM;
}
