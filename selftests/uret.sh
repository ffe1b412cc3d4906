#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Returns of user-space functions: every call is accounted for, however it ends,
# and no return handler gets another call's data.
# usage: uret.sh [CALLS]
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

calls=${1:-5000}
probes=/proc/kretpool_uret
uret=$here/uret
case $uret in
/*) ;;
*) uret=$PWD/$uret ;;
esac

load kretpool_uret || skip_all "kretpool_uret.ko is neither here nor installed"
[ -x "$uret" ] || skip_all "the program uret is not here"

# offset FUNCTION
offset() {
	"$uret" offsets | awk -v name="$1" '$1 == name { print $2 }'
}

# add FUNCTION [INSTANCES [HOW]]: the first is number 0
add() {
	echo "add $uret $(offset "$1") ${2:-0} ${3:-both}" >$probes
}

clear() {
	echo clear >$probes
}

# field NUMBER NAME
field() {
	awk -v nr="$1" -v name="$2" '$1 == nr {
		for (i = 3; i < NF; i += 2)
			if ($i == name)
				print $(i + 1)
	}' $probes
}

# exact NUMBER TEXT: it adds up, nothing is left, nothing was taken for another
exact() {
	bad=$(awk -v nr="$1" '$1 == nr {
		for (i = 3; i < NF; i += 2)
			v[$i] = $(i + 1)
		sum = v["hits"] + v["skipped"] + v["empty"] + v["deep"] + v["removed"] + v["exited"]
		if (sum + v["inflight"] != v["calls"] || v["bad"] || !v["calls"])
			print
	}' $probes)
	is "$bad" "" "$2"
}

# sum NUMBER: calls hits exited inflight
sum() {
	echo "$(field "$1" calls) $(field "$1" hits) $(field "$1" exited) $(field "$1" inflight)"
}

add leaf
is "$?" 0 "a function can be probed by file and offset"
"$uret" leaf "$calls"
is "$(sum 0)" "$calls $calls 0 0" "each of $calls calls is a hit"
exact 0 "and each return has the data of its entry"
line=$(grep " $uret:0x" /proc/kretpool/probes)
is "$(echo "$line" | awk '{ print NF, $3, $4, $NF }')" "12 enabled $calls uprobe" \
	"it has a line in probes"
line=$(grep " $uret:0x" /proc/kretpool/pools)
is "$(echo "$line" | awk '{ print NF, ($4 == $5) }')" "12 1" "and in pools, full"
clear
! grep -q " $uret:" /proc/kretpool/probes
ok $? "and none when it is gone"

add recurse
"$uret" recurse 40
is "$(sum 0)" "41 41 0 0" "recursion: 41 nested calls"
"$uret" recurse 99
is "$(field 0 calls) $(field 0 hits) $(field 0 deep)" "141 105 36" \
	"deeper than the kernel follows: 64 of 100 are hits, the others counted"
exact 0 "recursion: exact"
clear

add leaf
add tail
add self
"$uret" tail 1000
"$uret" self 1000
is "$(field 0 hits) $(field 1 hits) $(field 2 hits)" "1000 1000 4000" \
	"tail calls, to another function and to itself"
exact 0 "tail calls: exact"
exact 1 "tail calls: exact in the caller"
exact 2 "tail calls: exact in one that calls itself"
clear

# In every 6 calls: 3 that jump out (1, 2, 3 deep), 3 that return (1, 3, 2 deep).
add jump 16
"$uret" jump 3000
is "$(field 0 calls) $(field 0 empty)" "6000 0" "longjmp over probed frames leaks none of 16 instances"
exact 0 "longjmp: exact"
is "$(field 0 inflight)" 0 "longjmp: none left when the program has ended"
echo "# $(cat $probes)"
clear

add jump 32
add jump 32
"$uret" jump 3000
is "$(field 0 empty) $(field 1 empty)" "0 0" "two probes of one function: no leak"
exact 0 "two probes: exact in the first"
exact 1 "two probes: exact in the second"
is "$(sum 0)" "$(sum 1)" "two probes: both saw the same"
clear

add signal
add leaf
"$uret" signal 500
is "$(sum 0) $(sum 1)" "500 500 0 0 500 500 0 0" "signals within a call"
exact 0 "signals: exact"
clear

add fork
add leaf
"$uret" fork 200
is "$?" 0 "a program that forks within a call goes on, on both sides"
wait_for '[ "$(field 0 inflight)" = 0 ]'
if [ "$(field 0 empty)" = 0 ]; then
	is "$(sum 0)" "400 400 0 0" "fork: both sides return"
	is "$(field 0 forked)" 200 "fork: the child has a copy of the data"
else
	is "$(field 0 hits) $(field 0 empty)" "200 200" \
		"fork: this kernel cannot follow the child, and it is counted"
fi
is "$(sum 1)" "600 600 0 0" "fork: the child's own calls"
exact 0 "fork: exact"
clear

add end
"$uret" end 200
wait_for '[ "$(field 0 inflight)" = 0 ]'
ok $? "calls that exit, exec, are killed, end their thread: none is left in flight"
exact 0 "calls that never return: exact"
[ "$(field 0 exited)" -ge 160 ]
ok $? "and counted as exited ($(field 0 exited))"
is "$(field 0 hits)" 40 "vfork and exec within a call: it returns"
clear

add leaf
add recurse
"$uret" threads 8 "$calls"
"$uret" deep-threads 8 $((calls / 10))
is "$(field 0 hits)" $((8 * calls)) "8 threads: each call is a hit"
exact 0 "threads: exact"
exact 1 "threads with recursion: exact"
is "$(field 0 inflight) $(field 1 inflight)" "0 0" "threads: none in flight"
clear

add leaf 0 skip
"$uret" leaf 1000
is "$(field 0 hits) $(field 0 skipped)" "500 500" "the entry handler can skip calls"
exact 0 "skipped: exact"
clear
add leaf 0 entry
"$uret" leaf 1000
is "$(sum 0)" "1000 1000 0 0" "an entry handler alone"
clear

# Sleepers: a pool that is too small, and one that grows.
mkfifo /tmp/uret-fifo
for size in 4 0; do
	add block $size
	"$uret" block 60 </tmp/uret-fifo &
	exec 7>/tmp/uret-fifo
	wait_for '[ "$(field 0 calls)" = 60 ]'
	if [ $size = 4 ]; then
		# An instance per CPU beyond what was asked for may be reached, too.
		[ "$(field 0 inflight)" -ge 4 ] && [ "$(field 0 empty)" -gt 0 ]
		ok $? "60 sleepers and 4 instances: $(field 0 inflight) in flight, $(field 0 empty) missed"
	else
		is "$(field 0 inflight) $(field 0 empty)" "60 0" "60 sleepers: a pool has room"
		is "$(grep -c " $uret:0x.* uret " /proc/kretpool/inflight)" 60 "inflight shows them"
	fi
	for _ in $(seq 60); do printf x; done >&7
	wait
	exec 7>&-
	exact 0 "sleepers: exact"
	is "$(field 0 inflight)" 0 "sleepers: all return"
	clear
done

# Removal while calls sleep: sooner than their leases run out, and later. A
# virtual machine may have to wait for its turn meanwhile: the best of three.

# quick SECONDS: removes two probes, one of which has calls asleep for so long
quick() {
	add block
	add leaf
	"$uret" block 3 </tmp/uret-fifo &
	exec 7>/tmp/uret-fifo
	wait_for '[ "$(field 0 inflight)" = 3 ]'
	sleep "$1"
	# The other one first: it must not wait for these either.
	echo "del 1" >$probes
	echo "del 0" >$probes
	printf xxx >&7
	wait $!
	went_on=$?
	exec 7>&-
	[ "$(field 0 ms)" -lt 250 ] && [ "$(field 1 ms)" -lt 250 ]
}

for pause in 0 1; do
	for _ in 1 2 3; do
		clear
		! quick $pause || break
	done
	[ "$(field 0 ms)" -lt 250 ] && [ "$(field 1 ms)" -lt 250 ]
	ok $? "calls asleep for $pause s: removed in $(field 0 ms) ms, another probe in $(field 1 ms) ms"
	is "$(field 0 removed)" 3 "they count as removed"
	exact 0 "removal: exact"
	is "$went_on" 0 "the program goes on"
	is "$(field 0 hits)" 0 "no handler has run"
	clear
done

# A call of a probe that is gone is no call of the next.
add block
"$uret" block 1 </tmp/uret-fifo &
exec 7>/tmp/uret-fifo
wait_for '[ "$(field 0 inflight)" = 1 ]'
clear
add block
printf x >&7
wait
exec 7>&-
is "$(field 0 calls) $(field 0 hits)" "0 0" "a call made before the probe was there is not its own"
clear
rm -f /tmp/uret-fifo

# Probes come and go while threads call.
"$uret" bench 4 30 >/dev/null &
bench=$!
bad=
for _ in $(seq 15); do
	add leaf
	add leaf 8
	sleep 0.1
	echo "del 0" >$probes
	echo "del 1" >$probes
	slow=$(awk -v slow="${slow:-0}" '{ if ($NF > slow) slow = $NF } END { print slow }' $probes)
	bad="$bad$(awk '{
		for (i = 3; i < NF; i += 2)
			v[$i] = $(i + 1)
		sum = v["hits"] + v["empty"] + v["deep"] + v["removed"] + v["exited"]
		if (sum + v["inflight"] != v["calls"] || v["bad"])
			print
	}' $probes)"
	clear
done
kill $bench 2>/dev/null
wait
is "$bad" "" "probes come and go under load: exact each time ($slow ms to remove one at most)"

(add leaf 0 large) 2>/dev/null
ok $((!$?)) "too much data is refused"
(echo "add $uret 0x7fffffff 0 both" >$probes) 2>/dev/null
ok $((!$?)) "so is an offset that is not in the file"
(echo "add /proc/self 0 0 both" >$probes) 2>/dev/null
ok $((!$?)) "what is not a file"
(echo "add /nowhere 0 0 both" >$probes) 2>/dev/null
ok $((!$?)) "what is not there"
is "$(cat $probes)" "" "and nothing is left of these"

rmmod kretpool_uret
ok $? "the module can go"
is "$(awk '$2 ~ /uret:/' /proc/kretpool/inflight)" "" "nothing is in flight"

if [ "$(awk '$1 == "kretpool" { print $3 }' /proc/modules)" = 0 ]; then
	gone=
	for _ in $(seq 50); do
		rmmod kretpool 2>/dev/null && gone=yes && break
		sleep 0.1
	done
	is "$gone" "yes" "kretpool itself can be unloaded"
	load kretpool
fi

done_testing
