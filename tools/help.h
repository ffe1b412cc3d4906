/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts about the commands. */
#ifndef KRP_TOOL_HELP_H
#define KRP_TOOL_HELP_H

#include <stdio.h>

/**
 * struct help - of a command
 * @name: what is typed
 * @arguments: and then
 * @summary: a line
 * @text: more
 */
struct help {
	const char *name;
	const char *arguments;
	const char *summary;
	const char *text;
};

const char *help_guess(const char *word);
void help_all(FILE *out);

#endif /* KRP_TOOL_HELP_H */
