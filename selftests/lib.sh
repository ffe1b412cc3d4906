# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Sourced by the tests: TAP, waiting for things, loading modules.

tests=0
failed=0

# ok STATUS NAME: one result.
ok() {
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests $2"
	else
		failed=$((failed + 1))
		echo "not ok $tests $2"
	fi
}

# is LEFT RIGHT NAME: they are equal.
is() {
	[ "$1" = "$2" ] || echo "# $3: it is '$1', not '$2'"
	[ "$1" = "$2" ]
	ok $? "$3"
}

# done_testing: the plan, and the exit status that kselftest wants.
done_testing() {
	echo "1..$tests"
	[ "$failed" -eq 0 ]
	exit
}

# skip_all WHY: kselftest's exit status for it.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

# wait_for CONDITION: until it is true, a minute at most.
wait_for() {
	wait_left=600
	until eval "$1"; do
		wait_left=$((wait_left - 1))
		if [ "$wait_left" -eq 0 ]; then
			echo "# waited in vain for: $1"
			return 1
		fi
		sleep 0.1
	done
}

here=$(dirname "$0")

# load MODULE [PARAMETER...]: from this folder or from where it is installed.
load() {
	grep -q "^$1 " /proc/modules && return
	if [ -e "$here/$1.ko" ]; then
		load_file=$here/$1.ko
		shift
		insmod "$load_file" "$@"
	else
		modprobe "$@" 2>/dev/null
	fi
}

# unload: kretpool, and first all that use it. Says what holds it, if that takes too long.
unload() {
	# shellcheck disable=SC2046 # words; those loaded last come first
	rmmod $(awk '/^kretpool_/ { print $1 }' /proc/modules) 2>/dev/null
	wait_for 'rmmod kretpool 2>/dev/null' && return
	sed 's/^/# /' /proc/kretpool/inflight
	grep '^kretpool' /proc/modules | sed 's/^/# /'
	return 1
}

[ "$(id -u)" = 0 ] || skip_all "this needs root"
load kretpool || skip_all "kretpool.ko is neither here nor installed"

# count NAME: a number from what kretpool_test says of its probe in $probe_file.
count() {
	# shellcheck disable=SC2154
	sed "s/.*\<$1 \([0-9]*\).*/\1/" "$probe_file"
}

# run_group NAME: tests that run in the kernel.
run_group() {
	load kretpool_test || skip_all "kretpool_test.ko is neither here nor installed"
	group_out=$(cat "/proc/kretpool_test/$1") || exit 1
	printf '%s\n' "$group_out"
	! printf '%s\n' "$group_out" | grep -q '^not ok'
	exit
}

kmemleak=/sys/kernel/debug/kmemleak

# no_leaks [WHEN:]: nothing is unreferenced, says the kernel's leak detector, which
# has to be there. Looks twice, as a pointer that is being moved while it looks is
# missed, and waits first: it passes over what is younger than 5 s.
no_leaks() {
	sleep 6
	echo scan >$kmemleak
	echo scan >$kmemleak
	leaks=$(grep -c '^unreferenced object' $kmemleak)
	[ "$leaks" = 0 ] || sed 's/^/# /' $kmemleak
	is "$leaks" 0 "${1:+$1 }nothing is unreferenced"
}
