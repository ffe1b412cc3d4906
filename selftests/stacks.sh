#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stack traces through hooked calls, seen from outside: sleepers, the function
# graph tracer, callers in modules that come and go, livepatches.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

load kretpool_test || skip_all "kretpool_test.ko is neither here nor installed"
sleep_file=/proc/kretpool_test/sleep
probe_file=/proc/kretpool_test/probe
tracing=/sys/kernel/tracing
callers=krp_sleep_caller

# asleep: a task sleeps in krp_target_sleep(); $pid is its.
asleep() {
	cat "$sleep_file" >/dev/null 2>&1 &
	pid=$!
	wait_for '[ "$(count asleep)" = 1 ]'
}

wake() {
	echo wake >"$sleep_file"
	wait "$pid"
}

# stack: of $pid from the sleeping function's caller on, without offsets.
stack() {
	sed 's/^\[<0>\] //; s/+.*//' "/proc/$pid/stack" | sed -n '/krp_target_sleep/,$p' | sed 1d
}

# The caller itself shows as a thunk, whatever follows must be the same.
below() {
	stack | sed 1d
}

asleep
plain=$(stack)
wake
is "$(echo "$plain" | head -n 1)" "$callers" "unhooked, a sleeper's caller is in its stack"
plain_below=$(echo "$plain" | sed 1d)
echo "$plain_below" | grep -q vfs_read
ok $? "and all that lies below"

echo "on 4" >"$probe_file"
whole=$(cat /sys/module/kretpool/parameters/stacktrace 2>/dev/null || echo Y)
if [ "$whole" = Y ]; then
	asleep
	is "$(below)" "$plain_below" "hooked, all below its caller is as before"
	stack | head -n 1 | grep -qE "^(krp_thunk|$callers)"
	ok $? "and the caller is there, or its thunk"
	wake
else
	echo "# stacktrace=$whole: traces stop at hooked calls"
fi
echo off >"$probe_file"

# The function graph tracer on the same function, before and after.
mount -t tracefs nodev "$tracing" 2>/dev/null
if grep -q function_graph "$tracing/available_tracers" 2>/dev/null; then
	graph_on() {
		echo krp_target_sleep >"$tracing/set_ftrace_filter"
		echo function_graph >"$tracing/current_tracer"
	}
	graph_off() {
		echo nop >"$tracing/current_tracer"
		echo >"$tracing/set_ftrace_filter"
	}
	for order in before after; do
		[ $order = after ] || graph_on
		echo "on 4" >"$probe_file"
		[ $order = before ] || graph_on
		asleep
		is "$(below)" "$plain_below" "function_graph switched on $order: the stack is whole"
		wake
		is "$(count hits)" 1 "and the handler runs once"
		echo off >"$probe_file"
		graph_off
	done
else
	ok 0 "function_graph # SKIP this kernel has no function graph tracer"
fi

# Callers in a module that is unloaded and loaded again.
for variant in N Y N; do
	if load kretpool_caller large=$variant; then
		is "$(cat /sys/module/kretpool_caller/parameters/init_result)" 0 \
			"a caller in a module's init text (large=$variant)"
		is "$(cat /sys/module/kretpool_caller/parameters/text_result)" 0 \
			"a caller in a module's text (large=$variant)"
		rmmod kretpool_caller
	fi
done

# Livepatches. One that is loaded late must wait for a sleeper behind a thunk.
patch=/sys/kernel/livepatch/kretpool_patch
if [ -d /sys/kernel/livepatch ] && [ -e "$here/kretpool_patch.ko" ]; then
	unpatch() {
		echo 0 >$patch/enabled
		wait_for "[ ! -e $patch ]"
		rmmod kretpool_patch
	}
	echo "on 4" >"$probe_file"
	asleep
	load kretpool_patch
	ok $? "a livepatch of the sleeper's caller is loaded"
	# The kernel looks at all tasks once a second.
	sleep 3
	is "$(cat $patch/transition)" 1 "its transition waits while the task sleeps"
	wake
	wait_for "[ \"\$(cat $patch/transition)\" = 0 ]"
	ok $? "and ends when it has returned"
	unpatch
	asleep
	is "$(below)" "$plain_below" "with the livepatch gone the stack is whole again"
	wake
	echo off >"$probe_file"

	# One that is there before kretpool.
	unload
	load kretpool_patch
	load kretpool
	load kretpool_test
	echo "on 4" >"$probe_file"
	echo 0 >$patch/enabled
	wait_for "[ ! -e $patch ]"
	asleep
	! stack | grep -q seq_read
	ok $? "loaded before kretpool, it makes traces stop at the thunk"
	wake
	rmmod kretpool_patch
	asleep
	is "$(below)" "$plain_below" "and when it is gone they are whole"
	wake
	echo off >"$probe_file"
else
	ok 0 "livepatch # SKIP this kernel has no livepatching"
fi

done_testing
