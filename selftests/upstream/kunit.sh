#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's KUnit suites on kretpool; needs a kernel with KUnit. Every case
# becomes a result here, and each of those expected must have one.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/upstream/upstream-lib.sh
. "$(dirname "$0")/upstream-lib.sh"
grep -q ' kunit_run_tests$' /proc/kallsyms || skip_all "the kernel has no KUnit"

# suite MODULE CASE...
suite() {
	module=$1
	shift
	[ -e "$here/$module.ko" ] || return 0
	log_mark "$module"
	insmod "$here/$module.ko"
	ok $? "$module: loads"
	wait_for "log | grep -qE '^(not )?ok [0-9]'"
	results=$(log)
	printf '%s\n' "$results" | sed 's/^/# /'
	for case; do
		printf '%s\n' "$results" | grep -q "^ *ok [0-9]*[ -]* $case\$"
		ok $? "$module: $case"
	done
	# None beside those, so that a new one is not overlooked.
	is "$(printf '%s\n' "$results" | grep -cE '^ +(not )?ok [0-9]')" $# \
		"$module: has these $# cases"
	rmmod "$module"
	ok $? "$module: unloads"
}

suite test_kprobes test_kprobe test_kprobes test_kretprobe test_kretprobes \
	test_stacktrace_on_kretprobe test_stacktrace_on_nested_kretprobe
suite test_fprobe test_fprobe_entry test_fprobe test_fprobe_syms
done_testing
