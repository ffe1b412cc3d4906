// SPDX-License-Identifier: GPL-2.0-only
/* Several hooks on one function: each handler once, right return. */

#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

#include "compat_hrtimer.h"
#include "test.h"

#define CALLS	200

static unsigned long hits_a, hits_b, hits_kernel;
static unsigned long retaddr_a, retaddr_b;

static int hit_a(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	hits_a++;
	retaddr_a = krp_get_kretprobe_retaddr(ri);
	return 0;
}

static int hit_b(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	hits_b++;
	retaddr_b = krp_get_kretprobe_retaddr(ri);
	return 0;
}

static int hit_kernel(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits_kernel++;
	return 0;
}

static void calls(struct krp_test_run *run)
{
	int i;

	hits_a = 0;
	hits_b = 0;
	hits_kernel = 0;
	for (i = 0; i < CALLS; i++)
		krp_expect_eq(run, krp_caller_of_add(i, 1), i + 2);
}

/* Registers both and calls; they are registered still if this is true. */
static bool both_hit(struct krp_test_run *run, struct krp_kretprobe *a, struct krp_kretprobe *b)
{
	if (!krp_expect_eq(run, krp_register_kretprobe(a), 0))
		return false;
	if (!krp_expect_eq(run, krp_register_kretprobe(b), 0)) {
		krp_unregister_kretprobe(a);
		return false;
	}
	calls(run);
	krp_expect_eq(run, hits_a, CALLS);
	krp_expect_eq(run, hits_b, CALLS);
	return true;
}

static void test_two_of_ours(struct krp_test_run *run)
{
	struct krp_kretprobe a = { .kp.symbol_name = "krp_target_add", .handler = hit_a };
	struct krp_kretprobe b = { .kp.symbol_name = "krp_target_add", .handler = hit_b };
	unsigned long caller = (unsigned long)krp_caller_of_add;

	if (!both_hit(run, &a, &b))
		return;
	krp_expect_eq(run, retaddr_a, retaddr_b);
	krp_expect(run, retaddr_a - caller < 256);
	krp_unregister_kretprobe(&a);
	calls(run);
	krp_expect_eq(run, hits_a, 0);
	krp_expect_eq(run, hits_b, CALLS);
	krp_unregister_kretprobe(&b);
}

/* The second wants all registers: the function is hooked in two ways. */
static void test_upgrade(struct krp_test_run *run)
{
	struct krp_kretprobe a = { .kp.symbol_name = "krp_target_add", .handler = hit_a };
	struct krp_kretprobe b = {
		.kp.symbol_name = "krp_target_add",
		.handler = hit_b,
		.krp_flags = KRP_KRETPROBE_FULL_REGS,
	};

	if (!both_hit(run, &a, &b))
		return;
	krp_unregister_kretprobe(&b);
	calls(run);
	krp_expect_eq(run, hits_a, CALLS);
	krp_unregister_kretprobe(&a);
	calls(run);
	krp_expect_eq(run, hits_a + hits_b, 0);
}

static void test_with_kernel(struct krp_test_run *run, bool kernel_first)
{
	struct krp_kretprobe ours = { .kp.symbol_name = "krp_target_add", .handler = hit_a };
	struct kretprobe theirs = { .kp.symbol_name = "krp_target_add", .handler = hit_kernel };

	if (kernel_first && !krp_expect_eq(run, register_kretprobe(&theirs), 0))
		return;
	if (krp_expect_eq(run, krp_register_kretprobe(&ours), 0)) {
		if (kernel_first || krp_expect_eq(run, register_kretprobe(&theirs), 0)) {
			calls(run);
			krp_expect_eq(run, hits_a, CALLS);
			krp_expect_eq(run, hits_kernel, CALLS);
		}
		krp_unregister_kretprobe(&ours);
	}
	unregister_kretprobe(&theirs);
	calls(run);
	krp_expect_eq(run, hits_a + hits_kernel, 0);
}

static void test_kernel_first(struct krp_test_run *run)
{
	test_with_kernel(run, true);
}

static void test_kernel_last(struct krp_test_run *run)
{
	test_with_kernel(run, false);
}

/* A plain kprobe at the entry, on functions hooked by ftrace and by kprobe. */
static int kprobe_hit(struct kprobe *kp, struct pt_regs *regs)
{
	hits_kernel++;
	return 0;
}

static void test_with_kprobe(struct krp_test_run *run)
{
	struct krp_kretprobe ours = { .kp.symbol_name = "krp_target_notrace", .handler = hit_a };
	struct kprobe theirs = { .symbol_name = "krp_target_notrace", .pre_handler = kprobe_hit };

	hits_a = 0;
	hits_kernel = 0;
	if (!krp_expect_eq(run, krp_register_kretprobe(&ours), 0))
		return;
	if (krp_expect_eq(run, register_kprobe(&theirs), 0)) {
		krp_expect_eq(run, krp_target_notrace(1), 0x54);
		krp_expect_eq(run, hits_a, 1);
		krp_expect_eq(run, hits_kernel, 1);
		unregister_kprobe(&theirs);
	}
	krp_unregister_kretprobe(&ours);
}

/* What the recursion test's handler does while it runs. */
static unsigned long inner_value;

static int hit_recursive(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	hits_a++;
	inner_value = krp_target_add(20, 22);
	return 0;
}

static void test_handler_recursion(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = hit_recursive };
	struct krp_rethook_counts counts;

	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	calls(run);
	krp_rethook_counts(rp.rh, &counts);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, hits_a, CALLS);
	krp_expect_eq(run, inner_value, 42);
	krp_expect_eq(run, counts.hits, CALLS);
	krp_expect_eq(run, counts.missed[KRP_MISS_RECURSION], CALLS);
	/* As the kernel's: recursion shows here, and only here. */
	krp_expect_eq(run, rp.kp.nmissed, CALLS);
	krp_expect_eq(run, rp.nmissed, 0);
}

/* An interrupt that enters the probed function while an entry handler runs. */
#define INTERRUPT_NS	50000

static unsigned long interrupts, spoilt;

static enum hrtimer_restart interrupt_calls(struct hrtimer *timer)
{
	krp_target_add(20, 22);
	WRITE_ONCE(interrupts, interrupts + 1);
	hrtimer_forward_now(timer, ns_to_ktime(INTERRUPT_NS));
	return HRTIMER_RESTART;
}

static int entry_interrupted(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long before = READ_ONCE(interrupts), ret = krp_get_kretprobe_retaddr(ri);
	ktime_t end = ktime_add_ms(ktime_get(), 100);

	hits_a++;
	if (hardirq_count())
		return 0;
	*(unsigned long *)ri->data = hits_a;
	while (READ_ONCE(interrupts) == before && ktime_before(ktime_get(), end))
		cpu_relax();
	/* All of them share one instance per CPU. */
	spoilt += *(unsigned long *)ri->data != hits_a || krp_get_kretprobe_retaddr(ri) != ret;
	return 0;
}

static void test_entry_interrupted(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.entry_handler = entry_interrupted,
		.data_size = sizeof(unsigned long),
	};
	static struct hrtimer timer;
	struct krp_rethook_counts counts;
	int i;

	interrupts = 0;
	spoilt = 0;
	hits_a = 0;
	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	hrtimer_setup(&timer, interrupt_calls, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	/* On the timer's CPU. */
	preempt_disable();
	hrtimer_start(&timer, ns_to_ktime(INTERRUPT_NS), HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < 20; i++)
		krp_expect_eq(run, krp_target_add(i, 1), i + 1);
	preempt_enable();
	hrtimer_cancel(&timer);
	krp_rethook_counts(rp.rh, &counts);
	krp_unregister_kretprobe(&rp);

	krp_expect_eq(run, spoilt, 0);
	krp_expect_eq(run, counts.hits, hits_a);
	/* Each of the calls above waited for one. */
	krp_expect(run, counts.missed[KRP_MISS_RECURSION] >= 20);
	krp_expect_eq(run, counts.hits + counts.missed[KRP_MISS_RECURSION], 20 + interrupts);
}

const struct krp_test krp_tests_stacking[] = {
	{ "two of ours", test_two_of_ours },
	{ "two of ours, the second with all registers", test_upgrade },
	{ "the kernel's kretprobe first, then ours", test_kernel_first },
	{ "ours first, then the kernel's kretprobe", test_kernel_last },
	{ "a kprobe of the kernel's on the same entry", test_with_kprobe },
	{ "a handler that calls the probed function", test_handler_recursion },
	{ "an interrupt enters it while an entry handler runs", test_entry_interrupted },
	{ }
};
