#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# C10: kretpool goes when nothing is in flight any more, and not before. And
# modules that go while their functions are probed.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

fifos=$(mktemp -d)
trap 'rm -rf "$fifos"' EXIT

# The function in which a reader of a pipe sleeps.
func=pipe_read
grep -q " $func\$" /proc/kallsyms || func=anon_pipe_read

rmmod kretpool_test kretpool_bench 2>/dev/null
load kretpool_sample "func=$func" maxactive=64 || skip_all "kretpool_sample.ko is not here"
! rmmod kretpool 2>/dev/null
ok $? "rmmod is refused while a module uses kretpool"

pids=
for i in 1 2 3 4 5 6 7 8; do
	mkfifo "$fifos/$i"
	# Opened for both, so that opening does not wait.
	cat <>"$fifos/$i" >/dev/null &
	pids="$pids $!"
done
wait_for "[ \"\$(grep -c ' cat ' /proc/kretpool/inflight)\" = 8 ]"
ok $? "8 tasks sleep in $func"

rmmod kretpool_sample
ok $? "the probing module unregisters and goes at once"
dmesg | tail -n 20 | grep -q "kretpool_sample.*$func: "
ok $? "and has its sum in the log"
wait_for "grep -q ' $func draining ' /proc/kretpool/probes"
ok $? "the probe is draining"
! rmmod kretpool 2>/dev/null
ok $? "rmmod of kretpool is refused: calls in flight"

# shellcheck disable=SC2086
kill $pids
# shellcheck disable=SC2086
wait $pids 2>/dev/null
wait_for 'rmmod kretpool 2>/dev/null'
ok $? "when they have returned, rmmod is allowed"
! grep -q '^kretpool ' /proc/modules
ok $? "kretpool is gone"
load kretpool
ok $? "and comes back"

# A module whose function is probed.
call=/sys/module/kretpool_victim/parameters/call
load kretpool_victim
load kretpool_sample func=krp_victim_function
cat "$call" >/dev/null
grep -q ' krp_victim_function enabled 1 ' /proc/kretpool/probes
ok $? "a module's function is probed"
rmmod kretpool_victim
ok $? "the module goes"
grep -q ' krp_victim_function gone 1 ' /proc/kretpool/probes
ok $? "its probe is gone, the counts are not"
load kretpool_victim
cat "$call" >/dev/null
is "$(cat "$call")" 2 "the module comes back, unprobed"
rmmod kretpool_sample
ok $? "the probe is unregistered"
load kretpool_sample func=krp_victim_function
cat "$call" >/dev/null
grep -q ' krp_victim_function enabled 1 ' /proc/kretpool/probes
ok $? "and probed anew"
rmmod kretpool_sample kretpool_victim

done_testing
