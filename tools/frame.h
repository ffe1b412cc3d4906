/* SPDX-License-Identifier: GPL-2.0-only */
/* A frame of top: what happened between two readings. */
#ifndef KRP_TOOL_FRAME_H
#define KRP_TOOL_FRAME_H

#include <stdio.h>

#include "model.h"
#include "term.h"

enum frame_sort {
	SORT_TIME,
	SORT_CALLS,
	SORT_P50,
	SORT_P99,
	SORT_MAX,
	NR_SORTS,
};

extern const char * const frame_sorts[NR_SORTS];

void frame_print(FILE *out, const struct model *now, const struct model *then, double seconds,
		 enum frame_sort sort, struct term_size size);

#endif /* KRP_TOOL_FRAME_H */
