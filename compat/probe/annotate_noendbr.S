/* SPDX-License-Identifier: GPL-2.0-only */
/* 5.18: tells objtool of addresses without an ENDBR. */
#include <linux/linkage.h>
#include <linux/objtool.h>

	ANNOTATE_NOENDBR
