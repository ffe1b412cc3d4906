#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stack traces through hooked calls: test_trace.c.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
run_group trace
