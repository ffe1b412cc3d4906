#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What it takes to hook many functions at once, and what a hit costs then. Where
# QEMU counts instructions (-icount shift=0) a nanosecond is one.
# Prints "API FUNCTIONS ATTACH_NS DETACH_NS PER_HIT", or "API left out: REASON".
# usage: attach.sh API:NUMBER... (0: all functions)
set -eu

# shellcheck source=selftests/bench-common.sh
. "$(dirname "$0")/bench-common.sh"

# The lowest of so many readings: the others have met a timer's interrupt.
readings=3

cost() {
	i=0
	while [ $i -lt $readings ]; do
		cat $bench_proc/attach_cost
		i=$((i + 1))
	done | sort -n | head -n 1
}

bench_begin
native=$(cost)
for what in "$@"; do
	api=${what%:*}
	if ! (echo "$api ${what#*:}" >$bench_proc/attach) 2>"$bench_tmp/error"; then
		echo "$api left out: $(bench_why)"
		continue
	fi
	hit=$(cost)
	echo off >$bench_proc/attach
	read -r functions on off <$bench_proc/attach
	echo "$api $functions $on $off" \
		"$(awk -v hit="$hit" -v native="$native" 'BEGIN { printf "%.1f", (hit - native) / 1000 }')"
done
