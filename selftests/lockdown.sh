#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A kernel that is locked down for confidentiality lets nobody attach. There is
# no way back from that: this test comes last, on a machine for tests alone.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

control=/proc/kretpool/control
lockdown=/sys/kernel/security/lockdown

# writes FILE TEXT WHAT
writes() {
	if echo "$2" >"$1"; then
		ok 0 "$3"
	else
		ok 1 "$3"
	fi
}

[ -e $lockdown ] || mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
[ -w $lockdown ] || skip_all "this kernel cannot be locked down"
case $(stat -f -c %T /) in
tmpfs | ramfs | rootfs) ;;
*) skip_all "only the next boot could undo it" ;;
esac

writes $control "attach vfs_read" "attach before"
writes $lockdown integrity "lock down for integrity"
writes $control "attach vfs_write" "that lets people attach, as it lets them use kprobes"
writes $lockdown confidentiality "lock down for confidentiality"
! (echo "attach vfs_open" >$control) 2>/dev/null
ok $? "that does not"
grep -q '^# error: the kernel is locked down' $control
ok $? "and says why"
! (echo "uattach /bin/sh 0x1000" >$control) 2>/dev/null &&
	grep -q '^# error: the kernel is locked down' $control
ok $? "nor do functions of programs"
is "$(grep -c '^[0-9]' $control)" 2 "what was attached before stays"
writes $control "detach all" "and can be detached"

done_testing
