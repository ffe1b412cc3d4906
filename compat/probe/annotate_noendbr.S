/* SPDX-License-Identifier: GPL-2.0-only */
/* 5.18 (c8c301abeae5): tells objtool of addresses without an ENDBR. */
#include <linux/linkage.h>
#include <linux/objtool.h>

	ANNOTATE_NOENDBR
