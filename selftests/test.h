/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kretpool_test: tests that run in the kernel. Reading /proc/kretpool_test/GROUP
 * runs a group and gives its results in TAP.
 */
#ifndef KRP_TEST_H
#define KRP_TEST_H

#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/types.h>

#include "../kretprobe_shim.h"

/**
 * struct krp_test_run - a test being run
 * @m: where diagnostics go
 * @failed: an expectation was not met
 * @skipped: why it cannot be run here; or NULL
 */
struct krp_test_run {
	struct seq_file *m;
	bool failed;
	const char *skipped;
};

/**
 * struct krp_test - a test
 * @name: what must be true
 * @fn: finds out
 */
struct krp_test {
	const char *name;
	void (*fn)(struct krp_test_run *run);
};

/**
 * struct krp_test_group - tests in one file
 * @name: of the file in /proc/kretpool_test
 * @tests: the tests, ended by one without a name
 */
struct krp_test_group {
	const char *name;
	const struct krp_test *tests;
};

/* Says what was expected and goes on: later expectations tell more. */
#define krp_expect(run, cond)							\
({										\
	bool __ok = (cond);							\
										\
	if (!__ok) {								\
		(run)->failed = true;						\
		seq_printf((run)->m, "# %s:%d: not so: %s\n", kbasename(__FILE__),	\
			   __LINE__, #cond);					\
	}									\
	__ok;									\
})

#define krp_expect_eq(run, left, right)						\
({										\
	long __left = (long)(left), __right = (long)(right);			\
										\
	if (__left != __right) {						\
		(run)->failed = true;						\
		seq_printf((run)->m, "# %s:%d: %s is %ld, not %ld (%s)\n",	\
			   kbasename(__FILE__), __LINE__, #left, __left, __right, #right);	\
	}									\
	__left == __right;							\
})

/* Nobody may know that a function does nothing that its caller would notice. */
#define krp_noipa	__attribute__((__noipa__))

extern const struct krp_test krp_tests_calls[], krp_tests_stacking[];
extern const struct krp_test krp_tests_control[], krp_tests_errors[];
extern const struct krp_test krp_tests_objpool[], krp_tests_trace[], krp_tests_multi[];

/* test_targets.c: functions to probe; callers must not know their insides */

struct krp_pair {
	unsigned long a, b;
};

struct krp_large {
	unsigned long word[8];
};

unsigned long krp_target_add(unsigned long a, unsigned long b);
unsigned long krp_target_nine(unsigned long a, unsigned long b, unsigned long c,
			      unsigned long d, unsigned long e, unsigned long f,
			      unsigned long g, unsigned long h, unsigned long i);
struct krp_pair krp_target_pair(unsigned long a, unsigned long b);
struct krp_large krp_target_large(unsigned long seed);
unsigned long krp_target_depth(unsigned int depth);
unsigned long krp_target_tail(unsigned long a);
unsigned long krp_target_notrace(unsigned long a);
unsigned long krp_caller_of_add(unsigned long a, unsigned long b);

/* test_trace.c: hooked by name; the last three are for kretpool_caller */

struct proc_dir_entry;
struct trace;

unsigned long krp_trace_leaf(struct trace *trace);
unsigned long krp_trace_middle(struct trace *trace);
unsigned long krp_trace_depth(struct trace *trace, int depth);
unsigned long krp_trace_tail(struct trace *trace);
unsigned long krp_trace_aligned(struct trace *trace, int n);

void krp_trace_caller_hook(bool on);
void krp_trace_caller_leaf(int n);
int krp_trace_caller_compare(void);

/* test_sleep.c: calls that sleep, for scripts */

int krp_target_sleep(int wakes);
int krp_sleep_caller(int wakes);
int krp_sleep_init(struct proc_dir_entry *dir);
void krp_sleep_exit(void);

/* test_faults.c: operations that allocate, for scripts */

int krp_faults_init(struct proc_dir_entry *dir);

#endif /* KRP_TEST_H */
