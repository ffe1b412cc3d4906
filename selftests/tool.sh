#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# /proc/kretpool/control and latency, and the tool that people use them with,
# driven through a terminal, too.
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

for program in kretpool pty jsonck; do
	command -v $program >/dev/null || skip_all "the program $program is not here"
done
proc=/proc/kretpool
work=$(mktemp -d)
trap 'rm -rf "$work"; echo detach all >$proc/control 2>/dev/null' EXIT

# control COMMAND: as someone with a shell alone would
control() {
	(echo "$1" >$proc/control) 2>"$work/error"
}

# refused COMMAND ERROR ANSWER: it is, for this reason, and nothing is attached
refused() {
	! control "$1" && grep -q "$2" "$work/error" &&
		grep -q "^# error: .*$3" $proc/control && [ "$(grep -vc '^#' $proc/control)" = 1 ]
	refused_so=$?
	[ $refused_so = 0 ] || cat "$work/error" $proc/control | sed 's/^/# /'
	ok $refused_so "refused: $(echo "$1" | cut -c 1-40)"
}

reads() {
	n=0
	while [ $n -lt "$1" ]; do
		read -r _ </proc/uptime
		n=$((n + 1))
	done
}

is "$(head -n 1 $proc/control)" "id state functions left_out gone hits skipped missed_empty missed_recursion missed_unwatched missed_removed missed_exited inflight bytes patterns" \
	"control has its columns"
is "$(head -n 1 $proc/latency | cut -d ' ' -f 1-7)" "id function calls total_ns max_ns lt_2 lt_4" \
	"latency has its columns"
is "$(head -n 1 $proc/latency | awk '{ print NF, $NF }')" "43 more" "and 38 buckets"
is "$(stat -c %a $proc/control) $(stat -c %a $proc/latency) $(stat -c %a $proc/functions)" "600 400 400" "they are root's alone"

# Malformed commands.
refused "" "Invalid argument" "three commands"
refused "attach" "Invalid argument" "attach what"
refused "attach  " "Invalid argument" "attach what"
refused "attach !vfs_read" "Invalid argument" "attach what"
refused "attach vfs_read;reboot" "Invalid argument" "is no pattern"
refused "attach /etc/passwd" "Invalid argument" "is no pattern"
refused "attach %s%n" "Invalid argument" "is no pattern"
refused "attach ! vfs_read" "Invalid argument" "is no pattern"
refused "attach $(printf 'a%.0s' $(seq 600))" "Invalid argument" "is no pattern"
refused "attach	vfs_read" "Invalid argument" "plain text"
refused "attach no_such_function" "No such file" "no_such_function"
refused "attach no_such_*" "No such file" "no_such_"
refused "attach vfs_read no_such_function" "No such file" "dmesg says which"
refused "attach __schedule" "Invalid argument" "can be hooked"
refused "atach vfs_read" "Invalid argument" "three commands"
refused "detach" "Invalid argument" "detach what"
refused "detach 99" "No such file" "no attachment 99"
refused "detach -1" "Invalid argument" "detach what"
refused "detach 99999999999999999999" "Invalid argument" "detach what"
refused "detach 1 2" "Invalid argument" "detach what"
! (printf 'attach vfs_read\nvfs_write' >$proc/control) 2>/dev/null
ok $? "a command is one line"
! (printf 'attach vfs_read\0vfs_write' >$proc/control) 2>/dev/null
ok $? "without a 0"
! (head -c 2049 /dev/zero | tr '\0' a | dd bs=4096 of=$proc/control) 2>"$work/error" &&
	grep -q "Argument list too long" "$work/error"
ok $? "2049 bytes are too long"
control "detach all"
ok $? "detaching nothing works"

# Limits.
limit=/sys/module/kretpool/parameters/latency_mib
echo 0 >$limit
refused "attach vfs_read" "Argument list too long" "latency_mib"
echo 64 >$limit

# By hand.
control "attach vfs_read"
ok $? "attach a function"
grep -q '^# ok: attached as [0-9]*: 1 functions, 0 left out' $proc/control
ok $? "control says so"
id=$(awk '$NF == "vfs_read" { print $1 }' $proc/control)
reads 1000
is "$(awk -v id="$id" '$1 == id && $2 == "vfs_read" && $3 >= 1000 && $4 >= $5 && $5 > 0 {
	for (i = 6; i <= NF; i++) sum += $i; print NF, sum == $3 }' $proc/latency)" "43 1" \
	"its calls are in the buckets"
! grep -qE '[0-9a-f]*ffff[0-9a-f]{8}' $proc/latency $proc/functions $proc/control
ok $? "no file shows an address"
control "detach $id"
ok $? "detach it"
is "$(grep -vc '^#' $proc/control)" 1 "nothing is attached"
is "$(wc -l <$proc/latency)" 1 "and nothing timed"

# The histogram says how long calls take.
if control "attach hrtimer_nanosleep"; then
	sleep 0.05
	sleep 0.05
	is "$(awk '$2 == "hrtimer_nanosleep" { print $3, ($5 > 5e7 && $5 < 5e9), ($4 >= 1e8) }' $proc/latency)" \
		"2 1 1" "two sleeps of 50 ms"
	control "detach all"
else
	cat "$work/error"
	ok 1 "attach hrtimer_nanosleep"
fi

# The tool: what it says when something is missing or wrong.
kretpool >"$work/out" 2>&1
is "$? $(grep -c '^usage: kretpool' "$work/out")" "2 1" "without a command it shows what there is"
kretpool --help | grep -q '^  attach'
ok $? "--help does"
for command in attach uattach detach list top hist json prometheus bench; do
	kretpool $command --help | grep -q "^usage: kretpool $command"
	ok $? "$command --help"
done
# says STATUS TEXT ARGUMENT...
says() {
	says_status=$1 says_text=$2
	shift 2
	kretpool "$@" >"$work/out" 2>"$work/error"
	is "$? $(grep -c "$says_text" "$work/error")" "$says_status 1" "kretpool $*: $says_text"
}
says 2 "Did you mean: kretpool attach" atach x
says 2 "Type: kretpool --help" xyzzy
says 2 "Type: kretpool attach PATTERN" attach
says 2 "Type: kretpool detach ID|all" detach x
says 2 "Type: kretpool hist" hist
says 2 "Type: kretpool top" top -s x
says 1 "Type: kretpool list" hist 99
says 1 "Type: kretpool list" list 99
says 2 "Type: kretpool list" list x
says 1 "no attachment 99" detach 99
says 1 "no function matches 'no_such_function'" attach no_such_function
says 1 "Type: modprobe kretpool$" --proc /nowhere list
says 1 "Type: modprobe kretpool_bench" bench
kretpool list | grep -q "Nothing is attached. Next: kretpool attach"
ok $? "list without attachments says what to type"

# The tool at work.
kretpool attach 'vfs_*' '!vfs_get*' >"$work/out" 2>&1
ok $? "attach vfs_* !vfs_get*: $(head -n 1 "$work/out")"
reads 1000
kretpool list >"$work/out"
sed 's/^/# /' "$work/out"
is "$(awk '/vfs_\* !vfs_get\*$/ { print ($2 > 3), ($4 > 1000), $5 }' "$work/out")" "1 1 0" \
	"list: functions, hits, misses"
id=$(awk '/vfs_\* !vfs_get\*$/ { print $1 }' "$work/out")
kretpool list "$id" >"$work/out"
grep -q '^vfs_read  *attached$' "$work/out" && ! grep -q '^vfs_get' "$work/out"
ok $? "list ID: the functions"
is "$(awk '$2 ~ /^vfs_get/' $proc/latency | wc -l)" 0 "what is excluded is not timed"
kretpool hist "$id" >"$work/out"
sed 's/^/# /' "$work/out"
grep -q ' functions: [0-9]* calls, p50 .*, p99 .*, max ' "$work/out" &&
	grep -q '^ *[0-9]* -> [0-9]* *[0-9]* *|\*\*\**' "$work/out"
ok $? "hist draws all together"
kretpool hist -f "$id" vfs_read >"$work/out"
grep -q '^vfs_read: [0-9]* calls, p50 ' "$work/out"
ok $? "hist -f draws one"
kretpool json >"$work/json"
jsonck <"$work/json"
ok $? "json is JSON"
grep -q '"patterns":"vfs_\* !vfs_get\*"' "$work/json" && grep -q '"name":"vfs_read","calls":[1-9]' "$work/json"
ok $? "and has it all"
kretpool prometheus >"$work/prometheus"
! grep -vE '^(# (HELP|TYPE) kretpool_[a-z_]+ .*|kretpool_[a-z_]+\{([a-z]+="[^"]*",?)+\} [0-9]+(\.[0-9]+)?)$' "$work/prometheus"
ok $? "prometheus: each line is of the format"
awk '/^kretpool_latency_seconds_bucket.*function="vfs_read"/ {
		if ($NF < last) bad = 1
		last = $NF
	}
	/^kretpool_latency_seconds_count.*function="vfs_read"/ { count = $NF }
	END { exit bad || !count || count != last }' "$work/prometheus"
ok $? "buckets add up to the count"
kretpool top -n 2 -d 0.3 >"$work/out"
is "$? $(grep -c '^kretpool: 1 attached' "$work/out")" "0 2" "top -n 2 prints two frames"
! grep -q "$(printf '\033')" "$work/out"
ok $? "as plain text"
(kretpool top -d 0.1 | head -n 3) >"$work/out" 2>&1
is "$(wc -l <"$work/out")" 3 "top ends with whom it writes to"

# Through a terminal.
while :; do read -r _ </proc/uptime; done &
load=$!
pty -o "$work/screen" size=24x80 expect="vfs_read" expect="by time" send=s expect="by calls" \
	size=10x60 expect="by calls" send=q -- kretpool top -d 0.3 >"$work/out"
is "$? $(paste -s -d ' ' "$work/out")" "0 exit 0 terminal same" "top on a terminal: live, sorted, resized, ended"
awk -v esc="$(printf '\033')" '{ gsub(esc "\\[[?0-9]*[A-Za-z]", ""); gsub("\r", ""); if (length > 80) bad = 1 }
	END { exit bad }' "$work/screen"
ok $? "no line is wider than the window"
end=$(tail -c 14 "$work/screen" | tr '\033' E)
is "$end" "E[?25hE[?1049l" "the screen and the cursor are given back"
for signal in 2 15 1; do
	pty -o "$work/screen" expect="vfs_read" signal=$signal -- kretpool top -d 0.3 >"$work/out"
	is "$? $(paste -s -d ' ' "$work/out")" "0 signal $signal terminal same" "signal $signal leaves the terminal as it was"
done
pty -o "$work/screen" expect="by time" "signal=20" expect="$(printf '\033')[?1049l" "signal=18" \
	expect="$(printf '\033')[?1049h" expect="by time" send=q -- kretpool top -d 0.3 >"$work/out"
is "$? $(paste -s -d ' ' "$work/out")" "0 exit 0 terminal same" "stopped, continued, ended"
pty -o "$work/screen" size=24x100 -- kretpool hist "$id" >"$work/out"
is "$(tr -d '\r' <"$work/screen" | awk '{ if (length > most) most = length } END { print (most > 90), (most <= 100) }')" \
	"1 1" "hist fits the window"
kill $load
wait $load 2>/dev/null

# The machine's users.
fuzz unprivileged 65534 $proc/control $proc/latency
ok $? "a user without rights can neither read nor write"
fuzz powerless $proc/control
ok $? "root without capabilities gives no commands"
echo tester:x:65534:65534:tester:/tmp:/bin/sh >>/etc/passwd
su tester -c "$(command -v kretpool) list" >"$work/out" 2>&1
is "$? $(grep -c 'sudo kretpool' "$work/out")" "1 1" "and the tool says what is needed"

! rmmod kretpool 2>/dev/null
ok $? "the module stays while something is attached"
kretpool detach all >"$work/out"
is "$? $(cat "$work/out")" "0 detached 1" "detach all"

# Attached and detached under load, read meanwhile.
for n in 1 2; do
	while :; do kretpool json; kretpool top -n 1 -d 0.05; done >/dev/null 2>&1 &
	loads="$loads $!"
done
bad=0
for n in 1 2 3 4 5 6 7 8 9 10; do
	kretpool attach 'vfs_*' >/dev/null && kretpool attach vfs_read >/dev/null && reads 50 &&
		kretpool detach all >/dev/null || bad=1
done
ok $bad "ten times attached and detached while others read"
for load in $loads; do
	kill "$load"
	wait "$load" 2>/dev/null
done
is "$(grep -vc '^#' $proc/control)" 1 "nothing is left"

# Functions of programs.
# shellcheck disable=SC2317 # called if the programs are here
user_functions() {
	uret=$(cd "$here" && pwd)/uret
	leaf=$("$uret" offsets | awk '$1 == "leaf" { print $2 }')

	# What control refuses.
	refused "uattach" "Invalid argument" "attach what"
	refused "uattach  " "Invalid argument" "attach what"
	refused "uattach 0x10" "Invalid argument" "attach what"
	refused "uattach bin/sh 0x10" "Invalid argument" "'bin/sh' is neither a path"
	refused "uattach $uret" "Invalid argument" "which function of '$uret'"
	refused "uattach $uret $uret $leaf" "Invalid argument" "which function of"
	refused "uattach $uret $leaf /tmp" "Invalid argument" "which function of '/tmp'"
	refused "uattach $uret 0xg" "Invalid argument" "'0xg' is no offset"
	refused "uattach $uret 0x8000000000000000" "Invalid argument" "is no offset"
	refused "uattach $uret 99999999999999999999" "Invalid argument" "is no offset"
	refused "uattach $uret $leaf:" "Invalid argument" "'' is no name"
	refused "uattach $uret $leaf:a\\b" "Invalid argument" "is no name"
	refused "uattach $uret\\000 $leaf" "Invalid argument" "there is a 0 in it"
	refused "uattach /nowhere 0x10" "No such file" "there is no file '/nowhere'"
	refused "uattach $uret/x 0x10" "Not a directory" "cannot be looked up"
	refused "uattach /tmp 0x10" "Invalid argument" "'/tmp' is no regular file"
	refused "uattach /dev/null 0x10" "Invalid argument" "no regular file"
	refused "uattach $uret 0x7ffffffffffffff0" "Invalid argument" "bytes, and none at 0x7ffffffffffffff0"
	# The first of two can be hooked.
	refused "uattach $uret $leaf:leaf /nowhere 0x10" "No such file" "no file '/nowhere'"
	is "$(grep -c "$uret" $proc/probes)" 0 "and nothing is left of what could be hooked"
	echo 0 >$limit
	refused "uattach $uret $leaf" "Argument list too long" "latency_mib"
	echo 64 >$limit

	# What the tool does.
	says 2 "Type: kretpool uattach FILE:FUNCTION" uattach
	says 2 "'u_leaf' is not FILE:FUNCTION" uattach u_leaf
	says 2 "is not FILE:FUNCTION" uattach "$uret:"
	says 1 "there is no file '/nowhere'" uattach /nowhere:u_leaf
	says 1 "there is no file 'busybox'. Did you mean: /.*busybox" uattach busybox:main
	says 1 "no regular file" uattach /tmp:u_leaf
	says 1 "has no function 'u_lef'. Did you mean: u_leaf" uattach "$uret:u_lef"
	says 1 "has no function 'u_leaf@V1'" uattach "$uret:u_leaf@V1"
	says 1 "IFUNC" uattach "$uret:memcpy"
	says 1 "not marked as a function" uattach "$uret:u_self_again"
	says 1 "is stripped, and has but .* Did you mean: u_leaf" uattach "$uret-dynsym:u_lef"
	says 1 "'0xg' is no offset" uattach "$uret:0xg"
	says 1 "nothing at 0x7fffffff in .* is executed" uattach "$uret:0x7fffffff"
	says 1 "is a script" uattach "$here/tool.sh:u_leaf"
	head -c 5000 /dev/urandom >"$work/garbage"
	says 1 "is no ELF file" uattach "$work/garbage:u_leaf"
	printf '\177ELF\1\1\1' >"$work/narrow"
	head -c 100 /dev/zero >>"$work/narrow"
	says 1 "is of 32 bits" uattach "$work/narrow:u_leaf"
	head -c 2000 "$uret" >"$work/short"
	says 1 "is damaged" uattach "$work/short:u_leaf"
	head -c 30 "$uret" >"$work/short"
	says 1 "is too short" uattach "$work/short:u_leaf"
	kretpool uattach "$uret:u_leaf$(printf ',u_leaf%.0s' $(seq 200))" >"$work/out" 2>&1
	is "$? $(grep -c "too long for one command" "$work/out")" "1 1" "201 functions are too many for one command"
	is "$(grep -vc '^#' $proc/control)" 1 "nothing is attached by all that"

	# Calls, each of them, of programs of all forms.
	for form in uret uret-pie uret-dynsym; do
		kretpool uattach "$here/$form:u_leaf,u_recurse" >"$work/out" 2>&1
		ok $? "$form: $(head -n 1 "$work/out")"
		"$here/$form" leaf 1000 && "$here/$form" recurse 9
		ok $? "$form: it runs"
		kretpool list >"$work/out"
		is "$(awk '/:u_leaf,u_recurse$/ { print $2, $3, $4, $5, $6 }' "$work/out")" \
			"2 0 1010 0 0" "$form: list shows each call, none missed, none in flight"
		id=$(awk '/:u_leaf,u_recurse$/ { print $1 }' "$work/out")
		is "$(kretpool list "$id" | awk 'NR > 1 { print $1, $2 }' | paste -s -d ' ')" \
			"$form:u_leaf attached $form:u_recurse attached" "$form: list ID: the functions"
		is "$(awk -v id="$id" '$1 == id { for (i = 6; i <= NF; i++) sum[NR] += $i
			print $2, $3, sum[NR] == $3, ($4 >= $5 && $5 > 0) }' $proc/latency | paste -s -d ' ')" \
			"$form:u_leaf 1000 1 1 $form:u_recurse 10 1 1" "$form: latency has them"
		kretpool hist "$id" u_leaf >"$work/out"
		grep -q "^$form:u_leaf: 1000 calls, p50 " "$work/out" && grep -q ' -> .*|\*\*' "$work/out"
		ok $? "$form: hist draws one"
		kretpool hist "$id" | grep -q "^2 functions: 1010 calls"
		ok $? "$form: hist draws both"
		kretpool detach "$id" >/dev/null
		is "$? $(grep -vc '^#' $proc/control)" "0 1" "$form: detach"
	done

	# What programs read, and top; two files that have a function of the same name.
	kretpool uattach "$uret:u_leaf,$(printf '%s' "$leaf")" "$uret-pie:u_leaf" >/dev/null
	ok $? "functions of two files, one of them by its offset"
	"$uret" leaf 300
	"$uret-pie" leaf 200
	kretpool json >"$work/json"
	jsonck <"$work/json" && grep -q '"name":"uret:u_leaf","calls":300' "$work/json" &&
		grep -q "\"name\":\"uret:$leaf\",\"calls\":300" "$work/json" &&
		grep -q '"name":"uret-pie:u_leaf","calls":200' "$work/json"
	ok $? "json has their calls"
	grep -q "\"patterns\":\"$uret:u_leaf,$leaf $uret-pie:u_leaf\"" "$work/json"
	ok $? "and says what was attached, as it is typed"
	kretpool prometheus | grep -q '^kretpool_latency_seconds_count{id="[0-9]*",function="uret-pie:u_leaf"} 200$'
	ok $? "prometheus, too"
	"$uret" bench 1 60 >/dev/null &
	load=$!
	kretpool top -n 2 -d 0.5 >"$work/out"
	kill $load
	wait $load 2>/dev/null
	is "$(awk '$7 == "uret:u_leaf" && $2 > 0 { n++ } END { print n + 0 }' "$work/out")" 2 \
		"top shows their rates"
	kretpool detach all >/dev/null

	# Names that need care.
	mkdir "$work/a b"
	cp "$uret" "$work/a b/c\\d"
	(cd "$work/a b" && "$(command -v kretpool)" uattach 'c\d:u_leaf') >"$work/out" 2>&1
	ok $? "a file with a blank and a backslash in its name, from its folder"
	"$work/a b/c\\d" leaf 10
	is "$(awk '$2 == "attached" { print $6, $NF }' $proc/control)" "10 $work/a\\040b/c\\134d:u_leaf" \
		"its calls are counted"
	kretpool json | jsonck
	ok $? "json is JSON with it"
	kretpool detach all >/dev/null

	# Calls asleep while it is detached.
	mkfifo "$work/fifo"
	kretpool uattach "$uret:u_block" >/dev/null
	"$uret" block 3 <"$work/fifo" &
	sleeper=$!
	exec 7>"$work/fifo"
	wait_for '[ "$(awk "\$2 == \"attached\" { print \$13 }" $proc/control)" = 3 ]'
	ok $? "control shows 3 calls asleep"
	is "$(grep -c "^[0-9]* $uret:0x.* uret " $proc/inflight)" 3 "and inflight"
	is "$(kretpool detach all)" "detached 1" "detached while they sleep"
	is "$(grep -c "$uret" $proc/inflight)" 0 "nothing is in flight"
	printf xxx >&7
	wait $sleeper
	is "$?" 0 "the program goes on"
	exec 7>&-

	# On and off while it runs.
	"$uret" bench 2 600 >/dev/null &
	load=$!
	bad=0
	for n in 1 2 3 4 5; do
		kretpool uattach "$uret:u_leaf" >/dev/null || bad=1
		wait_for '[ "$(awk "\$2 == \"attached\" { print \$6 }" $proc/control)" -gt 100 ]' || bad=1
		kretpool detach all >/dev/null || bad=1
	done
	ok $bad "five times attached and detached while calls are made"
	kill -0 $load
	ok $? "the program runs on"
	kill $load
	wait $load 2>/dev/null
	is "$(grep -vc '^#' $proc/control) $(grep -c "$uret" $proc/probes)" "1 0" "nothing is left of them"
}

if [ -x "$here/uret" ] && [ -x "$here/uret-pie" ] && [ -x "$here/uret-dynsym" ]; then
	user_functions
else
	echo "# functions of programs: the programs are not here"
fi

if [ -e "$here/kretpool_bench.ko" ]; then
	load kretpool_bench
	kretpool bench >"$work/out" 2>&1
	is "$? $(awk '$1 == "kretpool" && $2 > 0 { print $5 }' "$work/out")" "0 0" "bench measures, and misses nothing"
	sed 's/^/# /' "$work/out"
	rmmod kretpool_bench
fi

done_testing
