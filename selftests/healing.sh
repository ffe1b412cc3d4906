#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A probe that was given no maxactive grows: misses in the first burst of
# sleepers at most, none in the second.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

load kretpool_test || skip_all "kretpool_test.ko is neither here nor installed"
sleep_file=/proc/kretpool_test/sleep
probe_file=/proc/kretpool_test/probe
sleepers=1000

# pool N: a column of the probe's line in pools.
pool() {
	awk -v n="$1" '$2 == "krp_target_sleep" { print $n }' /proc/kretpool/pools
}

burst() {
	"$here/sleepers" $sleepers "$sleep_file" &
	wait_for "[ \"\$(count asleep)\" = $sleepers ]"
}

wake() {
	echo wake >"$sleep_file"
	wait
	wait_for '[ "$(count asleep)" = 0 ]'
}

[ -x "$here/sleepers" ] || skip_all "the program sleepers is not here"
echo "on 0" >"$probe_file"
begin=$(pool 3)
is "$(pool 12)" "$(cat /sys/module/kretpool/parameters/max_instances)" "pools shows the limit"

burst
first=$(count nmissed)
is $(($(count inflight) + first)) $sleepers "first burst: missed or in flight"
wait_for "[ \"\$(pool 3)\" -gt $begin ]"
ok $? "the pool has grown from $begin to $(pool 3), missed $first"
wake
# What was in flight in the first burst decides how far it grew.
burst
wake
before=$(count nmissed)
burst
is "$(count nmissed)" "$before" "later bursts miss nothing"
wake
is $(($(count hits) + $(count nmissed))) $((3 * sleepers)) "hits + missed == calls"
is "$(pool 5)" "$(pool 4)" "the pool is full afterwards"
echo off >"$probe_file"

echo "on 16" >"$probe_file"
burst
is "$(pool 3)" 16 "a given maxactive stays as given"
[ "$(count nmissed)" -ge $((sleepers - 16 - $(grep -c '^processor' /proc/cpuinfo))) ]
ok $? "and misses what it must"
wake
echo off >"$probe_file"

done_testing
