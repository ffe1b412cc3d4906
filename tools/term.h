/* SPDX-License-Identifier: GPL-2.0-only */
/* A terminal, as a program that fills it needs it, and as it was before. */
#ifndef KRP_TOOL_TERM_H
#define KRP_TOOL_TERM_H

#include <stdbool.h>

/**
 * struct term_size - of the terminal
 * @rows: lines, 24 if it does not say
 * @cols: columns, 80 if it does not say
 */
struct term_size {
	unsigned int rows;
	unsigned int cols;
};

/* What term_wait() has returned for, if not for a key. */
#define TERM_TIME	-1
#define TERM_RESIZED	-2
#define TERM_ENDED	-3

struct term_size term_size(void);
int term_begin(void);
void term_end(void);
int term_wait(unsigned int ms);
int term_signal(void);

#endif /* KRP_TOOL_TERM_H */
