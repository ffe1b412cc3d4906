#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# C2: each allocation in turn fails, in everything that allocates: a clean error
# or success, nothing lost, and the next attempt works. Needs a kernel with fault
# injection (scripts/debug-kernel kasan).
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016,SC2034
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

debug=/sys/kernel/debug
[ -w /proc/self/fail-nth ] || skip_all "the kernel has no fault injection"
for which in failslab fail_page_alloc; do
	[ -d $debug/$which ] || skip_all "the kernel has no $which"
	# Those that may sleep are what is asked for here; each is in the log.
	echo N >$debug/$which/ignore-gfp-wait
	echo "${FAULTS_VERBOSE:-0}" >$debug/$which/verbose
done
echo N >$debug/fail_page_alloc/ignore-gfp-highmem

# only_slab, only_pages: which allocations are counted and made to fail. How
# many pages it takes differs from one attempt to the next: counted together, one
# that has moved up in the meantime is never the next.
only_slab() {
	echo N >$debug/failslab/cache-filter
	echo 20 >$debug/fail_page_alloc/min-order
}

# No cache is marked to be among those that fail.
only_pages() {
	echo Y >$debug/failslab/cache-filter
	echo 0 >$debug/fail_page_alloc/min-order
}

# sweep ARGUMENT...: runs faults for either kind.
sweep() {
	swept=0
	only_slab
	faults "$@" || swept=1
	only_pages
	faults "$@" || swept=1
	return $swept
}

command -v faults >/dev/null || skip_all "the program faults is not here"

thunks_used() {
	sed -n 's/^# return thunks: \([0-9]*\) of .*/\1/p' /proc/kretpool/pools
}

# settled: what is on its way out has gone.
settled() {
	wait_for '! grep -q " draining " /proc/kretpool/probes && [ "$(thunks_used)" = "$thunks" ] &&
		[ "$(wc -l </proc/kretpool/probes)" = "$probes" ]'
}

# The module and what it allocates when it is loaded: anew each time.
unload || skip_all "kretpool.ko is in use"
# Its own come last, and what the kernel says when one of the many others fails
# is its own matter.
sweep -c -e -r -t "${FAULTS_SECONDS:-120}" load "$here/kretpool.ko" kretpool
ok $? "loading kretpool"
load kretpool
load kretpool_test || skip_all "kretpool_test.ko is not here"
ops=$(cat /proc/kretpool_test/faults)
thunks=$(thunks_used)
probes=$(wc -l </proc/kretpool/probes)

for op in $ops; do
	# Had "many" worked once, all its functions would be known: half of what it is.
	# And "fresh" has new ones for so many times only.
	once=
	case $op in
	many | fresh) once=-c ;;
	esac
	sweep ${once:+"$once"} write /proc/kretpool_test/faults "$op"
	ok $? "$op"
	settled
	ok $? "$op: nothing is left behind"
done

# Commands of people at a shell.
uret=$(cd "$here" && pwd)/uret
for command in "attach vfs_read" \
	"uattach $uret $("$uret" offsets | awk '$1 == "leaf" || $1 == "block" { printf "%s:%s ", $2, $1 }')"; do
	sweep -u "detach all" write /proc/kretpool/control "$command"
	ok $? "${command%% *}, as a command"
	settled
	ok $? "${command%% *}: nothing is left behind"
done

# With a probe and calls in flight, so that all files have lines.
echo 'on 64' >/proc/kretpool_test/probe
for _ in 1 2 3 4; do
	cat /proc/kretpool_test/sleep >/dev/null &
done
wait_for '[ "$(grep -c " krp_target_sleep " /proc/kretpool/inflight)" = 4 ]'
ok $? "calls are in flight"
for file in probes pools inflight version; do
	sweep read /proc/kretpool/$file
	ok $? "reading $file"
done
echo wake >/proc/kretpool_test/sleep
wait
echo off >/proc/kretpool_test/probe
settled
ok $? "the probe is gone"

# By chance, several in one operation, of both kinds.
echo N >$debug/failslab/cache-filter
for which in failslab fail_page_alloc; do
	# First of all: without it this shell, too, is made to fail.
	echo Y >$debug/$which/task-filter
	echo -1 >$debug/$which/times
	echo 5 >$debug/$which/probability
done
worked=0
refused=0
for _ in 1 2 3 4 5 6 7 8; do
	for op in $ops; do
		# The shell that is made to fail must not be this one.
		if (echo 1 >/proc/self/make-it-fail && echo "$op" >/proc/kretpool_test/faults) 2>/dev/null; then
			worked=$((worked + 1))
		else
			refused=$((refused + 1))
		fi
	done
done
for which in failslab fail_page_alloc; do
	echo 0 >$debug/$which/probability
done
echo "# one in 20 at random: $worked worked, $refused were refused"
settled
ok $? "nothing is left behind of those"
for op in $ops; do
	(echo "$op" >/proc/kretpool_test/faults)
	ok $? "$op works without failures"
done
settled
! dmesg | grep -q 'kretpool_test: .*instead of\|kretpool_test: a pool of'
ok $? "handlers ran when probes were there, and only then"

done_testing
