/* SPDX-License-Identifier: GPL-2.0-only */
/* How near one word is to another. */
#ifndef KRP_TOOL_DISTANCE_H
#define KRP_TOOL_DISTANCE_H

unsigned int distance(const char *a, const char *b);

#endif /* KRP_TOOL_DISTANCE_H */
