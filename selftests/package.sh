#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What scripts/test-deb built from installed packages works: the modules beside
# this, a dependent, and a module written for the kernel's own interfaces.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

is "$(cat /sys/module/kretpool/version)" "$(cat /proc/kretpool/version)" "one version everywhere"
load kretpool_bench
ok $? "kretpool_bench loads"
load kretpool_sample func=kernel_clone
ok $? "a dependent loads"
load kretpool_ported
ok $? "a module written for the kernel's kretprobes and objpool loads"
for _ in 1 2 3 4 5 6 7 8; do
	sleep 0 &
done
wait
is "$(awk '$2 == "kernel_clone" && $4 >= 8' /proc/kretpool/probes | wc -l | tr -d ' ')" 2 \
	"both see the calls"
rmmod kretpool_ported kretpool_sample kretpool_bench
ok $? "they unload"
wait_for 'rmmod kretpool 2>/dev/null'
ok $? "and so does kretpool"
done_testing
