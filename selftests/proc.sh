#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# /proc/kretpool: columns, permissions, plain numbers.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

is "$(head -n 1 /proc/kretpool/probes)" "id function state hits skipped missed_empty missed_recursion missed_unwatched missed_removed missed_exited inflight hook functions" \
	"probes has its columns"
is "$(head -n 1 /proc/kretpool/pools)" "id function objects allocated free bytes pops_stash pops_local pops_steal push_overflow misses limit" \
	"pools has its columns"
is "$(head -n 1 /proc/kretpool/inflight)" "id function pid comm ms" "inflight has its columns"
grep -q '^[0-9]*\.[0-9]*\.[0-9]*$' /proc/kretpool/version
ok $? "version is a version"
is "$(cat /proc/kretpool/version)" "$(cat /sys/module/kretpool/version)" "and the module's"
for file in probes pools inflight; do
	is "$(stat -c %a /proc/kretpool/$file)" 400 "$file is root's alone"
done

load kretpool_sample func=vfs_read || skip_all "kretpool_sample.ko is not here"
cat /proc/self/stat >/dev/null
line=$(grep ' vfs_read enabled ' /proc/kretpool/probes)
echo "# $line"
[ "$(echo "$line" | awk '{ print NF, $12, $NF, ($4 > 0) }')" = "13 ftrace 1 1" ]
ok $? "a probe has a line with all columns"
line=$(grep ' vfs_read ' /proc/kretpool/pools)
echo "# $line"
[ "$(echo "$line" | awk '{ print NF, ($4 > $3), ($6 > 0), ($7 > 0) }')" = "12 1 1 1" ]
ok $? "and its pool"
! grep -qE '[0-9a-f]{12}' /proc/kretpool/probes /proc/kretpool/pools /proc/kretpool/inflight
ok $? "no file shows an address"
rmmod kretpool_sample

done_testing
