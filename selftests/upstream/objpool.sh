#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's lib/test_objpool.c on krp_objpool. It prints and judges nothing:
# here its figures become verdicts.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/upstream/upstream-lib.sh
. "$(dirname "$0")/upstream-lib.sh"
upstream test_objpool

# It refuses to stay, when it is done.
said=$(insmod "$here/test_objpool.ko" 2>&1)
case $said in
*"temporarily unavailable"* | *EAGAIN*) ok 0 "test_objpool ran to its end" ;;
*) echo "# insmod says: $said"
   ok 1 "test_objpool ran to its end" ;;
esac

# Each testcase as "NAME;THREADS;HITS;MISSES;KMALLOC;KFREE;VMALLOC;VFREE".
cases=$(mktemp)
log | awk '
	/^test_objpool: / { sub(/^test_objpool: /, "") }
	sub(/^Testing summary for /, "") { name = $0 }
	/^ALL:/ { for (i = 1; i < NF; i++) if ($i == "nthreads:") threads = $(i + 1) }
	/^SUM:/ { hits = $2; misses = $4 }
	/^ *kmalloc:/ { kmalloc = $2; kfree = $4 }
	/^ *vmalloc:/ {
		print name ";" threads + 0 ";" hits ";" misses ";" kmalloc ";" kfree ";" $2 ";" $4
	}' >"$cases"

# busybox asks for a module that was refused once more, in another way.
is "$(wc -l <"$cases" | tr -d ' ')" 20 "ten testcases have reported, twice"
cpus=$(grep -c '^processor' /proc/cpuinfo)
while IFS=';' read -r name threads hits misses kmalloc kfree vmalloc vfree; do
	echo "# $name: $hits hits, $misses misses"
	is "$threads" "$cpus" "$name: a thread on each CPU"
	[ "$hits" -gt 0 ]
	ok $? "$name: pops were served"
	case $name in
	# 16 objects a thread wants at once, of 8 that there are per CPU
	*overrun*) at_once=16 ;;
	# 4 in the thread and 4 in the interrupt: all that there are
	"async & hrtimer"*) at_once=4 ;;
	*) at_once=1 ;;
	esac
	if [ $at_once = 16 ]; then
		# Half of the threads, at the least, leave with empty hands at times.
		[ "$misses" -gt 0 ]
		ok $? "$name: pops of an empty pool missed"
	else
		is "$misses" 0 "$name: no pop missed while there was an object"
	fi
	is $(((hits + misses) % at_once)) 0 "$name: every pop is a hit or a miss"
	[ "$kmalloc" -gt 0 ]
	ok $? "$name: the pool's owner was allocated"
	is "$kmalloc" "$kfree" "$name: and freed, by the pool's release callback or after it"
	is "$vmalloc" "$vfree" "$name: vmalloc is balanced"
done <"$cases"
rm -f "$cases"

# It waits for all pools' memory; a pool that is not freed keeps it for ever.
timeout 30 rmmod kretpool
ok $? "all pools are freed: kretpool unloads"

[ ! -w $kmemleak ] || no_leaks "after all pools:"
done_testing
