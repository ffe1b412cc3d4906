// SPDX-License-Identifier: GPL-2.0-only
/* What handlers see of one call, and what its caller sees of them. */

#include <linux/kallsyms.h>
#include <linux/ptrace.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "test.h"

static unsigned long seen_value, seen_hits;
static unsigned long change_to;

static int note_value(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen_hits++;
	seen_value = regs_return_value(regs);
	return 0;
}

static int change_value(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	regs_set_return_value(regs, change_to);
	return 0;
}

/* Registers; false, and the test is over, if that fails. */
static bool probe_on(struct krp_test_run *run, struct krp_kretprobe *rp)
{
	seen_hits = 0;
	seen_value = 0;
	return krp_expect_eq(run, krp_register_kretprobe(rp), 0);
}

static void test_value_read(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = note_value };
	int i;

	if (!probe_on(run, &rp))
		return;
	for (i = 0; i < 1000; i++) {
		krp_expect_eq(run, krp_target_add(i, 7), i + 7);
		krp_expect_eq(run, seen_value, i + 7);
	}
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, seen_hits, 1000);
	krp_expect_eq(run, rp.nmissed, 0);
	krp_expect_eq(run, krp_target_add(1, 2), 3);
	krp_expect_eq(run, seen_hits, 1000);
}

static void test_value_changed(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = change_value };

	if (!probe_on(run, &rp))
		return;
	change_to = 0xfeedbeef;
	krp_expect_eq(run, krp_target_add(1, 2), 0xfeedbeef);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, krp_target_add(1, 2), 3);
}

struct note {
	unsigned long a, b;
	unsigned long seed;
};

static int entry_note(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	struct note *note = (void *)ri->data;

	note->a = regs_get_kernel_argument(regs, 0);
	note->b = regs_get_kernel_argument(regs, 1);
	note->seed = note->a ^ 0x1234;
	return 0;
}

static int return_note(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	struct note *note = (void *)ri->data;

	if (regs_return_value(regs) == note->a + note->b && note->seed == (note->a ^ 0x1234))
		seen_hits++;
	return 0;
}

static void test_entry_data(struct krp_test_run *run, unsigned int flags)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.entry_handler = entry_note,
		.handler = return_note,
		.data_size = sizeof(struct note),
		.krp_flags = flags,
	};
	int i;

	if (!probe_on(run, &rp))
		return;
	for (i = 0; i < 100; i++)
		krp_target_add(i * 3, i * 5);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, seen_hits, 100);
}

static void test_entry_data_args(struct krp_test_run *run)
{
	test_entry_data(run, 0);
}

static void test_entry_data_regs(struct krp_test_run *run)
{
	test_entry_data(run, KRP_KRETPROBE_FULL_REGS);
}

static int skip_odd(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return regs_get_kernel_argument(regs, 0) & 1;
}

static void test_entry_skips(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.entry_handler = skip_odd,
		.handler = note_value,
		.maxactive = 1,
	};
	struct krp_rethook_counts counts;
	int i;

	if (!probe_on(run, &rp))
		return;
	for (i = 0; i < 100; i++)
		krp_target_add(i, 0);
	krp_rethook_counts(rp.rh, &counts);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, seen_hits, 50);
	krp_expect_eq(run, counts.hits, 50);
	krp_expect_eq(run, counts.skipped, 50);
	krp_expect_eq(run, counts.inflight, 0);
	krp_expect_eq(run, rp.nmissed, 0);
}

static int entry_count(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen_hits++;
	seen_value = ri->data[0]++;
	return 0;
}

static void test_entry_only(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_depth",
		.entry_handler = entry_count,
		.maxactive = 1,
		.data_size = 1,
	};
	struct krp_rethook_counts counts;

	if (!probe_on(run, &rp))
		return;
	/* Far more calls at once than instances: it takes none. */
	krp_expect_eq(run, krp_target_depth(99), 100);
	krp_rethook_counts(rp.rh, &counts);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, seen_hits, 100);
	krp_expect_eq(run, counts.hits, 100);
	krp_expect_eq(run, rp.nmissed, 0);
}

static void test_no_handler(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add" };
	struct krp_rethook_counts counts;

	if (!probe_on(run, &rp))
		return;
	krp_expect_eq(run, krp_target_add(1, 2), 3);
	krp_rethook_counts(rp.rh, &counts);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, counts.hits, 1);
}

static void test_nine_arguments(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_nine", .handler = note_value };

	if (!probe_on(run, &rp))
		return;
	krp_expect_eq(run, krp_target_nine(1, 2, 3, 4, 5, 6, 7, 8, 9), 285);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, seen_value, 285);
}

static void test_struct_returns(struct krp_test_run *run)
{
	struct krp_kretprobe pair = { .kp.symbol_name = "krp_target_pair", .handler = note_value };
	struct krp_kretprobe large = { .kp.symbol_name = "krp_target_large", .handler = note_value };
	struct krp_pair p;
	struct krp_large l;
	int i;

	if (!probe_on(run, &pair))
		return;
	if (probe_on(run, &large)) {
		p = krp_target_pair(11, 22);
		krp_expect_eq(run, p.a, 22);
		krp_expect_eq(run, p.b, 11);
		krp_expect_eq(run, seen_value, 22);
		l = krp_target_large(40);
		for (i = 0; i < ARRAY_SIZE(l.word); i++)
			krp_expect_eq(run, l.word[i], 40 + i);
		krp_expect_eq(run, seen_hits, 2);
		krp_unregister_kretprobe(&large);
	}
	krp_unregister_kretprobe(&pair);
}

static void test_recursion_deep(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_depth",
		.handler = note_value,
		.maxactive = 51,
	};

	if (!probe_on(run, &rp))
		return;
	krp_expect_eq(run, krp_target_depth(50), 51);
	krp_expect_eq(run, seen_hits, 51);
	krp_expect_eq(run, seen_value, 51);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, rp.nmissed, 0);
}

/* C8 in small: more calls at once than instances. */
static void test_pool_empty(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_depth",
		.handler = note_value,
		.maxactive = 4,
	};
	struct krp_rethook_counts counts;

	if (!probe_on(run, &rp))
		return;
	krp_expect_eq(run, krp_target_depth(199), 200);
	krp_rethook_counts(rp.rh, &counts);
	krp_expect(run, counts.hits >= 4);
	krp_expect(run, counts.hits <= 4 + num_possible_cpus());
	krp_expect_eq(run, counts.missed[KRP_MISS_EMPTY], rp.nmissed);
	krp_expect_eq(run, counts.hits + rp.nmissed, 200);
	krp_expect_eq(run, seen_hits, counts.hits);
	/* And again: everything is back. */
	krp_expect_eq(run, krp_target_depth(3), 4);
	krp_rethook_counts(rp.rh, &counts);
	krp_expect_eq(run, counts.hits + counts.missed[KRP_MISS_EMPTY], 204);
	krp_expect_eq(run, seen_value, 4);
	krp_unregister_kretprobe(&rp);
}

static void test_tail_call(struct krp_test_run *run)
{
	struct krp_kretprobe outer = { .kp.symbol_name = "krp_target_tail", .handler = note_value };
	struct krp_kretprobe inner = { .kp.symbol_name = "krp_target_add", .handler = note_value };

	if (!probe_on(run, &outer))
		return;
	if (probe_on(run, &inner)) {
		krp_expect_eq(run, krp_target_tail(5), 1005);
		krp_expect_eq(run, seen_hits, 2);
		krp_unregister_kretprobe(&inner);
	}
	krp_unregister_kretprobe(&outer);
}

static void test_notrace(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_notrace",
		.handler = note_value,
	};
	int i;

	if (!probe_on(run, &rp))
		return;
	for (i = 0; i < 100; i++)
		krp_expect_eq(run, krp_target_notrace(i), i ^ 0x55);
	krp_unregister_kretprobe(&rp);
	krp_expect_eq(run, seen_hits, 100);
	krp_expect_eq(run, krp_target_notrace(0), 0x55);
	krp_expect_eq(run, seen_hits, 100);
}

static unsigned long seen_ret_addr, seen_ip;
static bool seen_caller, seen_preemptible;

static int note_stack(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long entries[32];
	char name[KSYM_SYMBOL_LEN];
	unsigned int i, n;

	seen_ip = instruction_pointer(regs);
	seen_ret_addr = krp_get_kretprobe_retaddr(ri);
	seen_preemptible = preemptible();
	seen_caller = false;
	n = stack_trace_save(entries, ARRAY_SIZE(entries), 0);
	for (i = 0; i < n; i++) {
		sprint_symbol_no_offset(name, entries[i]);
		if (!strncmp(name, "krp_caller_of_add", strlen("krp_caller_of_add")))
			seen_caller = true;
	}
	return 0;
}

/* C13 */
static void test_stack_in_handler(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = note_stack };
	unsigned long caller = (unsigned long)krp_caller_of_add;

	if (!probe_on(run, &rp))
		return;
	krp_expect_eq(run, krp_caller_of_add(1, 2), 4);
	krp_unregister_kretprobe(&rp);
	krp_expect(run, seen_caller);
	krp_expect(run, !seen_preemptible);
	krp_expect(run, seen_ret_addr - caller < 256);
	krp_expect_eq(run, seen_ip, seen_ret_addr);
}

const struct krp_test krp_tests_calls[] = {
	{ "return values are read", test_value_read },
	{ "return values are changed", test_value_changed },
	{ "data goes from entry to return, arguments only", test_entry_data_args },
	{ "data goes from entry to return, all registers", test_entry_data_regs },
	{ "an entry handler skips calls", test_entry_skips },
	{ "an entry handler alone takes no instance", test_entry_only },
	{ "without handlers calls are counted", test_no_handler },
	{ "nine arguments arrive", test_nine_arguments },
	{ "structures are returned", test_struct_returns },
	{ "recursion 50 deep", test_recursion_deep },
	{ "an empty pool counts what it misses, and recovers", test_pool_empty },
	{ "tail calls return once each", test_tail_call },
	{ "functions out of ftrace's reach are hooked by kprobe", test_notrace },
	{ "a handler's stack trace shows the real caller", test_stack_in_handler },
	{ }
};
