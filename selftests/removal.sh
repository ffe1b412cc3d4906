#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Removal: of many probes at once (C16), of probes whose handlers were taken away
# first (C17), and of the module itself, again and again, all of it under load.
# usage: removal.sh [CYCLES [PROBES]]
#   CYCLES  of loading and unloading, 5
#   PROBES  removed in a batch, 50; as many as there are functions and thunks for
# Without arguments REMOVAL_CYCLES and REMOVAL_PROBES say so.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

cycles=${1:-${REMOVAL_CYCLES:-5}}
probes=${2:-${REMOVAL_PROBES:-50}}
many=/proc/kretpool_many
tracing=/sys/kernel/tracing
[ -e $tracing/available_filter_functions ] || tracing=/sys/kernel/debug/tracing

# many NAME: a number from its line
many() {
	sed -n "s/^probes.*\<$1 \([0-9]*\).*/\1/p" $many
}

load kretpool_many || skip_all "kretpool_many.ko is neither here nor installed"
load_pid=
busy() {
	[ -x "$here/exits" ] || return
	"$here/exits" 0 &
	load_pid=$!
}

quiet() {
	[ -n "$load_pid" ] || return
	kill "$load_pid"
	wait "$load_pid" 2>/dev/null
	load_pid=
}

trap quiet EXIT
busy

# C17. Functions that the load calls all the time.
for func in vfs_read try_to_wake_up do_exit; do
	echo "name $func 32" >$many 2>/dev/null
done
begin=$(many hits)
status=0
for _ in $(seq 6); do
	echo stop >$many || status=1
	echo start >$many || status=1
done
ok $status "6 times stopped, the handlers taken away first, and started"
wait_for "[ \"\$(many hits)\" -gt $begin ]"
ok $? "and the handlers run again"
status=0
echo stop >$many || status=1
echo clear >$many || status=1
ok $status "stopped and removed"

# batch NUMBER: so many probes, removed at once; sets removed, waits and us
batch() {
	while read -r address _; do
		[ "$left" -gt 0 ] || break
		echo "addr $address" >$many 2>/dev/null && left=$((left - 1))
	done <"$list"
	echo clear >$many
	removed=$(many removed)
	waits=$(many waits)
	us=$(many us)
	echo "# $removed probes removed in $us us, with $waits waits for a grace period:" \
		"$(sed 1d $many | tr '\n' ' ')"
}

# Functions that ftrace hooks, as the kernel's kprobes wait once more for every few
# probes of other functions; of file systems and networking first. Where that is not
# enough, others of several words, but for those that handlers or tracers go through.
list=$(mktemp)
cat $tracing/available_filter_functions /proc/kallsyms 2>/dev/null | awk '
	NF == 1 { hooked[$1]; next }
	$2 !~ /^[tT]$/ || NF != 3 || $3 !~ /^[a-z0-9_]+$/ || !($3 in hooked) { next }
	$3 ~ /^(ext4|jbd2|fat|iso|fuse|nfs|xfs|btrfs|tcp|udp|inet|ip6|ipv6|sock|skb|netlink|crypto)_/ {
		print $1, $3
		next
	}
	$3 ~ /^(acpi|blk|bio|bus|class|dev|device|driver|key|kobject|pci|proc|scsi|security|seq)_/ ||
	$3 ~ /^(cgroup|input|mount|nl|pcie|power|regulator|rtc|snd|sysfs|sys|tty|usb|user|vfs|xhci)_/ {
		later[n++] = $1 " " $3
		next
	}
	$3 !~ /lock|rcu|sched|trace|probe|irq|nmi|timer|tick|clock|time|perf|text|trap|exc|unwind|kasan|cpu|stack/ &&
	$3 ~ /^[a-z0-9]+_[a-z0-9_]+_[a-z0-9_]+$/ { last[l++] = $1 " " $3 }
	END {
		for (i = 0; i < n; i++)
			print later[i]
		for (i = 0; i < l; i++)
			print last[i]
	}' >"$list"

# Patching code takes its time when the CPUs are busy, and that is not the matter here.
quiet
# One stays, as the last to go also takes ftrace's callback with it.
load kretpool_sample func=vfs_statfs
left=10
batch
is "$removed" 10 "10 probes are removed in a batch"
few_waits=$waits
left=$probes
batch
is "$removed" "$probes" "$probes probes are removed in a batch"
is "$waits" "$few_waits" "and wait for as few grace periods"
rm -f "$list"
rmmod kretpool_sample kretpool_many
ok $? "the probing modules go"

# Loading and unloading.
busy
done=0
while [ "$done" -lt "$cycles" ]; do
	unload || break
	case $((done % 4)) in
	0) func=vfs_read ;;
	1) func=try_to_wake_up ;;
	2) func=do_exit ;;
	3) func=handle_mm_fault ;;
	esac
	load kretpool || break
	load kretpool_sample "func=$func" || break
	rmmod kretpool_sample || break
	done=$((done + 1))
	[ $((done % 100)) -gt 0 ] || echo "# $done of $cycles times"
done
is "$done" "$cycles" "loaded and unloaded $cycles times while tasks come and go"

quiet
done_testing
