/* SPDX-License-Identifier: GPL-2.0-only */
/* x86, 6.4: a hint for code that nobody unwinds through. */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>

	UNWIND_HINT_UNDEFINED
