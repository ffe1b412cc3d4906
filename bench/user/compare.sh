#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What people use to hook function returns, side by side: how long it takes to
# set up, what a call costs, what it misses when many calls sleep. Prints
#   VARIANT SETUP-MS COST SLEPT MISSED
# lines, or "VARIANT left out: REASON"; COST in nanoseconds per call: where QEMU
# counts instructions (-icount shift=0) one is an instruction.
# usage: compare.sh [VARIANT...]
set -eu

# shellcheck source=selftests/bench-common.sh
. "$(dirname "$0")/bench-common.sh"

tracing=/sys/kernel/tracing
control=/proc/kretpool/control
# The lowest of so many readings: the others have met a timer's interrupt.
readings=5
# Called by so many programs at a time, for so long.
sleepers=200
sleep_function=hrtimer_nanosleep
sleep_seconds=5

# milliseconds since boot
now() {
	awk '/^now at/ { printf "%.0f\n", $3 / 1e6 }' /proc/timer_list
}

# Waits without a call of what is measured.
pause() {
	# busybox has it.
	# shellcheck disable=SC3045
	read -r -t "$1" _ <>"$bench_tmp/never" || :
}

# hooked FUNCTION: ftrace, and with it whoever uses it, sees its calls
hooked() {
	grep -q "^$1 (" $tracing/enabled_functions
}

unhooked() {
	! hooked "$1"
}

# wait_until COMMAND...: a minute at most
wait_until() {
	left=6000
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.01
	done
}

# For each variant: NAME_on FUNCTION, NAME_off FUNCTION, which leaves what it has
# counted in $hits.

native_on() {
	:
}

native_off() {
	hits=
}

# end: the program in the background, as with Ctrl-C
end() {
	kill -INT "$program" 2>/dev/null || :
	wait "$program" || :
}

# "perf probe", then "perf stat" for as long as it takes.
perf_probe_on() {
	perf probe -q -a "compare_returns=$1%return" >"$bench_tmp/said" 2>&1 || return 1
	perf stat -a -x , -e probe:compare_returns__return -o "$bench_tmp/perf" >"$bench_tmp/said" 2>&1 &
	program=$!
	wait_until hooked "$1" && return
	perf_probe_off
	return 1
}

perf_probe_off() {
	end
	hits=$(awk -F , '/compare_returns/ { print $1 }' "$bench_tmp/perf")
	perf probe -q -d 'compare_returns*' >/dev/null 2>&1 || :
}

trace_cmd_graph_on() {
	(cd "$bench_tmp" && exec trace-cmd record -p function_graph -l "$1" -o trace.dat) \
		>"$bench_tmp/said" 2>&1 &
	program=$!
	wait_until hooked "$1" && return
	end
	return 1
}

# As many calls as it has written down.
trace_cmd_graph_off() {
	end
	hits=$(trace-cmd report -i "$bench_tmp/trace.dat" 2>/dev/null | grep -c funcgraph_entry) || :
	rm -f "$bench_tmp"/trace.dat*
}

# What "perf probe" defines, and trace-cmd records.
kretprobe_event_on() {
	echo "r:compare/returns $1" >$tracing/kprobe_events
	echo 1 >$tracing/events/compare/returns/enable
}

kretprobe_event_off() {
	hits=$(awk '$1 == "returns" { print $2 }' $tracing/kprobe_profile)
	echo 0 >$tracing/events/compare/returns/enable
	echo >$tracing/kprobe_events
}

# What "trace-cmd record -p function_graph -l FUNCTION" sets.
function_graph_on() {
	echo >$tracing/trace
	echo "$1" >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer
}

# An event at entry, one at return.
function_graph_off() {
	hits=$(cat $tracing/per_cpu/cpu*/stats |
		awk '/^(entries|overrun):/ { sum += $2 } END { print int(sum / 2) }')
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
}

# bpftrace_on FUNCTION PROGRAM
bpftrace_on() {
	bpftrace -e "$2" >"$bench_tmp/said" 2>&1 &
	program=$!
	wait_until hooked "$1" && return
	# It ends by itself if it cannot.
	kill "$program" 2>/dev/null || :
	wait "$program" || :
	return 1
}

bpftrace_off() {
	end
	# @hits: N
	hits=$(awk '$1 == "@hits:" { print $2 }' "$bench_tmp/said")
}

bpftrace_kretprobe_on() {
	bpftrace_on "$1" "kretprobe:$1 { @hits = count(); }"
}

bpftrace_fexit_on() {
	bpftrace_on "$1" "kretfunc:$1 { @hits = count(); }"
}

# As funclatency does.
bpftrace_kretprobe_latency_on() {
	bpftrace_on "$1" "kprobe:$1 { @from[tid] = nsecs; }
		kretprobe:$1 /@from[tid]/ {
			@ns = hist(nsecs - @from[tid]); delete(@from[tid]); @hits = count(); }
		END { clear(@from); }"
}

bpftrace_fexit_latency_on() {
	bpftrace_on "$1" "kfunc:$1 { @from[tid] = nsecs; }
		kretfunc:$1 /@from[tid]/ {
			@ns = hist(nsecs - @from[tid]); delete(@from[tid]); @hits = count(); }
		END { clear(@from); }"
}

for name in kretprobe fexit kretprobe_latency fexit_latency; do
	eval "bpftrace_${name}_off() { bpftrace_off; }"
done

# A module's own probe, with a handler that counts.
module_kretprobe_on() {
	[ "$1" = "$target" ] && bench_hook kretprobe
}

module_kretpool_on() {
	[ "$1" = "$target" ] && bench_hook kretpool
}

module_kretprobe_off() {
	bench_hook native
}

module_kretpool_off() {
	bench_hook native
}

# What "kretpool attach" does: counts and times.
kretpool_latency_on() {
	echo "attach $1" >$control
}

kretpool_latency_off() {
	hits=$(awk '$1 ~ /^[0-9]+$/ { print $6 }' $control)
	echo "detach all" >$control
}

# reason: why it could not be set up
reason() {
	cat "$bench_tmp/why" "$bench_tmp/said" 2>/dev/null | grep -v '^Attaching' |
		sed 's/.*: //' | tail -n 1
}

# All are in the function before the first one is out of it.
sleep_at_once() {
	nr=0 pids=
	while [ $nr -lt $sleepers ]; do
		sleep $sleep_seconds &
		pids="$pids $!"
		nr=$((nr + 1))
	done
	# shellcheck disable=SC2086
	wait $pids
}

# measure VARIANT
measure() {
	variant=$1
	: >"$bench_tmp/said"
	start=$(now)
	if ! "${variant}_on" "$target" 2>"$bench_tmp/why"; then
		echo "$variant left out: $(reason)"
		return
	fi
	setup=$(($(now) - start))
	# bpftrace attaches one after the other.
	pause 2
	i=0
	cost=$(while [ $i -lt $readings ]; do
		cat $bench_proc/cost
		i=$((i + 1))
	done | sort -n | awk 'NR == 1 { printf "%.1f\n", $1 / 1000 }')
	"${variant}_off" "$target"
	wait_until unhooked "$target" || :

	missed=-
	if [ "$variant" != native ] && "${variant}_on" "$sleep_function" 2>"$bench_tmp/why"; then
		pause 2
		sleep_at_once
		"${variant}_off" "$sleep_function"
		wait_until unhooked "$sleep_function" || :
		missed=$((sleepers > ${hits:-0} ? sleepers - ${hits:-0} : 0))
	fi
	echo "$variant $setup $cost $sleepers $missed"
}

bench_begin
mkfifo "$bench_tmp/never"
target=$(cat /sys/module/kretpool_bench/parameters/target)
echo native >$bench_proc/mode
[ $# -gt 0 ] || set -- native kretprobe_event perf_probe function_graph trace_cmd_graph \
	bpftrace_kretprobe bpftrace_fexit bpftrace_kretprobe_latency bpftrace_fexit_latency module_kretprobe module_kretpool \
	kretpool_latency
for variant; do
	measure "$variant"
done
