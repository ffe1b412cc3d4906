// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that calls a hooked function of kretpool_test's, from its init text
 * and from its text, and compares the stack traces. The variant makes the
 * frames of two loads differ at the same addresses.
 */

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "test.h"

static int init_result;
module_param(init_result, int, 0400);
MODULE_PARM_DESC(init_result, "frames that differ when called from init text");

static bool large;
module_param(large, bool, 0400);
MODULE_PARM_DESC(large, "call from the function with the large frame");

/* Padded alike: whichever is called, what follows lies where it did. */
static noinline __attribute__((__noipa__)) void call_small(int n)
{
	krp_trace_caller_leaf(n);
	barrier();
}

static noinline __attribute__((__noipa__)) void call_large(int n)
{
	char frame[256];

	memset(frame, n, sizeof(frame));
	barrier_data(frame);
	krp_trace_caller_leaf(n);
	barrier_data(frame);
}

static int text_get(char *buf, const struct kernel_param *kp)
{
	int n, rounds = 2;

	/* One call site: the loop stays a loop. */
	OPTIMIZER_HIDE_VAR(rounds);
	for (n = 0; n < rounds; n++) {
		if (n)
			krp_trace_caller_hook(true);
		if (large)
			call_large(n);
		else
			call_small(n);
	}
	krp_trace_caller_hook(false);
	return sprintf(buf, "%d\n", krp_trace_caller_compare());
}

static const struct kernel_param_ops text_ops = { .get = text_get };

module_param_cb(text_result, &text_ops, NULL, 0400);
MODULE_PARM_DESC(text_result, "frames that differ when called from the module's text");

static int __init caller_init(void)
{
	int n, rounds = 2;

	/* One call site: the loop stays a loop. */
	OPTIMIZER_HIDE_VAR(rounds);
	for (n = 0; n < rounds; n++) {
		if (n)
			krp_trace_caller_hook(true);
		krp_trace_caller_leaf(n);
	}
	krp_trace_caller_hook(false);
	init_result = krp_trace_caller_compare();
	return 0;
}

static void __exit caller_exit(void)
{
}

module_init(caller_init);
module_exit(caller_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A module whose stack frames kretpool's tests look at");
MODULE_AUTHOR("The kretpool developers");
