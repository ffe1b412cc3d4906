// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module of your own on kretpool: how long calls of a function take, and what
 * they return.
 *
 *   insmod kretpool_sample.ko func=kernel_clone
 *   rmmod kretpool_sample; dmesg | tail -1
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/ptrace.h>

#include "kretprobe_shim.h"

static char *func = "kernel_clone";
module_param(func, charp, 0444);
MODULE_PARM_DESC(func, "function to watch");

static int maxactive;
module_param(maxactive, int, 0444);
MODULE_PARM_DESC(maxactive, "calls that can be in flight at once (0: the default)");

static atomic_long_t returns, failures;
static atomic64_t total_ns;

static int sample_entry(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u64 *)ri->data = ktime_get_ns();
	return 0;
}

static int sample_return(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	long value = regs_return_value(regs);

	atomic64_add(ktime_get_ns() - *(u64 *)ri->data, &total_ns);
	atomic_long_inc(&returns);
	if (value < 0 && value >= -MAX_ERRNO)
		atomic_long_inc(&failures);
	return 0;
}

static struct krp_kretprobe sample_probe = {
	.entry_handler = sample_entry,
	.handler = sample_return,
	.data_size = sizeof(u64),
};

static int __init sample_init(void)
{
	sample_probe.kp.symbol_name = func;
	sample_probe.maxactive = maxactive;
	return krp_register_kretprobe(&sample_probe);
}

static void __exit sample_exit(void)
{
	unsigned long n;

	/* Does not wait for calls that are still sleeping in the function. */
	krp_unregister_kretprobe(&sample_probe);
	n = atomic_long_read(&returns);
	pr_info("%s: %lu returns, %ld of them errors, %llu ns on average, %d missed\n", func, n,
		atomic_long_read(&failures),
		n ? div64_u64(atomic64_read(&total_ns), n) : 0, sample_probe.nmissed);
}

module_init(sample_init);
module_exit(sample_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sample: how long calls of a function take, by kretpool");
MODULE_AUTHOR("The kretpool developers");
