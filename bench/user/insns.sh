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

bench_begin
for mode in "$@"; do
	if ! bench_hook "$mode"; then
		echo "$mode left out: $(bench_why)"
		continue
	fi
	i=0
	while [ $i -lt $readings ]; do
		cat $bench_proc/cost
		i=$((i + 1))
	done | sort -n | awk -v mode="$mode" 'NR == 1 { printf "%s %.2f\n", mode, $1 / 1000 }'
done
