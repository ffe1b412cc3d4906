#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Writes at random to every file that takes writes, and looks at what users
# without rights can do. FUZZ_COUNT: how many writes; FUZZ_SEED: a seed that an
# earlier run has printed, to be replayed; FUZZ_VERBOSE=1: each write is printed.
# Lists of words are split.
# shellcheck disable=SC2086
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

command -v fuzz >/dev/null || skip_all "the program fuzz is not here"
count=${FUZZ_COUNT:-20000}
nobody=65534

# There are parameters in the modules for tests, too.
for module in kretpool_test kretpool_sample kretpool_victim; do
	load $module 2>/dev/null
done
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
commands=$(find /proc/kretpool -type f -perm -200)
params=$(find /sys/module/kretpool*/parameters -type f -perm -200 2>/dev/null)
files="$commands $params"
echo "# files:" $commands $params
for file in $params; do
	cat "$file" >"$kept/$(echo "$file" | tr / _)"
done

if [ "$files" = " " ]; then
	tests=$((tests + 1))
	echo "ok $tests random writes # SKIP there is no file that can be written"
else
	# Names that exist reach further than those that do not.
	awk '$3 ~ /^(vfs|do|krp|__x64_sys|__arm64_sys)_/ { print $3 }' /proc/kallsyms | head -n 2000 >"$kept/words"
	# Not of a program that runs: an instruction in the midst of others is its end.
	# Several times, as it takes all that is in one of these lines.
	if [ -x "$here/uret" ]; then
		uret=$(cd "$here" && pwd)/uret
		"$uret" offsets | awk -v path="$uret" '{
			for (i = 0; i < 4; i++) {
				print path
				print $2
				print $2 ":" $1
				print "uattach " path " " $2 ":" $1
				print "uattach " path " " $2 " " path " " $2 ":" $1
			}
		}' >>"$kept/words"
	fi
	# Of very many no more than some hundred are to be commands that take long.
	rare=1
	[ "$count" -le 20000 ] || rare=$((count / 2000))
	set -- -r $rare ${FUZZ_SEED:+-s "$FUZZ_SEED"} ${FUZZ_VERBOSE:+-v}
	fuzz "$@" -n "$count" -d "$kept/words" $files
	ok $? "$count random writes"
	# And several at once.
	fuzz "$@" -n "$((count / 4))" -j 4 -d "$kept/words" $files
	ok $? "$((count / 4)) random writes, 4 at once"
	for file in $params; do
		cat "$kept/$(echo "$file" | tr / _)" >"$file"
	done
fi

for file in $commands; do
	echo "detach all" >"$file"
done
cat /proc/kretpool/probes >/dev/null && cat /proc/kretpool/pools >/dev/null
ok $? "kretpool answers as before"
is "$(awk 'NR > 1 && $2 != "vfs_read" && $3 != "draining"' /proc/kretpool/probes | wc -l)" "$(
	awk 'NR > 1 && $2 != "vfs_read" && $3 == "enabled"' /proc/kretpool/probes | wc -l)" \
	"and has nothing in a state that it should not be in"

# shellcheck disable=SC2046
fuzz unprivileged $nobody /proc/kretpool /proc/kretpool_test $(echo /sys/module/kretpool*)
ok $? "a user without rights can write nothing, and reads no addresses"
if [ -n "$commands" ]; then
	fuzz powerless $commands
	ok $? "root without capabilities gives no commands"
fi
rmmod kretpool_sample kretpool_victim 2>/dev/null

done_testing
