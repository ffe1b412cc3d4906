// SPDX-License-Identifier: GPL-2.0-only
/* Threads that call the kernel's sys_prctl, and what a call costs. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/prctl.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/printk.h>
#include <linux/static_call.h>
#include <asm/ptrace.h>

#include "bench.h"
#include "krp_arch.h"

/* Calls between two looks at the clock. */
#define BENCH_BATCH	64

static long (*bench_address)(const struct pt_regs *regs);

static long bench_nothing(const struct pt_regs *regs)
{
	return -EINVAL;
}

/*
 * Calls it directly where the processor can: a function that the kernel itself
 * never calls through a pointer may have no landing pad for that.
 */
DEFINE_STATIC_CALL(bench_syscall, bench_nothing);

/**
 * struct bench_thread - a thread that calls
 * @task: the thread
 * @calls: how many it has made
 * @run: what it belongs to
 */
struct bench_thread {
	struct task_struct *task;
	u64 calls;
	struct bench_run *run;
};

/**
 * struct bench_run - threads that start and stop together
 * @go: opened when all are there
 * @stop: set when it is time
 */
struct bench_run {
	struct completion go;
	bool stop;
};

/* The cheapest request there is: it returns a constant. */
static void bench_regs(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	krp_arch_set_syscall_arg(regs, PR_GET_TIMING);
}

static int bench_thread_fn(void *data)
{
	struct bench_thread *thread = data;
	struct pt_regs regs;
	int i;

	bench_regs(&regs);
	wait_for_completion(&thread->run->go);
	while (!READ_ONCE(thread->run->stop)) {
		for (i = 0; i < BENCH_BATCH; i++)
			static_call(bench_syscall)(&regs);
		thread->calls += BENCH_BATCH;
		cond_resched_tasks_rcu_qs();
	}
	/* kthread_stop() wants to find it. */
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/**
 * bench_load_run() - call from several threads, one per CPU
 * @threads: how many, 1 … online CPUs
 * @ms: for how long, milliseconds
 * @calls: what they made
 * @ns: how long it took, nanoseconds
 *
 * Return: 0, -EINVAL for too many threads, or -ENOMEM.
 */
int bench_load_run(unsigned int threads, unsigned int ms, u64 *calls, u64 *ns)
{
	struct bench_run run = { .stop = false };
	struct bench_thread *thread;
	unsigned int cpu, n = 0;
	int ret = 0;
	u64 start;

	if (!threads || threads > num_online_cpus())
		return -EINVAL;
	thread = kcalloc(threads, sizeof(*thread), GFP_KERNEL);
	if (!thread)
		return -ENOMEM;
	init_completion(&run.go);

	for_each_online_cpu(cpu) {
		struct task_struct *task;

		if (n == threads)
			break;
		thread[n].run = &run;
		task = kthread_create(bench_thread_fn, &thread[n], "kretpool_bench/%u", cpu);
		if (IS_ERR(task)) {
			ret = PTR_ERR(task);
			WRITE_ONCE(run.stop, true);
			break;
		}
		kthread_bind(task, cpu);
		thread[n++].task = task;
		wake_up_process(task);
	}

	start = ktime_get_ns();
	complete_all(&run.go);
	if (!ret)
		schedule_timeout_uninterruptible(msecs_to_jiffies(ms));
	WRITE_ONCE(run.stop, true);
	*calls = 0;
	while (n--) {
		kthread_stop(thread[n].task);
		*calls += thread[n].calls;
	}
	*ns = ktime_get_ns() - start;
	kfree(thread);
	return ret;
}

/* Calls from as many places: each has a return address of its own. */
static noinline void bench_call_from_sites(struct pt_regs *regs)
{
	unsigned int i;

#pragma GCC unroll 64
	for (i = 0; i < BENCH_SITES; i++)
		static_call(bench_syscall)(regs);
}

static noinline void bench_call_from_one(struct pt_regs *regs)
{
	unsigned int i;

#pragma GCC unroll 1
	for (i = 0; i < BENCH_SITES; i++)
		static_call(bench_syscall)(regs);
}

/**
 * bench_load_cost() - what one call costs
 * @sites: are the calls made from BENCH_SITES places, not from one?
 * @loops: per round, BENCH_SITES calls each, 1 …
 * @rounds: the best of so many, 1 …; most see no timer tick
 *
 * Under QEMU's -icount shift=0 a nanosecond is an instruction. The loop itself
 * is the same in all modes.
 *
 * Return: nanoseconds for all calls of a round.
 */
u64 bench_load_cost(bool sites, unsigned int loops, unsigned int rounds)
{
	u64 best = U64_MAX, start;
	struct pt_regs regs;
	unsigned int i;

	bench_regs(&regs);
	while (rounds--) {
		start = ktime_get_ns();
		for (i = 0; i < loops; i++) {
			if (sites)
				bench_call_from_sites(&regs);
			else
				bench_call_from_one(&regs);
		}
		best = min(best, ktime_get_ns() - start);
		cond_resched();
	}
	return best;
}

/**
 * bench_load_init() - find the function
 *
 * Return: 0 or what register_kprobe() says of it.
 */
int bench_load_init(void)
{
	struct kprobe kp = { .symbol_name = bench_target, .flags = KPROBE_FLAG_DISABLED };
	int ret = register_kprobe(&kp);

	if (ret) {
		pr_err("no function %s here (%d); give another as target=\n", bench_target, ret);
		return ret;
	}
	bench_address = (void *)kp.addr;
	static_call_update(bench_syscall, bench_address);
	unregister_kprobe(&kp);
	return 0;
}

/**
 * bench_load_address() - where the kernel puts a kprobe on it
 *
 * Return: the address.
 */
unsigned long bench_load_address(void)
{
	return (unsigned long)bench_address;
}
