#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the scripts that drive the benchmark module: finds it and its
# load program, hooks, counts, prints TAP. Any POSIX sh.

bench_proc=/proc/kretpool_bench
bench_here=$(cd "$(dirname "$0")" && pwd)
bench_loaded=
bench_tmp=
bench_nr=0
bench_failed=0

# skip REASON: the whole test
bench_skip() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit 4
}

# bench_find FILE: beside the script, or where a build in the sources leaves it
bench_find() {
	for dir in "$bench_here" "$bench_here/.." "$bench_here/../bench" "$bench_here/../build/bench"; do
		if [ -e "$dir/$1" ]; then
			echo "$dir/$1"
			return
		fi
	done
	return 1
}

bench_insmod() {
	[ ! -e "/sys/module/$1" ] || return 0
	ko=$(bench_find "$1.ko") ||
		bench_skip "$1 is not loaded, and there is no $1.ko near $bench_here"
	message=$(insmod "$ko" 2>&1) || bench_skip "${message:-insmod $ko failed}"
	bench_loaded="$1 $bench_loaded"
}

# kretpool stays until the last call that it hooked is surely through.
bench_rmmod() {
	left=10
	while ! rmmod "$1" 2>"$bench_tmp/error" && [ $left -gt 0 ]; do
		left=$((left - 1))
		sleep 1
	done
	[ $left -gt 0 ] || cat "$bench_tmp/error" >&2
}

bench_end() {
	[ ! -e $bench_proc/mode ] || echo native >$bench_proc/mode
	for module in $bench_loaded; do
		bench_rmmod "$module"
	done
	[ -z "$bench_tmp" ] || rm -rf "$bench_tmp"
}

# After this $prctl_load is the load program, and the module is there.
bench_begin() {
	[ "$(id -u)" = 0 ] || bench_skip "this takes root"
	bench_tmp=$(mktemp -d)
	trap bench_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	if ! prctl_load=$(bench_find prctl_load); then
		prctl_load=$bench_tmp/prctl_load
		${CC:-cc} -O2 -pthread -o "$prctl_load" \
			"$bench_here/../bench/user/prctl_load.c" 2>/dev/null ||
			bench_skip "there is no prctl_load near $bench_here, and it cannot be compiled"
	fi
	bench_insmod kretpool
	bench_insmod kretpool_bench
}

# bench_hook MODE: starts counting at 0; fails if the kernel does not let it
bench_hook() {
	(echo "$1" >$bench_proc/mode) 2>"$bench_tmp/error"
}

# bench_why: what bench_hook has failed for
bench_why() {
	sed 's/.*: //' "$bench_tmp/error"
}

# bench_counts: sets hits and missed
bench_counts() {
	read -r _ hits missed <$bench_proc/mode
}

# bench_plan NUMBER
bench_plan() {
	echo "TAP version 13"
	echo "1..$1"
}

# bench_result ok|"not ok" TEXT
bench_result() {
	bench_nr=$((bench_nr + 1))
	echo "$1 $bench_nr $2"
	[ "$1" = ok ] || bench_failed=$((bench_failed + 1))
}

# bench_judge TEXT CALLS HITS MISSED EXACT: every call was a hit or a miss.
# Without EXACT others may have called, too.
bench_judge() {
	sum=$(($3 + $4))
	if [ "$sum" = "$2" ]; then
		bench_result ok "$1: $2 calls = $3 hits + $4 missed"
	elif [ -z "$5" ] && [ "$sum" -gt "$2" ]; then
		bench_result ok "$1: $2 calls, and $((sum - $2)) of others = $3 hits + $4 missed"
	else
		bench_result "not ok" "$1: $2 calls, but $3 hits + $4 missed = $sum"
	fi
}

# bench_migrate MODE THREADS CALLS EXACT: so many calls by all threads together,
# which hop from CPU to CPU
bench_migrate() {
	if ! bench_hook "$1"; then
		bench_result "not ok" "hook with $1: $(bench_why)"
		return
	fi
	"$prctl_load" --threads "$2" --calls $((($3 + $2 - 1) / $2)) --migrate >"$bench_tmp/made"
	bench_counts
	read -r made seconds <"$bench_tmp/made"
	echo "# $made calls in $seconds s by $2 migrating threads on $(nproc) CPUs"
	bench_judge "$1, $2 migrating threads" "$made" "$hits" "$missed" "$4"
}

# bench_number OPTION VALUE
bench_number() {
	case $2 in
	'' | *[!0-9]* | 0*)
		echo "${0##*/}: $1 takes a whole number from 1" >&2
		exit 2 ;;
	esac
}
