# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
# Sourced by what runs kretpool_torture, after lib.sh: what goes on beside it.

# Number of return thunks in use by something else than calls asleep: of those
# kretpool_torture itself judges whether they are.
thunks() {
	awk '/^# return thunks/ { print $4 - calls } FILENAME ~ /inflight/ && FNR > 1 { calls++ }' \
		/proc/kretpool/inflight /proc/kretpool/pools
}

# Number of calls in flight of which the task's stack knows nothing.
strays() {
	while read -r _ _ pid _; do
		case $pid in [1-9]*) ;; *) continue ;; esac
		grep -q krp_thunk "/proc/$pid/stack" 2>/dev/null || echo "$pid"
	done </proc/kretpool/inflight | wc -l
}

# Number of probes that are not just waiting for calls asleep.
listed() {
	awk 'NR > 1 && $3 != "draining" { n++ } END { print n + 0 }' /proc/kretpool/probes
}

# Each of these goes on until the file is gone, and notes in another what it did.

load_hotplug() {
	while [ -e "$load_flag" ]; do
		for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
			[ -e "$cpu/online" ] || continue
			# The first has much to do that the others cannot.
			[ "$cpu" != /sys/devices/system/cpu/cpu0 ] || continue
			echo 0 >"$cpu/online" && echo >>"$load_flag.offline"
			echo 1 >"$cpu/online"
		done
	done
}

load_storm() {
	while [ -e "$load_flag" ]; do
		"$here/exits" 300 >>"$load_flag.ended"
	done
}

load_look() {
	while [ -e "$load_flag" ]; do
		cat /proc/kretpool/* >/dev/null
		# As often as somebody at a shell might.
		sleep 0.2
	done
}

# Threads of a program call a function of its that kretpool_torture has probed.
load_users() {
	while [ -e "$load_flag" ]; do
		"$here/uret" threads 3 500 && echo 1500 >>"$load_flag.called"
	done
}

# user_parameters: kretpool_torture's, for that
user_parameters() {
	[ ! -x "$here/uret" ] ||
		"$here/uret" offsets | awk -v path="$(cd "$here" && pwd)/uret" \
			'$1 == "leaf" { print "user_path=" path, "user_offset=" $2 }'
}

# load_begin: starts them; load_end: all have ended, and offline, ended and called
# are how often a CPU went off, how many tasks have ended, and how many calls the
# program has made, each of which came back with what it should.
load_begin() {
	load_flag=$(mktemp)
	: >"$load_flag.offline"
	: >"$load_flag.ended"
	: >"$load_flag.called"
	load_hotplug &
	load_pids=$!
	load_look &
	load_pids="$load_pids $!"
	if [ -x "$here/exits" ]; then
		load_storm &
		load_pids="$load_pids $!"
	fi
	if [ -x "$here/uret" ]; then
		load_users &
		load_pids="$load_pids $!"
	fi
}

load_end() {
	rm -f "$load_flag"
	# shellcheck disable=SC2086
	wait $load_pids
	# shellcheck disable=SC2034
	offline=$(wc -l <"$load_flag.offline")
	# shellcheck disable=SC2034
	ended=$(awk '{ n += $1 } END { print n + 0 }' "$load_flag.ended")
	# shellcheck disable=SC2034
	called=$(awk '{ n += $1 } END { print n + 0 }' "$load_flag.called")
	rm -f "$load_flag.offline" "$load_flag.ended" "$load_flag.called"
}
