// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module to be probed and unloaded. Reading its parameter calls the function
 * to probe.
 */

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static noinline __attribute__((__noipa__)) int krp_victim_function(int value)
{
	return value + 1;
}

static int calls;

static int victim_get(char *buf, const struct kernel_param *kp)
{
	calls = krp_victim_function(calls);
	return sprintf(buf, "%d\n", calls);
}

static const struct kernel_param_ops victim_ops = { .get = victim_get };

module_param_cb(call, &victim_ops, NULL, 0400);
MODULE_PARM_DESC(call, "each read calls krp_victim_function() once more");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A module for kretpool's tests to probe and to unload");
MODULE_AUTHOR("The kretpool developers");
