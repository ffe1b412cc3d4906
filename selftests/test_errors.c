// SPDX-License-Identifier: GPL-2.0-only
/* What must not work, and what it returns: where the kernel has an answer, its. */

#include <linux/kprobes.h>
#include <linux/module.h>

#include "test.h"

static int nothing(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int kernel_nothing(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

/* Ours and the kernel's kretprobe of the same description return the same. */
static void expect_like_kernel(struct krp_test_run *run, struct kprobe kp, size_t data_size)
{
	struct krp_kretprobe ours = { .kp = kp, .handler = nothing, .data_size = data_size };
	struct kretprobe theirs = { .kp = kp, .handler = kernel_nothing, .data_size = data_size };
	int ret = krp_register_kretprobe(&ours), kernel = register_kretprobe(&theirs);

	if (!krp_expect_eq(run, ret, kernel))
		seq_printf(run->m, "# with %s+%#x, data_size %zu\n",
			   kp.symbol_name ?: "(no name)", kp.offset, data_size);
	krp_expect(run, ret < 0);
	if (!ret)
		krp_unregister_kretprobe(&ours);
	if (!kernel)
		unregister_kretprobe(&theirs);
}

static void test_no_such_function(struct krp_test_run *run)
{
	expect_like_kernel(run, (struct kprobe){ .symbol_name = "no_such_function" }, 0);
}

static void test_no_target(struct krp_test_run *run)
{
	expect_like_kernel(run, (struct kprobe){ }, 0);
	krp_expect_eq(run, krp_register_kretprobe(NULL), -EINVAL);
}

static void test_name_and_address(struct krp_test_run *run)
{
	struct kprobe kp = { .symbol_name = "krp_target_add", .addr = (void *)krp_target_add };

	expect_like_kernel(run, kp, 0);
}

static void test_not_an_entry(struct krp_test_run *run)
{
	expect_like_kernel(run, (struct kprobe){ .symbol_name = "krp_target_add", .offset = 12 }, 0);
}

static void test_not_code(struct krp_test_run *run)
{
	static unsigned long data = 5;
	struct krp_kretprobe rp = { .kp.addr = (void *)&data, .handler = nothing };

	krp_expect_eq(run, krp_register_kretprobe(&rp), -EINVAL);
}

static void test_blacklisted(struct krp_test_run *run)
{
	/* In .kprobes.text, noinstr or NOKPROBE_SYMBOL on all kernels. */
	expect_like_kernel(run, (struct kprobe){ .symbol_name = "get_kprobe" }, 0);
	expect_like_kernel(run, (struct kprobe){ .symbol_name = "notify_die" }, 0);
}

static void test_never_returning(struct krp_test_run *run)
{
	static const char * const names[] = { "do_task_dead", "__schedule", "__switch_to" };
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct krp_kretprobe rp = { .kp.symbol_name = names[i], .handler = nothing };

		krp_expect_eq(run, krp_register_kretprobe(&rp), -EINVAL);
	}
}

static void test_own_function(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_objpool_pop_slow",
		.handler = nothing,
	};

	krp_expect_eq(run, krp_register_kretprobe(&rp), -EINVAL);
}

static void test_data_size(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.handler = nothing,
		.data_size = KRP_DATA_SIZE_MAX,
		.maxactive = 1,
	};

	expect_like_kernel(run, (struct kprobe){ .symbol_name = "krp_target_add" },
			   KRP_DATA_SIZE_MAX + 1);
	if (krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		krp_unregister_kretprobe(&rp);
}

static void test_thunks_used_up(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.handler = nothing,
		.maxactive = 1 << 20,
	};

	krp_expect_eq(run, krp_register_kretprobe(&rp), -ENOSPC);
	rp.maxactive = INT_MAX;
	krp_expect_eq(run, krp_register_kretprobe(&rp), -ENOSPC);
	/* The next one works. */
	rp.maxactive = 1;
	if (krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		krp_unregister_kretprobe(&rp);
}

static void test_registered_twice(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = nothing };
	struct krp_rethook_counts counts;

	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	rp.kp.addr = NULL;
	krp_expect_eq(run, krp_register_kretprobe(&rp), -EINVAL);
	/* The first registration is as it was. */
	krp_target_add(1, 1);
	krp_rethook_counts(rp.rh, &counts);
	krp_expect_eq(run, counts.hits, 1);
	krp_unregister_kretprobe(&rp);
	krp_unregister_kretprobe(&rp);
}

static void test_default_maxactive(struct krp_test_run *run)
{
	struct krp_kretprobe rp = {
		.kp.symbol_name = "krp_target_add",
		.handler = nothing,
		.maxactive = -1,
	};

	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0))
		return;
	krp_expect_eq(run, rp.maxactive, max(10, 2 * (int)num_possible_cpus()));
	krp_unregister_kretprobe(&rp);
}

/* From inside a handler */

static struct krp_kretprobe inner, outer;
static int inner_register, inner_enable, inner_disable;

static int register_in_handler(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	inner_register = krp_register_kretprobe(&inner);
	inner_disable = krp_disable_kretprobe(&outer);
	inner_enable = krp_enable_kretprobe(&outer);
	krp_unregister_kretprobe(&outer);
	return 0;
}

static void test_in_handler(struct krp_test_run *run)
{
	struct krp_rethook_counts counts;

	inner = (struct krp_kretprobe){ .kp.symbol_name = "krp_target_nine", .handler = nothing };
	outer = (struct krp_kretprobe){
		.kp.symbol_name = "krp_target_add",
		.handler = register_in_handler,
	};
	if (!krp_expect_eq(run, krp_register_kretprobe(&outer), 0))
		return;
	krp_target_add(1, 1);
	krp_target_add(1, 1);
	krp_expect_eq(run, inner_register, -EDEADLK);
	krp_expect_eq(run, inner_disable, -EDEADLK);
	krp_expect_eq(run, inner_enable, -EDEADLK);
	/* Nor has it been unregistered. */
	krp_rethook_counts(outer.rh, &counts);
	krp_expect_eq(run, counts.hits, 2);
	krp_unregister_kretprobe(&outer);
}

const struct krp_test krp_tests_errors[] = {
	{ "no such function", test_no_such_function },
	{ "neither name nor address", test_no_target },
	{ "both name and address", test_name_and_address },
	{ "an offset that is not the entry", test_not_an_entry },
	{ "an address that is not code", test_not_code },
	{ "functions on the kernel's blacklist", test_blacklisted },
	{ "functions that do not return like others", test_never_returning },
	{ "kretpool's own functions", test_own_function },
	{ "data_size at and above the limit", test_data_size },
	{ "more instances than return thunks", test_thunks_used_up },
	{ "registered twice", test_registered_twice },
	{ "the default of maxactive", test_default_maxactive },
	{ "registration and removal in a handler", test_in_handler },
	{ }
};
