# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Sourced by the tests of what upstream's modules say in the kernel's log.

# log_mark TEXT: a line after which log begins.
log_mark() {
	mark="kretpool-upstream: $$ $1"
	echo "$mark" >/dev/kmsg
}

# The log since then, without time stamps.
log() {
	dmesg | sed 's/^\[[^]]*\] \{0,1\}//' | awk -v mark="$mark" 'on; $0 == mark { on = 1 }'
}

log_mark "$0"

# upstream MODULE: it is here, or the test is skipped.
upstream() {
	# shellcheck disable=SC2154 # here: lib.sh's
	[ -e "$here/$1.ko" ] || skip_all "$1.ko is not here: scripts/test-upstream builds it"
}
