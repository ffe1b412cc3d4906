# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Sourced by the tests of what upstream's modules say in the kernel's log.

# A line that this run's part of the log begins with.
mark="kretpool-upstream: $0 $$"
echo "$mark" >/dev/kmsg

# The log since then, without time stamps.
log() {
	dmesg | sed 's/^\[[^]]*\] \{0,1\}//' | sed "1,\\|^$mark\$|d"
}

# upstream MODULE: it is here, or the test is skipped.
upstream() {
	[ -e "$here/$1.ko" ] || skip_all "$1.ko is not here: scripts/test-upstream builds it"
}
