#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's samples/fprobe/fprobe_example.c on kretpool: what it says of
# functions is compared with how often they were called.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/upstream/upstream-lib.sh
. "$(dirname "$0")/upstream-lib.sh"
upstream fprobe_example

# run NAME SYMBOL: eight forks with the sample on what SYMBOL means
run() {
	log_mark "$1"
	insmod "$here/fprobe_example.ko" "symbol=$2"
	ok $? "$1: loads"
	log | grep -qF "Planted fprobe at $2"
	ok $? "$1: it says that it has planted its probe"
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 0 &
	done
	wait
	rmmod fprobe_example
	ok $? "$1: unloads"
	entries=$(log | grep -c 'Enter <kernel_clone+0x0/')
	[ "$entries" -ge 8 ]
	ok $? "$1: the entry handler has seen the forks"
	is "$(log | grep -c 'Return from <kernel_clone+0x0/.* to rip = ')" "$entries" \
		"$1: the exit handler has seen each of them return"
	# Whole traces from the handlers, and return addresses in the caller.
	log | grep -q '^ \{24\}.*do_sys.*clone\|^ \{24\}.*do_syscall_64'
	ok $? "$1: stack traces lead to the system call"
	is "$(log | grep -c krp_thunks)" 0 "$1: neither they nor return addresses show a thunk"
	is "$(log | sed -n 's/.* unregistered\. \([0-9]*\) times hit, \([0-9]*\) times missed/\1 \2/p')" \
		"$(log | grep -cE '(Enter|Return from) <') 0" "$1: it has counted all, and none was missed"
}

run "one function" kernel_clone
run "a list" kernel_clone,do_exit
run "a glob" 'kernel_clon*'

! insmod "$here/fprobe_example.ko" symbol=krp_no_such_function 2>/dev/null
ok $? "a function that does not exist is refused"
done_testing
