// SPDX-License-Identifier: GPL-2.0-only
/*
 * A livepatch of the function that calls krp_target_sleep(). While a task
 * sleeps in there, hooked, the transition must not be completed.
 */

#include <linux/kernel.h>
#include <linux/livepatch.h>
#include <linux/module.h>

static int patched_sleep_caller(int wakes)
{
	return -EALREADY;
}

static struct klp_func patch_funcs[] = {
	{ .old_name = "krp_sleep_caller", .new_func = patched_sleep_caller },
	{ }
};

static struct klp_object patch_objs[] = {
	{ .name = "kretpool_test", .funcs = patch_funcs },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = patch_objs };

static int __init patch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);

MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("A livepatch for kretpool's tests");
MODULE_AUTHOR("The kretpool developers");
