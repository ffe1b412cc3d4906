#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A long run: rounds of kretpool_torture with all that torture.sh does beside it,
# and after each, with everything stopped, a line of what is in use, as CSV.
# usage: soak.sh MINUTES FILE [SECONDS [PARAMETER=VALUE...]]
#   SECONDS  of a round, 10
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/torture-load.sh
. "$here/torture-load.sh"

[ $# -ge 2 ] || {
	echo "usage: soak.sh MINUTES FILE [SECONDS [PARAMETER=VALUE...]]" >&2
	exit 2
}
minutes=$1
csv=$2
seconds=${3:-10}
shift $(($# < 3 ? $# : 3))
parameters=/sys/module/kretpool_torture/parameters

# shellcheck disable=SC2046 # words
load kretpool_torture run=0 stat_interval=0 $(user_parameters) "$@" ||
	skip_all "kretpool_torture.ko is neither here nor installed"

# now: seconds since boot
now() {
	sed 's/[.].*//' /proc/uptime
}

# memory: MemFree, unreclaimable slab, per-CPU and vmalloc memory in kB, the
# best of a few looks, as freeing goes on behind the scenes for a moment
memory() {
	sync
	for _ in 1 2 3 4 5; do
		echo 3 >/proc/sys/vm/drop_caches
		awk '{ kb[$1] = $2 }
			END { print kb["MemFree:"], kb["SUnreclaim:"], kb["Percpu:"], kb["VmallocUsed:"] }' \
			/proc/meminfo
		sleep 0.2
	done | awk '{ for (i = 1; i <= 4; i++)
				if (NR == 1 || (i == 1 ? $i > best[i] : $i < best[i]))
					best[i] = $i }
		END { print best[1] "," best[2] "," best[3] "," best[4] }'
}

# number NAME: the last that the torture module has said with that name
number() {
	dmesg | sed -n "s/^.*kretpool_torture: .*\<$1 \([0-9]*\).*/\1/p" | tail -n 1
}

echo "seconds,calls,interrupts,nmis,probes,cpus_off,tasks_ended,memfree_kb,sunreclaim_kb,percpu_kb,vmalloc_kb,thunks,listed,errors" >"$csv"
begin=$(now)
rounds=0
all_offline=0
all_ended=0
status=0
while [ $(($(now) - begin)) -lt $((minutes * 60)) ]; do
	echo 1 >$parameters/run || status=1
	load_begin
	# The length of a round, nothing is waited for.
	sleep "$seconds"
	load_end
	echo 0 >$parameters/run || status=1
	# Probes that drain are freed a while after their last call has returned.
	wait_for '[ "$(listed)" = 0 ]' && wait_for '[ "$(strays)" = 0 ]' || status=1
	all_offline=$((all_offline + offline))
	all_ended=$((all_ended + ended))
	rounds=$((rounds + 1))
	echo "$(($(now) - begin)),$(number calls),$(number interrupts),$(number NMIs),$(number probes),$all_offline,$all_ended,$(memory),$(thunks),$(listed),$(cat $parameters/errors)" |
		tee -a "$csv" | sed 's/^/# /'
	# For who wants to know what it is that grows.
	[ $rounds != 5 ] || cat /proc/slabinfo >"$csv.slab"
done
if [ -e "$csv.slab" ]; then
	echo "# caches that have grown most since the fifth round, in kB"
	cat "$csv.slab" /proc/slabinfo | awk '/^#|^slabinfo/ { next }
		$1 in kb { print $3 * $4 / 1024 - kb[$1], $1; next } { kb[$1] = $3 * $4 / 1024 }' |
		sort -rn | head -n 6 | sed 's/^/# /'
fi
[ $status = 0 ]
ok $? "$rounds rounds were started and stopped"
is "$(cat $parameters/errors)" 0 "every call and every instance is accounted for in each"
is "$(awk -F , 'NR > 1 && ($12 || $13) { n++ } END { print n + 0 }' "$csv")" 0 \
	"after each round no return thunk is in use and no probe is left"
rmmod kretpool_torture
ok $? "it is unloaded"
dmesg | grep 'kretpool_torture: --- ' | tail -n 1 | grep -q 'End of test: SUCCESS'
ok $? "its verdict is SUCCESS"

done_testing
