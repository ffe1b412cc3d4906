#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's samples/kprobes/kretprobe_example.c on kretpool: what it says of
# kernel_clone is compared with what was cloned.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/upstream/upstream-lib.sh
. "$(dirname "$0")/upstream-lib.sh"
upstream kretprobe_example

insmod "$here/kretprobe_example.ko"
ok $? "kretprobe_example loads"
log | grep -q 'Planted return probe at kernel_clone: '
ok $? "it says that it has planted its probe"
is "$(awk '$2 == "kernel_clone" { print $3 }' /proc/kretpool/probes)" enabled \
	"the probe is one of kretpool's"
! grep -q kernel_clone /sys/kernel/debug/kprobes/list ||
	grep kernel_clone /sys/kernel/debug/kprobes/list | grep -qv 'r  *kernel_clone'
ok $? "and none of the kernel's return probes"

pids=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	sleep 0 &
	pids="$pids $!"
done
wait
missing=
for pid in $pids; do
	log | grep -q "kernel_clone returned $pid and took [0-9][0-9]* ns to execute" ||
		missing="$missing $pid"
done
is "$missing" "" "it reports the return value of each of 16 forks"
log | awk '/kernel_clone returned/ { n++; if ($(NF - 3) + 0 <= 0) zero++ }
	END { exit !(n >= 16 && !zero) }'
ok $? "and a duration, which came from the entry handler in the instance's data"
# The same numbers by kretpool's own account.
hits=$(awk '$2 == "kernel_clone" { print $4 }' /proc/kretpool/probes)
[ "$hits" -ge 16 ]
ok $? "/proc/kretpool/probes counts them, too"

rmmod kretprobe_example
ok $? "it unloads"
log | grep -q 'Missed probing 0 instances of kernel_clone'
ok $? "nmissed is 0"
said=$(log | grep -c 'kernel_clone returned')
sleep 0 &
wait
is "$(log | grep -c 'kernel_clone returned')" "$said" "no handler runs after it"

! insmod "$here/kretprobe_example.ko" func=krp_no_such_function 2>/dev/null
ok $? "a function that does not exist is refused"
log | grep -q 'register_kretprobe failed, returned -2'
ok $? "with the kernel's error, ENOENT"
done_testing
