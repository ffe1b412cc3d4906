#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs the tests beside it, or those named, and gives their results as the
# kernel's kselftest runner does: KTAP, one level for the programs, one for
# what they say.
cd "$(dirname "$0")" || exit 1

# In an order in which the first failure says most.
[ $# -gt 0 ] || set -- proc calls stacking control errors multi objpool trace sleepers healing exits awkward stacks exact uret ported removal unload tool everything torture lockdown

# The leak detector looks when it is asked to. By itself it may do so while a test
# loads all CPUs, at a low priority and with RCU waiting for it, for very long.
[ ! -w /sys/kernel/debug/kmemleak ] || echo scan=off >/sys/kernel/debug/kmemleak

exec 4>&1
status=0
n=0
echo "TAP version 13"
echo "1..$#"
for name; do
	n=$((n + 1))
	echo "# selftests: kretpool: $name.sh"
	# As it comes, line by line: some take an hour on a kernel that checks itself.
	rc=$({ { sh "./$name.sh" 2>&1 3>&- 4>&-; echo $? >&3; } | while IFS= read -r line || [ -n "$line" ]; do
		printf '    %s\n' "$line"
	done >&4; } 3>&1)
	case $rc in
	0) echo "ok $n selftests: kretpool: $name.sh" ;;
	4) echo "ok $n selftests: kretpool: $name.sh # SKIP" ;;
	*) echo "not ok $n selftests: kretpool: $name.sh # exit=$rc"
	   status=1 ;;
	esac
done
exit $status
