#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A module written for the kernel's kretprobes and objpool, as of old and of new
# kernels, on kretpool.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

load kretpool_ported || skip_all "kretpool_ported.ko is neither here nor installed"
seen=/sys/module/kretpool_ported/parameters
for _ in 1 2 3 4 5 6 7 8; do
	sleep 0 &
done
wait
[ "$(cat $seen/hits)" -ge 8 ]
ok $? "its handler runs: $(cat $seen/hits) hits"
is "$(cat $seen/wrong)" 0 "probe, task, return address, data and objects are right"
# Each look at a count is a fork more.
before=$(cat $seen/hits)
counted=$(awk '$2 == "kernel_clone" { print $4 }' /proc/kretpool/probes)
after=$(cat $seen/hits)
[ "$before" -lt "$counted" ] && [ "$counted" -lt "$after" ]
ok $? "kretpool counts the same: $before, then $counted, then $after"
rmmod kretpool_ported
ok $? "it unloads"
dmesg | grep -q 'hits of .* entries, 0 wrong, 0 missed, 0 reentered'
ok $? "nothing was missed"
done_testing
