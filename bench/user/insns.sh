#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a call costs in each of the benchmark module's modes, in nanoseconds:
# where QEMU counts instructions (-icount shift=0) one is an instruction.
# Prints "MODE COST" lines, or "MODE left out: REASON".
# usage: insns.sh MODE...
set -eu

# shellcheck source=selftests/bench-common.sh
. "$(dirname "$0")/bench-common.sh"

# The lowest of so many readings: the others have met a timer's interrupt.
readings=5

# measure MODE FILE NAME: prints NAME and what a call costs by FILE
measure() {
	if ! bench_hook "$1"; then
		echo "$3 left out: $(bench_why)"
		return
	fi
	i=0
	while [ $i -lt $readings ]; do
		cat "$bench_proc/$2"
		i=$((i + 1))
	done | sort -n | awk -v name="$3" 'NR == 1 { printf "%s %.2f\n", name, $1 / 1000 }'
}

bench_begin
for mode in "$@"; do
	measure "$mode" cost "$mode"
done

# What whole stack traces cost: with them, from many places, and without.
[ -e /sys/module/kretpool/parameters/stacktrace ] || exit 0
measure native cost_sites native-64-sites
measure kretpool-args cost_sites kretpool-args-64-sites
bench_hook native
bench_rmmod kretpool_bench
bench_rmmod kretpool
insmod "$(bench_find kretpool.ko)" stacktrace=0
bench_insmod kretpool_bench
measure kretpool-args cost kretpool-args-no-trace
measure kretpool-args cost_sites kretpool-args-64-sites-no-trace
