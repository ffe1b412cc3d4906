#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Everything at once for a while: kretpool_torture, while CPUs go off and on
# (C5), tasks are killed by the thousand (C7), and people read /proc/kretpool.
# usage: torture.sh [SECONDS [PARAMETER=VALUE...]]
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/torture-load.sh
. "$here/torture-load.sh"

seconds=${1:-20}
[ $# -eq 0 ] || shift
parameters=/sys/module/kretpool_torture/parameters

# Nothing of an earlier test may be in flight.
wait_for '[ "$(thunks)" = 0 ]'
# shellcheck disable=SC2046 # words
load kretpool_torture stat_interval=5 $(user_parameters) "$@" ||
	skip_all "kretpool_torture.ko is neither here nor installed"
load_begin
# The length of the test, nothing is waited for.
sleep "$seconds"
load_end

if [ "$(grep -c '^processor' /proc/cpuinfo)" -gt 1 ]; then
	[ "$offline" -gt 0 ]
	ok $? "CPUs went off and on ($offline times)"
fi
if [ -x "$here/exits" ]; then
	[ "$ended" -gt 0 ]
	ok $? "tasks ended meanwhile ($ended)"
fi

echo 0 >$parameters/run
is "$(cat $parameters/run)" 0 "it stops"
is "$(cat $parameters/errors)" 0 "and finds every call and every instance accounted for"
if [ -x "$here/uret" ]; then
	[ "$called" -gt 0 ]
	ok $? "a program called its function meanwhile"
	is "$(cat $parameters/user_calls)" "$called" "a probe of it saw each of its $called calls"
	[ "$(dmesg | sed -n 's/^.*kretpool_torture: .*\<uretprobes \([0-9]*\).*/\1/p' | tail -n 1)" -gt 0 ]
	ok $? "others have come and gone"
fi
wait_for '[ "$(listed)" = 0 ]'
ok $? "no probe is left"
wait_for '[ "$(strays)" = 0 ]'
ok $? "tasks whose calls are still in flight are in them"
rmmod kretpool_torture
ok $? "it is unloaded"
dmesg | sed -n 's/^.*kretpool_torture: /# /p' | tail -n 30
dmesg | grep 'kretpool_torture: --- ' | tail -n 1 | grep -q 'End of test: SUCCESS'
ok $? "its verdict is SUCCESS"
is "$(thunks)" 0 "no return thunk is left in use, but by calls asleep"

done_testing
