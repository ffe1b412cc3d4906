#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# C7: calls that never return give their instances back when the task exits.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

# column N: of the sample's probe.
column() {
	awk -v n="$1" '$2 == "do_exit" { print $n }' /proc/kretpool/probes
}

load kretpool_sample func=do_exit maxactive=16 || skip_all "kretpool_sample.ko is not here"
for _ in $(seq 200); do
	/bin/true
done
for _ in $(seq 100); do
	sleep 1000 &
	kill -9 $!
done
wait 2>/dev/null
wait_for '[ "$(column 11)" = 0 ]'
ok $? "nothing is in flight when all have exited"
is "$(column 6)" 0 "16 instances were enough for 300 exits"
[ "$(column 10)" -ge 300 ]
ok $? "each is counted as missed because the task exited ($(column 10))"
is "$(awk '$2 == "do_exit" { print ($4 == $5) }' /proc/kretpool/pools)" 1 "the pool is full"
rmmod kretpool_sample
ok $? "the probe is unregistered"

done_testing
