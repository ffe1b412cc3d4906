#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the kernel's leak detector finds after all that ran before. Needs a kernel
# with kmemleak (scripts/debug-kernel kasan).
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

found=/sys/kernel/debug/kmemleak
[ -w $found ] || skip_all "the kernel has no leak detector"

# With everything unloaded too: what only a module pointed to shows then.
# Twice each: a pointer that is being moved while the first one looks is missed,
# and what is younger than 5 s is passed over.
scan() {
	sleep 6
	echo scan >$found
	echo scan >$found
	leaks=$(grep -c '^unreferenced object' $found)
	[ "$leaks" = 0 ] || sed 's/^/# /' $found
	is "$leaks" 0 "$1: nothing is unreferenced"
}

scan "with the modules loaded"
rmmod kretpool_test kretpool_bench kretpool_sample kretpool_victim kretpool_caller 2>/dev/null
wait_for 'rmmod kretpool 2>/dev/null'
ok $? "kretpool is unloaded"
scan "with the modules unloaded"
# It switches itself off when it runs out of memory.
! dmesg | grep -q 'kmemleak: .*disabled'
ok $? "the leak detector was at work"
load kretpool

done_testing
