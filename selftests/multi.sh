#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The tests of test_multi.c.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
run_group multi
