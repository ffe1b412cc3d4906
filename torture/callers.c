// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that count their calls, and who calls them: tasks that hop from CPU
 * to CPU, a timer on each CPU, and NMIs where this kernel lets a module send
 * some. Every caller checks what it gets back.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "compat_hrtimer.h"
#include "compat_nmi.h"
#include "torture.h"

const char * const torture_target_names[TORTURE_TARGETS] = {
	[TORTURE_LEAF] = "torture_leaf",
	[TORTURE_NEST] = "torture_nest",
	[TORTURE_TAIL] = "torture_tail",
	[TORTURE_NOTRACE] = "torture_notrace",
	[TORTURE_SLEEP] = "torture_sleep",
};

static DEFINE_PER_CPU(unsigned long [TORTURE_TARGETS], torture_counts);

noinline torture_noipa unsigned long torture_leaf(unsigned long a, unsigned long b)
{
	this_cpu_inc(torture_counts[TORTURE_LEAF]);
	return a + b;
}

static noinline torture_noipa unsigned long torture_nest(unsigned int depth)
{
	unsigned long below = 0;

	this_cpu_inc(torture_counts[TORTURE_NEST]);
	if (depth)
		below = torture_nest(depth - 1);
	/* Not a loop. */
	barrier();
	return below + 1;
}

/* The call is a jump: torture_leaf() returns to this function's caller. */
static noinline torture_noipa unsigned long torture_tail(unsigned long a)
{
	this_cpu_inc(torture_counts[TORTURE_TAIL]);
	return torture_leaf(a, 1000);
}

static noinline torture_noipa notrace unsigned long torture_notrace(unsigned long a)
{
	this_cpu_inc(torture_counts[TORTURE_NOTRACE]);
	return a ^ 0x55;
}

static noinline torture_noipa unsigned long torture_sleep(unsigned long a)
{
	this_cpu_inc(torture_counts[TORTURE_SLEEP]);
	usleep_range(50, 500);
	return ~a;
}

/**
 * torture_calls() - how often a function was called
 * @target: which
 *
 * Context: any; exact while nobody calls.
 * Return: their number.
 */
unsigned long torture_calls(enum torture_target target)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(torture_counts, cpu)[target]);
	return sum;
}

/* Calls one of them, not one that sleeps, and looks at what it returns. */
static void torture_call(unsigned long random, const char *where)
{
	unsigned long a = random >> 8, got, want;
	unsigned int depth = a % 8;

	switch (random % 4) {
	case 0:
		got = torture_leaf(a, 7);
		want = a + 7;
		break;
	case 1:
		got = torture_nest(depth);
		want = depth + 1;
		break;
	case 2:
		got = torture_tail(a);
		want = a + 1000;
		break;
	default:
		got = torture_notrace(a);
		want = a ^ 0x55;
		break;
	}
	if (got != want)
		torture_wrong("in %s function %lu returned %#lx, not %#lx", where, random % 4,
			      got, want);
}

/* Tasks */

static struct torture_threads torture_readers;

static void torture_hop(struct rnd_state *rnd)
{
	unsigned int cpu = torture_random(rnd, nr_cpu_ids);

	/* One that goes away this moment is refused: so stay. */
	set_cpus_allowed_ptr(current, cpu_online(cpu) ? cpumask_of(cpu) : cpu_possible_mask);
}

static int torture_reader(void *data)
{
	struct rnd_state rnd;
	unsigned long a;

	torture_seed(&rnd, (unsigned long)data);
	while (!kthread_should_stop()) {
		int calls = 256;

		while (calls--)
			torture_call(prandom_u32_state(&rnd), "a task");
		a = prandom_u32_state(&rnd);
		if (!(a % 4) && torture_sleep(a) != ~a)
			torture_wrong("a sleeping call returned something else");
		if (!(a % 32))
			torture_hop(&rnd);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* Timers */

static DEFINE_PER_CPU(struct hrtimer, torture_timer);
static DEFINE_PER_CPU(unsigned long, torture_fired);
static DEFINE_PER_CPU(u32, torture_irq_random);

static void torture_timer_arm(void *data)
{
	u32 ns = 100000 + (this_cpu_read(torture_irq_random) & 0x7ffff);

	hrtimer_start(this_cpu_ptr(&torture_timer), ns, HRTIMER_MODE_REL_PINNED_HARD);
}

static enum hrtimer_restart torture_timer_fires(struct hrtimer *timer)
{
	/* Not to be foreseen, so that it interrupts at any instruction. */
	u32 random = this_cpu_read(torture_irq_random) * 1664525 + 1013904223;
	int calls = 8;

	this_cpu_write(torture_irq_random, random);
	this_cpu_inc(torture_fired);
	while (calls--)
		torture_call((random >> 4) + calls, "an interrupt");
	/*
	 * Not HRTIMER_RESTART: hrtimer_forward() must not meet torture_timer_arm().
	 * After its CPU went offline, this timer goes on elsewhere for a while.
	 */
	hrtimer_start(timer, 100000 + (random & 0x7ffff), HRTIMER_MODE_REL_PINNED_HARD);
	return HRTIMER_NORESTART;
}

/* NMIs */

static DEFINE_PER_CPU(bool, torture_nmi_sent);
static DEFINE_PER_CPU(unsigned long, torture_nmi_seen);

static int torture_nmi(unsigned int type, struct pt_regs *regs)
{
	unsigned long n;

	if (!this_cpu_read(torture_nmi_sent))
		return KRP_NMI_NOT_MINE;
	n = this_cpu_inc_return(torture_nmi_seen);
	torture_call(n, "an NMI");
	torture_call(n * 2654435761u, "an NMI");
	/* Last: before the next one is sent. */
	this_cpu_write(torture_nmi_sent, false);
	return KRP_NMI_MINE;
}

static void torture_nmi_send(unsigned int cpu)
{
	/* A CPU that is online stays so while preemption is off. */
	preempt_disable();
	if (cpu_online(cpu) && !READ_ONCE(per_cpu(torture_nmi_sent, cpu))) {
		WRITE_ONCE(per_cpu(torture_nmi_sent, cpu), true);
		krp_nmi_send(cpu);
	}
	preempt_enable();
}

/* Sends NMIs, and keeps the timers on their CPUs, which come and go. */
static struct task_struct *torture_driver_task;
static bool torture_nmi_on;

static int torture_driver(void *data)
{
	struct rnd_state rnd;
	unsigned int cpu;

	torture_seed(&rnd, 1000);
	while (!kthread_should_stop()) {
		if (torture_nmi_on)
			torture_nmi_send(torture_random(&rnd, nr_cpu_ids));
		if (torture_timers && !torture_random(&rnd, 64))
			for_each_online_cpu(cpu)
				smp_call_function_single(cpu, torture_timer_arm, NULL, 1);
		usleep_range(500, 3000);
	}
	return 0;
}

static void torture_nmi_wait(void)
{
	unsigned int cpu, left;

	for_each_online_cpu(cpu)
		for (left = 10000; READ_ONCE(per_cpu(torture_nmi_sent, cpu)) && left; left--)
			usleep_range(100, 1000);
}

static void torture_nmi_start(void)
{
	int ret;

	torture_nmi_on = false;
	if (!torture_nmis)
		return;
	ret = krp_nmi_register(torture_nmi);
	if (ret)
		pr_notice("no NMIs: a module cannot send any on this kernel (%d)\n", ret);
	else
		torture_nmi_on = true;
}

/**
 * torture_callers_start() - call, and call
 *
 * Context: process.
 * Return: 0 or -ENOMEM and the like; nobody calls then.
 */
int torture_callers_start(void)
{
	struct task_struct *task;
	int cpu, ret;

	for_each_possible_cpu(cpu) {
		per_cpu(torture_irq_random, cpu) = cpu * 7919 + 1;
		per_cpu(torture_nmi_sent, cpu) = false;
		hrtimer_setup(per_cpu_ptr(&torture_timer, cpu), torture_timer_fires,
			      CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	}
	torture_nmi_start();
	task = kthread_run(torture_driver, NULL, "torture_driver");
	if (IS_ERR(task)) {
		torture_callers_stop();
		return PTR_ERR(task);
	}
	torture_driver_task = task;
	ret = torture_threads_start(&torture_readers, torture_nreaders, torture_reader,
				    "torture_reader");
	if (ret)
		torture_callers_stop();
	return ret;
}

/**
 * torture_callers_stop() - nobody calls any more when this returns
 *
 * Context: process.
 */
void torture_callers_stop(void)
{
	int cpu;

	torture_threads_stop(&torture_readers);
	/* The timers' owner first, it would arm them again. */
	if (torture_driver_task)
		kthread_stop(torture_driver_task);
	torture_driver_task = NULL;
	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&torture_timer, cpu));
	if (torture_nmi_on) {
		torture_nmi_wait();
		krp_nmi_unregister();
	}
	torture_nmi_on = false;
}

/**
 * torture_callers_show() - their part of the line of statistics
 * @buf: filled in
 * @size: of @buf
 */
void torture_callers_show(char *buf, size_t size)
{
	unsigned long calls = 0, fired = 0, nmis = 0;
	int i, cpu;

	for (i = 0; i < TORTURE_TARGETS; i++)
		calls += torture_calls(i);
	for_each_possible_cpu(cpu) {
		fired += READ_ONCE(per_cpu(torture_fired, cpu));
		nmis += READ_ONCE(per_cpu(torture_nmi_seen, cpu));
	}
	snprintf(buf, size, "calls %lu interrupts %lu NMIs %lu CPUs %u", calls, fired, nmis,
		 num_online_cpus());
}
