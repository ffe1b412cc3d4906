// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool in the kernel: limits, large pools, and interrupts inside of pop and
 * push. The same code is tested far more thoroughly in user space, see sim/.
 */

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat_hrtimer.h"
#include "test.h"

/* An object knows whether it is out; two holders would be seen. */
struct item {
	atomic_t out;
	unsigned long pad[2];
};

struct test_pool {
	struct krp_objpool pool;
	struct completion gone;
	atomic_long_t doubles;
	int inits;
};

static int item_init(void *obj, void *context)
{
	struct test_pool *tp = context;

	tp->inits++;
	return 0;
}

static int pool_gone(struct krp_objpool *pool, void *context)
{
	struct test_pool *tp = context;

	complete(&tp->gone);
	return 0;
}

static int pool_on(struct test_pool *tp, int nr, int size, gfp_t gfp)
{
	memset(tp, 0, sizeof(*tp));
	init_completion(&tp->gone);
	return krp_objpool_init(&tp->pool, nr, size, gfp, tp, item_init, pool_gone);
}

static void pool_off(struct krp_test_run *run, struct test_pool *tp)
{
	krp_objpool_fini(&tp->pool);
	krp_expect(run, wait_for_completion_timeout(&tp->gone, 30 * HZ));
}

/* C6 */
static void test_limits(struct krp_test_run *run)
{
	static const gfp_t flags[] = {
		GFP_KERNEL, GFP_ATOMIC, GFP_NOWAIT, GFP_NOFS, GFP_NOIO,
		GFP_KERNEL_ACCOUNT, GFP_KERNEL | __GFP_ZERO, GFP_HIGHUSER, GFP_KERNEL | GFP_DMA32,
	};
	static struct test_pool tp;
	int i;

	krp_expect_eq(run, pool_on(&tp, 0, 8, GFP_KERNEL), -EINVAL);
	krp_expect_eq(run, pool_on(&tp, -1, 8, GFP_KERNEL), -EINVAL);
	krp_expect_eq(run, pool_on(&tp, INT_MAX, 8, GFP_KERNEL), -EINVAL);
	krp_expect_eq(run, pool_on(&tp, KRP_OBJPOOL_NR_OBJECT_MAX + 1, 8, GFP_KERNEL), -EINVAL);
	krp_expect_eq(run, pool_on(&tp, 1, 0, GFP_KERNEL), -EINVAL);
	krp_expect_eq(run, pool_on(&tp, 1, -1, GFP_KERNEL), -EINVAL);
	krp_expect_eq(run, pool_on(&tp, 1, KRP_OBJPOOL_OBJECT_SIZE_MAX + 1, GFP_KERNEL), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (krp_expect_eq(run, pool_on(&tp, 16, 100, flags[i]), 0))
			pool_off(run, &tp);
	/* More than there is: an error, and no splat. */
	krp_expect_eq(run, pool_on(&tp, KRP_OBJPOOL_NR_OBJECT_MAX, KRP_OBJPOOL_OBJECT_SIZE_MAX,
				   GFP_KERNEL), -ENOMEM);
	krp_expect_eq(run, pool_on(&tp, KRP_OBJPOOL_NR_OBJECT_MAX, 64, GFP_ATOMIC), -ENOMEM);
}

/* C1 */
static void test_large(struct krp_test_run *run)
{
	static struct test_pool tp;
	int nr;

	for (nr = 65536; nr <= 262144; nr *= 2) {
		unsigned int cpus = num_possible_cpus();
		void *list = NULL, **obj;
		int n = 0;

		if (!krp_expect_eq(run, pool_on(&tp, nr, 64, GFP_KERNEL), 0))
			return;
		krp_expect_eq(run, tp.inits, nr + cpus);
		/* G5: within the budget, most of it the objects. */
		krp_expect(run, tp.pool.bytes <= (size_t)(nr + cpus) * (64 + 40) + cpus * 256 + 4096);
		while ((obj = krp_objpool_pop(&tp.pool))) {
			*obj = list;
			list = obj;
			n++;
		}
		krp_expect(run, n >= nr && n <= nr + cpus);
		for (; list; list = obj) {
			obj = *(void **)list;
			krp_expect_eq(run, krp_objpool_push(list, &tp.pool), 0);
		}
		pool_off(run, &tp);
		cond_resched();
	}
}

static void test_bad_pushes(struct krp_test_run *run)
{
	static struct test_pool tp, other;
	void *obj, *foreign;

	if (!krp_expect_eq(run, pool_on(&tp, 4, 32, GFP_KERNEL), 0))
		return;
	if (krp_expect_eq(run, pool_on(&other, 4, 32, GFP_KERNEL), 0)) {
		obj = krp_objpool_pop(&tp.pool);
		foreign = krp_objpool_pop(&other.pool);
		krp_expect_eq(run, krp_objpool_push(NULL, &tp.pool), -EINVAL);
		krp_expect_eq(run, krp_objpool_push(foreign, &tp.pool), -EINVAL);
		krp_expect_eq(run, krp_objpool_drop(foreign, &tp.pool), -EINVAL);
		preempt_disable();
		krp_expect_eq(run, krp_objpool_push(obj, &tp.pool), 0);
		krp_expect_eq(run, krp_objpool_push(obj, &tp.pool), -EINVAL);
		preempt_enable();
		krp_expect_eq(run, krp_objpool_push(foreign, &other.pool), 0);
		pool_off(run, &other);
	}
	pool_off(run, &tp);
}

static void test_last_one_home(struct krp_test_run *run)
{
	static struct test_pool tp;
	void *a, *b;

	if (!krp_expect_eq(run, pool_on(&tp, 4, 32, GFP_KERNEL), 0))
		return;
	a = krp_objpool_pop(&tp.pool);
	b = krp_objpool_pop(&tp.pool);
	krp_objpool_fini(&tp.pool);
	krp_expect(run, !wait_for_completion_timeout(&tp.gone, HZ / 10));
	krp_expect_eq(run, krp_objpool_drop(a, &tp.pool), -EAGAIN);
	krp_expect(run, !wait_for_completion_timeout(&tp.gone, HZ / 10));
	krp_expect_eq(run, krp_objpool_drop(b, &tp.pool), 0);
	krp_expect(run, wait_for_completion_timeout(&tp.gone, 30 * HZ));
}

/*
 * C4: a timer interrupt that pops and pushes, inside of pops and pushes of the
 * thread below it, on every CPU at once.
 */

#define NEST_HOLD	3
#define NEST_NS		20000

struct nest_cpu {
	struct hrtimer timer;
	struct task_struct *task;
	struct test_pool *tp;
	unsigned long pairs;
	unsigned long interrupts;
};

static bool nest_stop;

static void nest_round(struct test_pool *tp, unsigned long *pairs)
{
	struct item *held[NEST_HOLD];
	int i;

	for (i = 0; i < NEST_HOLD; i++) {
		held[i] = krp_objpool_pop(&tp->pool);
		if (held[i] && atomic_xchg(&held[i]->out, 1))
			atomic_long_inc(&tp->doubles);
	}
	for (i = 0; i < NEST_HOLD; i++) {
		if (!held[i])
			continue;
		if (!atomic_xchg(&held[i]->out, 0))
			atomic_long_inc(&tp->doubles);
		krp_objpool_push(held[i], &tp->pool);
		(*pairs)++;
	}
}

static enum hrtimer_restart nest_interrupt(struct hrtimer *timer)
{
	struct nest_cpu *nc = container_of(timer, struct nest_cpu, timer);

	nest_round(nc->tp, &nc->interrupts);
	if (READ_ONCE(nest_stop))
		return HRTIMER_NORESTART;
	/* Odd distances: all instructions get their turn. */
	hrtimer_forward_now(timer, ns_to_ktime(NEST_NS + nc->interrupts * 37 % 4096));
	return HRTIMER_RESTART;
}

static int nest_thread(void *data)
{
	struct nest_cpu *nc = data;

	hrtimer_setup(&nc->timer, nest_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&nc->timer, ns_to_ktime(NEST_NS), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(nest_stop)) {
		nest_round(nc->tp, &nc->pairs);
		if (!(nc->pairs % 1024))
			cond_resched_tasks_rcu_qs();
	}
	hrtimer_cancel(&nc->timer);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void test_interrupts(struct krp_test_run *run)
{
	struct nest_cpu *cpus = kcalloc(nr_cpu_ids, sizeof(*cpus), GFP_KERNEL);
	unsigned long pairs = 0, interrupts = 0;
	static struct test_pool tp;
	struct krp_objpool_stats st;
	unsigned int cpu;

	if (!krp_expect(run, cpus))
		return;
	/* Fewer than all of them want at once: rings, homes and steals as well. */
	if (!krp_expect_eq(run, pool_on(&tp, 2 * num_online_cpus(), sizeof(struct item),
					GFP_KERNEL), 0))
		goto free;
	WRITE_ONCE(nest_stop, false);
	for_each_online_cpu(cpu) {
		struct task_struct *task;

		cpus[cpu].tp = &tp;
		task = kthread_create(nest_thread, &cpus[cpu], "krp_nest/%u", cpu);
		if (!krp_expect(run, !IS_ERR(task)))
			continue;
		kthread_bind(task, cpu);
		cpus[cpu].task = task;
		wake_up_process(task);
	}
	msleep(1500);
	WRITE_ONCE(nest_stop, true);
	for_each_online_cpu(cpu) {
		if (cpus[cpu].task)
			kthread_stop(cpus[cpu].task);
		pairs += cpus[cpu].pairs;
		interrupts += cpus[cpu].interrupts;
	}
	krp_objpool_stats(&tp.pool, &st);
	seq_printf(run->m, "# %lu pairs in threads, %lu in interrupts, %lu steals, %lu misses\n",
		   pairs, interrupts, st.counts.steals, st.counts.misses);
	krp_expect_eq(run, atomic_long_read(&tp.doubles), 0);
	krp_expect_eq(run, st.nr_free, tp.pool.nr_total);
	krp_expect(run, pairs > 1000);
	krp_expect(run, interrupts > 100);
	pool_off(run, &tp);
free:
	kfree(cpus);
}

const struct krp_test krp_tests_objpool[] = {
	{ "limits and allocation flags", test_limits },
	{ "65,536 to 262,144 objects", test_large },
	{ "bad pointers are refused", test_bad_pushes },
	{ "the last one home frees the pool", test_last_one_home },
	{ "interrupts pop and push inside of pop and push", test_interrupts },
	{ }
};
