#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# One probe on many functions of the running system: all of them at once, while
# they are called; on and off under load; and modules that go.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

multi=/proc/kretpool_multi
load kretpool_multi || skip_all "kretpool_multi.ko is not here"

# tell COMMAND: fails if the module does
tell() {
	echo "$1" >$multi
}

# field NAME: of the probe
field() {
	sed -n "s/.*\\<$1 \\([0-9]*\\).*/\\1/p" $multi
}

# What runs all the time: processes, files, pipes, sleeping.
busy() {
	while :; do
		head -c 100000 /proc/kallsyms | wc -c
		sh -c 'echo $$; sleep 0.01'
		head -c 200000 /dev/zero >"/tmp/busy.$1"
		rm -f "/tmp/busy.$1"
	done >/dev/null 2>&1
}

busy_begin() {
	pids=
	for i in 1 2 3 4; do
		busy $i &
		pids="$pids $!"
	done
}

busy_end() {
	# shellcheck disable=SC2086
	kill $pids
	# shellcheck disable=SC2086
	wait $pids 2>/dev/null
}

# A module that goes.
call=/sys/module/kretpool_victim/parameters/call
load kretpool_victim
tell 'attach kretpool_victim:*,vfs_read'
ok $? "functions of a module and one of the kernel"
cat "$call" >/dev/null
before=$(field functions)
rmmod kretpool_victim
ok $? "the module goes"
gone=$(field gone)
[ "$gone" -ge 1 ] && [ "$gone" -lt "$before" ]
ok $? "its functions are counted as gone"
dmesg | grep -q "functions are gone with module kretpool_victim"
ok $? "and in the log"
hits=$(field hits)
cat /proc/version >/dev/null
[ "$(field hits)" -gt "$hits" ]
ok $? "the kernel's function is still caught"
load kretpool_victim
cat "$call" >/dev/null
is "$(cat "$call")" 2 "the module comes back, unprobed"
tell detach
ok $? "and all is undone"
rmmod kretpool_victim

# A name that is not there, and where it says so.
! (tell 'attach vfs_read,krp_not_this_one,vfs_write') 2>/dev/null &&
	dmesg | tail -n 5 | grep -q "krp_not_this_one: no such function"
ok $? "the log names what is not there"
! (tell 'attach vfs_*:vfs_read') 2>/dev/null
ok $? "nor is that module"

busy_begin
status=0
for i in 1 2 3 4 5 6 7 8; do
	tell 'attach vfs_*,ksys_*,do_*' || status=1
	sleep 0.2
	tell detach || status=1
done
ok $status "on and off, 8 times, under load"
busy_end
wait_for '! grep -q " draining " /proc/kretpool/probes'
ok $? "all of them are home"

# Each batch of patched code waits for all CPUs, of which QEMU's one thread runs
# busy ones in turns of 100 ms: the load comes when all is hooked.
tell 'attach *'
ok $? "everything: $(field functions) functions, $(field left_out) left out"
busy_begin
sleep 10
busy_end
sed 's/^/# /' $multi
[ "$(field hits)" -gt 10000 ]
ok $? "the machine is alive: $(field hits) hits"
tell detach
ok $? "and back again"
sed 's/^/# /' $multi
wait_for '[ "$(grep -c " draining " /proc/kretpool/probes)" -le 1 ]'
ok $? "what was in flight comes home"
# What sleeps on may do so for as long as it likes, but somebody must be there.
sed 1d /proc/kretpool/inflight | sed 's/^/# /'
is "$(awk 'NR > 1 && $3 == 0' /proc/kretpool/inflight)" "" "but for what tasks that are there sleep in"
rmmod kretpool_multi
ok $? "the probing module goes"

# As people ask for it: calls timed, a histogram for each function, which takes more
# than the limit where there are very many.
limit=/sys/module/kretpool/parameters/latency_mib
limit_was=$(cat $limit)
echo 256 >$limit
said=$(kretpool attach '*')
ok $? "kretpool attach '*': $(echo "$said" | head -n 1)"
busy_begin
sleep 10
busy_end
kretpool hist "$(kretpool list | awk '$NF == "*" { print $1 }')" | sed 's/^/# /'
# A table of them all, while its own functions are in it.
is "$(awk '$2 == "vfs_read" || $2 == "schedule" { n += $3 > 100 } END { print n + 0 }' /proc/kretpool/latency)" 2 \
	"functions that were called are in the table"
kretpool top -n 1 | head -n 12 | sed 's/^/# /'
kretpool detach all
ok $? "kretpool detach all"
echo "$limit_was" >$limit
wait_for '[ "$(grep -c " draining " /proc/kretpool/probes)" -le 2 ]'
ok $? "and what was in flight comes home"

done_testing
