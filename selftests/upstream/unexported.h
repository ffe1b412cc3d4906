/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lib/test_fprobe.c is built into kernels. As a module it needs a hand:
 *
 * It asks kallsyms and ftrace where a function's ftrace site is, to compare with
 * it what handlers are told. Modules may not ask that. kretpool tells handlers
 * the function's address.
 *
 * KUnit runs a module's tests while it is being loaded, when a function's name
 * does not mean one of that module to kretpool yet. Here it does so after that.
 */
#ifndef KRP_UPSTREAM_UNEXPORTED_H
#define KRP_UPSTREAM_UNEXPORTED_H

#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <kunit/test.h>

#define kallsyms_lookup_size_offset(addr, size, offset)	(*(size) = 1)
#define ftrace_location_range(start, end)		(start)

static struct kunit_suite *krp_suites[1];

static void krp_suites_run(struct work_struct *work)
{
	while (READ_ONCE(THIS_MODULE->state) != MODULE_STATE_LIVE)
		msleep(20);
	__kunit_test_suites_init(krp_suites, ARRAY_SIZE(krp_suites));
}

static DECLARE_WORK(krp_suites_work, krp_suites_run);

static int __init krp_suites_init(void)
{
	schedule_work(&krp_suites_work);
	return 0;
}

static void __exit krp_suites_exit(void)
{
	flush_work(&krp_suites_work);
	__kunit_test_suites_exit(krp_suites, ARRAY_SIZE(krp_suites));
}

#undef kunit_test_suites
#define kunit_test_suites(suite)			\
	static struct kunit_suite *krp_suites[] = { suite };	\
	module_init(krp_suites_init);				\
	module_exit(krp_suites_exit)

#endif /* KRP_UPSTREAM_UNEXPORTED_H */
