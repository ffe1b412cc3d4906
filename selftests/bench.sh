#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Throughput of a system call that nothing hooks, the kernel's kretprobe hooks,
# and kretpool hooks, over 1, 2, 4 … all CPUs. Prints a table as it goes; what
# it judges is that every call was counted, never speed. Runs on a real machine
# as well; it loads the modules from its folder if they are not there.
# Exit status 1: counts were wrong; 4: skipped.
set -eu

# shellcheck source=selftests/bench-common.sh
. "$(dirname "$0")/bench-common.sh"

usage() {
	cat <<'END'
usage: bench.sh [OPTION...]
  --seconds N      per load, mode and number of threads, 2
  --cpus N         at most so many threads (all CPUs)
  --loads "L..."   "user kthread": programs that call, and threads of the module
  --modes "M..."   "native kretprobe kretpool"
  --csv FILE       write arch,kernel,load,mode,threads,calls,seconds
  --exact          no other program calls prctl: counts must agree exactly
  --migrate N      also: N calls by 4 threads that hop from CPU to CPU
END
}

seconds=2
cpus=$(nproc)
loads="user kthread"
modes="native kretprobe kretpool"
csv=
exact=
migrate=
# Modes take turns in short slices, so that what disturbs hits all alike.
slices=20

while [ $# -gt 0 ]; do
	case $1 in
	--seconds | --cpus | --migrate)
		bench_number "$1" "${2-}" ;;
	--loads | --modes | --csv)
		if [ -z "${2-}" ]; then
			echo "bench.sh: $1 needs a value" >&2
			exit 2
		fi ;;
	esac
	case $1 in
	--seconds) seconds=$2 ;;
	--cpus) [ "$2" -ge "$cpus" ] || cpus=$2 ;;
	--migrate) migrate=$2 ;;
	--loads) loads=$2 ;;
	--modes) modes=$2 ;;
	--csv) csv=$2 ;;
	--exact)
		exact=1
		shift
		continue ;;
	--help)
		usage
		exit 0 ;;
	*)
		usage >&2
		exit 2 ;;
	esac
	shift 2
done

# slice LOAD MODE THREADS: appends "calls seconds hits missed" to the mode's file
slice() {
	if ! bench_hook "$2"; then
		bench_result "not ok" "hook with $2 once more: $(bench_why)"
		exit 1
	fi
	if [ "$1" = user ]; then
		"$prctl_load" --threads "$3" --ms "$slice_ms" >"$bench_tmp/made"
	else
		echo "$3 $slice_ms" >$bench_proc/run
	fi
	# Before any other program starts: busybox names itself through prctl.
	bench_counts
	if [ "$1" = user ]; then
		read -r made spent <"$bench_tmp/made"
	else
		read -r made ns <$bench_proc/run
		spent=$(echo "$ns" | awk '{ printf "%.6f", $1 / 1e9 }')
	fi
	echo "$made $spent $hits $missed" >>"$bench_tmp/$2"
}

# measure LOAD THREADS: all modes in turns, leaves their sums in MODE.sum
measure() {
	for mode in $modes; do
		: >"$bench_tmp/$mode"
	done
	turn=0
	while [ $turn -lt $slices ]; do
		for mode in $modes; do
			slice "$1" "$mode" "$2"
		done
		turn=$((turn + 1))
	done
	for mode in $modes; do
		awk '{ calls += $1; seconds += $2; hits += $3; missed += $4 }
			END { printf "%.0f %.6f %.0f %.0f\n", calls, seconds, hits, missed }' \
			"$bench_tmp/$mode" >"$bench_tmp/$mode.sum"
	done
}

heading() {
	echo "# millions of calls per second"
	printf '# %-8s %7s' load threads
	for mode in $modes; do
		printf ' %10s' "$mode"
	done
	case " $modes " in
	*" kretprobe kretpool "*) printf ' %19s' kretpool/kretprobe ;;
	esac
	echo
}

# row LOAD THREADS
row() {
	printf '# %-8s %7s' "$1" "$2"
	for mode in $modes; do
		awk '{ printf " %10.3f", $1 / $2 / 1e6 }' "$bench_tmp/$mode.sum"
	done
	case " $modes " in
	*" kretprobe kretpool "*)
		cat "$bench_tmp/kretprobe.sum" "$bench_tmp/kretpool.sum" |
			awk '{ rate[NR] = $1 / $2 } END { printf " %19.2f", rate[2] / rate[1] }' ;;
	esac
	echo
}

# verdicts LOAD THREADS
verdicts() {
	for mode in $modes; do
		read -r calls spent hits missed <"$bench_tmp/$mode.sum"
		[ -z "$csv" ] || echo "$arch,$kernel,$1,$mode,$2,$calls,$spent" >>"$csv"
		[ "$mode" = native ] ||
			bench_judge "$1, threads=$2, $mode" "$calls" "$hits" "$missed" "$exact"
	done
}

# What this kernel does not let us do is left out; kretpool must work.
choose_modes() {
	usable=
	for mode in $modes; do
		if bench_hook "$mode"; then
			usable="$usable $mode"
		elif [ "$mode" = kretpool ]; then
			bench_plan 1
			bench_result "not ok" "hook with kretpool: $(bench_why)"
			exit 1
		else
			echo "# left out: $mode: $(bench_why)"
		fi
	done
	modes=${usable# }
}

# 1, 2, 4 … and all
choose_steps() {
	steps=
	n=1
	while [ $n -lt "$cpus" ]; do
		steps="$steps $n"
		n=$((n * 2))
	done
	steps="$steps $cpus"
}

# How many verdicts there will be.
plan() {
	planned=0
	for load in $loads; do
		for threads in $steps; do
			for mode in $modes; do
				[ "$mode" = native ] || planned=$((planned + 1))
			done
		done
	done
	[ -z "$migrate" ] || planned=$((planned + 1))
	bench_plan $planned
}

bench_begin
arch=$(uname -m)
[ "$arch" != aarch64 ] || arch=arm64
kernel=$(uname -r)
[ -z "$csv" ] || echo arch,kernel,load,mode,threads,calls,seconds >"$csv"
slice_ms=$((seconds * 1000 / slices))
choose_modes
choose_steps
plan

heading
for load in $loads; do
	for threads in $steps; do
		measure "$load" "$threads"
		row "$load" "$threads"
		verdicts "$load" "$threads" >>"$bench_tmp/verdicts"
	done
done
cat "$bench_tmp/verdicts"
if [ -n "$migrate" ]; then
	bench_migrate kretpool 4 "$migrate" "$exact"
fi
[ $bench_failed = 0 ]
