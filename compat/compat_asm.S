/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels for assembly files. */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/unwind_hints.h>

#include "krp_features.h"

/* 6.4: UNWIND_HINT_UNDEFINED; before, the raw form. */
.macro KRP_UNWIND_UNDEFINED
#ifdef KRP_HAVE_UNWIND_HINT_UNDEFINED
	UNWIND_HINT_UNDEFINED
#else
	UNWIND_HINT sp_reg=ORC_REG_UNDEFINED type=UNWIND_HINT_TYPE_CALL
#endif
.endm

/* 5.18: objtool wants to know of labels without an ENDBR. */
.macro KRP_NOENDBR
#ifdef KRP_HAVE_ANNOTATE_NOENDBR
	ANNOTATE_NOENDBR
#endif
.endm

/* 5.17: RET, which becomes whatever the processor needs. */
#ifndef RET
#define RET	ret
#endif
