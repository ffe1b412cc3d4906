// SPDX-License-Identifier: GPL-2.0-only
/* kretpool: loading and unloading. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "objpool.h"
#include "rethook_internal.h"

static int __init kretpool_init(void)
{
	int ret;

	ret = krp_objpool_setup();
	if (ret)
		return ret;
	krp_grow_init();
	krp_arch_trace_init();
	ret = krp_hook_init();
	if (ret)
		goto trace;
	ret = krp_exit_init();
	if (ret)
		goto hook;
	ret = krp_uret_init();
	if (ret)
		goto exit;
	ret = krp_proc_init();
	if (ret)
		goto uret;
	pr_info("version " KRP_VERSION ", %u return thunks\n", KRP_NR_THUNKS);
	return 0;

uret:
	krp_uret_exit();
exit:
	krp_exit_exit();
hook:
	krp_hook_exit();
trace:
	krp_arch_trace_exit();
	krp_objpool_teardown();
	return ret;
}

/* Not called while a probe is registered or a call in flight: each holds the module. */
static void __exit kretpool_exit(void)
{
	krp_proc_exit();
	krp_uret_exit();
	krp_rethook_drain();
	krp_grow_exit();
	krp_exit_exit();
	krp_hook_exit();
	krp_arch_trace_exit();
	krp_objpool_teardown();
}

module_init(kretpool_init);
module_exit(kretpool_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Function return hooks with pooled instances, at scale");
MODULE_AUTHOR("The kretpool developers");
MODULE_VERSION(KRP_VERSION);
