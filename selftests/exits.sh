#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# C7: calls that never return give their instances back when the task exits.
# Tasks exit, are killed and exec, thousands of them, while the functions that
# all of that goes through are probed; the kernel's own kprobes count the calls.
# usage: exits.sh [TASKS]
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

tasks=${1:-10000}
many=/proc/kretpool_many
tracing=/sys/kernel/tracing
[ -e $tracing/kprobe_events ] || tracing=/sys/kernel/debug/tracing

load kretpool_many || skip_all "kretpool_many.ko is neither here nor installed"
[ -x "$here/exits" ] || skip_all "the program exits is not here"
[ -e $tracing/kprobe_profile ] || skip_all "this kernel has no kprobe events to count with"

# Names differ between kernels and architectures: what is not there is left out.
funcs=
for func in do_exit do_group_exit get_signal arch_do_signal_or_restart do_signal \
	do_notify_resume exit_to_user_mode_loop __x64_sys_exit __x64_sys_exit_group \
	__arm64_sys_exit __arm64_sys_exit_group exit_signals begin_new_exec mm_release \
	exit_mm_release kthread_exit; do
	if echo "p:krp_exits/${func%%.*} $func" >>$tracing/kprobe_events 2>/dev/null &&
		echo "name $func 64" >$many 2>/dev/null; then
		funcs="$funcs $func"
	fi
done
for func in $funcs; do
	echo 1 >"$tracing/events/krp_exits/${func%%.*}/enable"
done
echo "# probed:$funcs"
for func in do_exit do_group_exit get_signal; do
	case "$funcs " in
	*" $func "*) ok 0 "$func can be probed" ;;
	*) ok 1 "$func can be probed" ;;
	esac
done

# These start no program: its exit would be one more.

# seen FUNCTION: sets seen to the calls that the kernel's kprobe has counted
seen() {
	while read -r event hit missed; do
		[ "$event" != "${1%%.*}" ] || seen=$((hit + missed))
	done <$tracing/kprobe_profile
}

# counted FUNCTION: sets counted to the calls that kretpool has counted or has in flight
counted() {
	while read -r _ name _ hits skipped empty recursion unwatched removed exited inflight _; do
		[ "$name" != "$1" ] || counted=$((hits + skipped + empty + recursion + unwatched +
			removed + exited + inflight))
	done </proc/kretpool/probes
}

# differ FUNCTION: sets differ to what the two are apart, once nothing moves;
# to "moves" if something always does: arm64 calls do_notify_resume() after any
# switch of tasks, so that looking is enough
differ() {
	tries=0
	while :; do
		seen "$1"
		before=$seen
		counted "$1"
		seen "$1"
		[ "$seen" != "$before" ] || break
		tries=$((tries + 1))
		if [ $tries = 100 ]; then
			differ=moves
			return
		fi
	done
	differ=$((seen - counted))
}

set --
for func in $funcs; do
	differ "$func"
	set -- "$@" "$differ"
done

ended=$("$here/exits" "$tasks")
[ "${ended:-0}" -ge "$tasks" ]
ok $? "$ended tasks ended in seven ways"

wait_for '! grep -q " exits " /proc/kretpool/inflight'
ok $? "none of them is in flight any more"
bad=
empty=
exited=0
moving=
for func in $funcs; do
	differ "$func"
	case "$differ $1" in
	*moves*) moving="$moving $func" ;;
	*) [ "$differ" = "$1" ] || bad="$bad $func:$((differ - $1))" ;;
	esac
	shift
done
is "$bad" "" "every call is counted, in each of the functions"
[ -z "$moving" ] || echo "# not compared, since looking at the counts calls them:$moving"
case "$moving " in
*" do_exit "* | *" do_group_exit "* | *" get_signal "*) ok 1 "those that end tasks are compared" ;;
*) ok 0 "those that end tasks are compared" ;;
esac
while read -r _ name _ _ _ missed _ _ _ gone _; do
	case " $funcs " in
	*" $name "*) [ "$missed" = 0 ] || empty="$empty $name:$missed" ;;
	esac
	[ "$name" != do_exit ] || exited=$gone
done </proc/kretpool/probes
is "$empty" "" "64 instances of each were enough for them"
[ "$exited" -ge "$tasks" ]
ok $? "do_exit never returned, and each is counted as exited ($exited)"
wait_for '[ "$(awk "\$2 ~ /exit|signal/ && \$4 != \$5" /proc/kretpool/pools)" = "" ]'
ok $? "the pools are full"

for func in $funcs; do
	echo 0 >"$tracing/events/krp_exits/${func%%.*}/enable"
done
echo >$tracing/kprobe_events
echo clear >$many
rmmod kretpool_many
ok $? "the probes are unregistered"
wait_for '[ "$(awk "/return thunks/ { print \$4 }" /proc/kretpool/pools)" = 0 ]'
ok $? "and no return thunk is left in use"

done_testing
