#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Calls that sleep: many, on the move, killed, more than there are instances.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

load kretpool_test || skip_all "kretpool_test.ko is neither here nor installed"
sleep_file=/proc/kretpool_test/sleep
probe_file=/proc/kretpool_test/probe

# sleepers N: so many processes fall asleep in the probed function.
sleepers() {
	pids=
	for _ in $(seq "$1"); do
		cat "$sleep_file" >/dev/null 2>&1 &
		pids="$pids $!"
	done
	wait_for "[ \"\$(count asleep)\" = $1 ]"
}

# wake: and all are gone.
wake() {
	echo wake >"$sleep_file"
	# shellcheck disable=SC2086
	wait $pids
	wait_for '[ "$(count asleep)" = 0 ]'
}

cpus=$(grep -c '^processor' /proc/cpuinfo)

echo "on 120" >"$probe_file"
sleepers 100
is "$(count inflight)" 100 "100 sleepers are in flight"
is "$(grep -c krp_target_sleep /proc/kretpool/inflight)" 100 "inflight lists them"
first=${pids# }
first=${first%% *}
grep -q " krp_target_sleep $first cat " /proc/kretpool/inflight
ok $? "with their pids and commands"
if [ "$cpus" -gt 1 ] && command -v taskset >/dev/null; then
	n=0
	for pid in $pids; do
		n=$((n + 1))
		taskset -p "$(printf %x $((1 << (n % cpus))))" "$pid" >/dev/null
	done
fi
wake
is "$(count calls) $(count hits) $(count nmissed) $(count inflight)" "100 100 0 0" \
	"all return on other CPUs, each handled once"

sleepers 50
# shellcheck disable=SC2086
kill -9 $pids
wait_for '[ "$(count asleep)" = 0 ]'
ok $? "50 are killed in flight"
# shellcheck disable=SC2086
wait $pids 2>/dev/null
is "$(count hits) $(count inflight)" "150 0" "and have returned, each handled once"
echo off >"$probe_file"

# C8: more than there are instances.
echo "on 10" >"$probe_file"
sleepers 60
missed=$(count nmissed)
[ "$missed" -ge $((50 - cpus)) ] && [ "$missed" -le 50 ]
ok $? "with 10 instances 60 sleepers are missed in part ($missed)"
is $((missed + $(count inflight))) 60 "missed or in flight"
wake
is $(($(count hits) + $(count nmissed))) 60 "hits + missed == calls"
sleepers 10
wake
is "$(count nmissed)" "$missed" "afterwards there are instances for 10 again"

# Removal with sleepers.
sleepers 10
status=0
echo off >"$probe_file" || status=1
ok $status "unregistering does not wait for sleepers"
hits=$(count hits)
wait_for 'grep -q " krp_target_sleep draining " /proc/kretpool/probes'
ok $? "the probe is draining"
is "$(grep -c krp_target_sleep /proc/kretpool/inflight)" 10 "inflight lists who holds it up"
wake
is "$(count hits)" "$hits" "no handler runs for those that return later"
wait_for '! grep -q krp_target_sleep /proc/kretpool/probes'
ok $? "and the probe is gone when they have returned"

done_testing
