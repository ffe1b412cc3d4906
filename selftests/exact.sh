#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Are counts exact? Threads that hop from CPU to CPU call prctl a known number
# of times; each call must be a hit or a miss. Exit status 4: skipped.
set -eu

# shellcheck source=selftests/bench-common.sh
. "$(dirname "$0")/bench-common.sh"

threads=4
calls=6000000
mode=kretpool
exact=1

while [ $# -gt 0 ]; do
	case $1 in
	--threads | --calls)
		bench_number "$1" "${2-}"
		[ "$1" = --calls ] && calls=$2 || threads=$2
		shift ;;
	--mode)
		mode=${2-}
		shift ;;
	--at-least) exact= ;;
	*)
		cat <<'END'
usage: exact.sh [--threads N] [--calls N] [--mode M] [--at-least]
  --threads N  4
  --calls N    by all threads together, 6000000
  --mode M     kretpool (default), kretpool-regs, kretprobe
  --at-least   other programs that call prctl meanwhile are no failure
END
		[ "$1" = --help ] || exit 2
		exit 0 ;;
	esac
	shift
done

bench_begin
bench_plan 1
bench_migrate "$mode" "$threads" "$calls" "$exact"
[ $bench_failed = 0 ]
