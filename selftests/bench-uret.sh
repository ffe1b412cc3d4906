#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a hooked return of a user-space function costs: not probed, with the
# kernel's uretprobe as tracefs makes them, with kretpool, in turns; of each the
# best of several rounds counts, as what else the host does only takes away. Leaves
# /out/uret.csv, and /out/redis.csv where there is a redis.
# usage: bench-uret.sh ARCH KERNEL SECONDS
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

arch=$1 kernel=$2 seconds=$3
probes=/proc/kretpool_uret
tracing=/sys/kernel/tracing
[ -e $tracing/uprobe_events ] || tracing=/sys/kernel/debug/tracing
csv=/out/uret.csv
rounds=3
# What is found in a round is left here, for the end.
bad=/tmp/bad

load kretpool_uret || skip_all "kretpool_uret.ko is neither here nor installed"

# hook API FILE: the functions on standard input, a name and an offset each
hook() {
	while read -r name offset; do
		case $1 in
		kernel)
			echo "r:krp_bench/$name $2:$offset" >>$tracing/uprobe_events
			echo 1 >"$tracing/events/krp_bench/$name/enable" ;;
		kretpool) echo "add $2 $offset 0 bench" >$probes ;;
		esac
	done
}

# unhook API: and a figure without hits is none
unhook() {
	case $1 in
	kernel)
		awk '$3 == 0 { print "# never hit: " $0; bad = 1 } END { exit bad }' \
			$tracing/uprobe_profile || echo bad >$bad
		echo 0 >$tracing/events/krp_bench/enable
		echo >$tracing/uprobe_events
		echo >$tracing/trace ;;
	kretpool)
		awk '{ for (i = 3; i < NF; i += 2) v[$i] = $(i + 1)
			if (v["hits"] + v["empty"] + v["deep"] + v["exited"] + v["inflight"] != v["calls"])
				{ print "# it does not add up: " $0; bad = 1 }
			if (v["hits"] == 0)
				{ print "# never hit: " $0; bad = 1 } }
			END { exit bad }' $probes || echo bad >$bad
		echo clear >$probes ;;
	esac
}

# in_turns COMMAND: runs COMMAND API for each, round after round; it prints
# KEY,MADE,TOOK lines, of which the fastest of each key remains.
in_turns() {
	round=0
	while [ $round -lt $rounds ]; do
		for api in none kernel kretpool; do
			"$1" $api
		done
		round=$((round + 1))
	done | awk -F, '!($1 in best) { key[++n] = $1 }
		!($1 in best) || $2 / $3 > best[$1] { best[$1] = $2 / $3; row[$1] = $0 }
		END { for (i = 1; i <= n; i++) print row[key[i]] }'
}

# leaf_calls API: of the function, on $threads CPUs
leaf_calls() {
	"$here/uret" offsets | grep '^leaf ' | hook "$1" /payload/uret
	/payload/uret bench "$threads" "$seconds" | sed "s/^/$1,/; s/ /,/"
	unhook "$1" >&2
}

echo "# returns trap by a $("$here/uret" trap)"
echo arch,kernel,api,threads,calls,seconds >$csv
printf '%-10s %8s %12s %10s\n' api threads "calls/s" "ns/call"
threads=1
cpus=$(nproc)
while :; do
	in_turns leaf_calls >/tmp/calls
	while IFS=, read -r api made took; do
		echo "$arch,$kernel,$api,$threads,$made,$took" >>$csv
		awk -v api="$api" -v n="$threads" -v made="$made" -v took="$took" \
			'BEGIN { printf "%-10s %8d %12.0f %10.1f\n", api, n, made / took, took * n * 1e9 / made }'
	done </tmp/calls
	[ "$threads" -lt "$cpus" ] || break
	threads=$((threads * 2))
	[ "$threads" -le "$cpus" ] || threads=$cpus
done

if [ ! -d /payload/redis ]; then
	[ ! -e $bad ]
	exit
fi
cd /payload/redis || exit 1
loader=$(echo ./ld-linux*)
[ "$(wc -l <functions)" = 3 ] || { echo "# redis: not all three functions are there"; exit 1; }
echo arch,kernel,api,command,requests_per_second >/out/redis.csv
echo "redis-server, requests/s; probed: $(cut -d' ' -f1 functions | tr '\n' ' ')"
printf '%-10s %10s %10s\n' api SET GET
"$loader" --library-path . ./redis-server --port 0 --unixsocket /tmp/redis --save '' \
	--appendonly no >/tmp/redis.log 2>&1 &
server=$!
wait_for '[ -S /tmp/redis ]' || { cat /tmp/redis.log; exit 1; }

# requests API: of the server, by command
requests() {
	hook "$1" /payload/redis/redis-server <functions
	"$loader" --library-path . ./redis-benchmark -s /tmp/redis -t set,get -n 10000 -c 8 --csv |
		awk -F'"' -v api="$1" '$2 == "SET" || $2 == "GET" { print api " " $2 "," $4 ",1" }'
	unhook "$1" >&2
}
in_turns requests >/tmp/requests
awk -F'[ ,]' '$2 == "SET" { set = $3 } $2 == "GET" { printf "%-10s %10.0f %10.0f\n", $1, set, $3 }' \
	/tmp/requests
awk -F'[ ,]' -v row="$arch,$kernel" '{ print row "," $1 "," $2 "," $3 }' /tmp/requests >>/out/redis.csv
kill $server
[ ! -e $bad ]
