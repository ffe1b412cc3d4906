#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the kernel's leak detector finds after all that ran before. Needs a kernel
# with kmemleak (scripts/debug-kernel kasan).
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

[ -w $kmemleak ] || skip_all "the kernel has no leak detector"

no_leaks "with the modules loaded:"
unload
ok $? "kretpool is unloaded"
# What only a module pointed to shows now.
no_leaks "with the modules unloaded:"
# It switches itself off when it runs out of memory.
! dmesg | grep -q 'kmemleak: .*disabled'
ok $? "the leak detector was at work"
load kretpool

done_testing
