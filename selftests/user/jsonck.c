// SPDX-License-Identifier: GPL-2.0-only
/*
 * jsonck: is standard input one value in JSON, strictly, and nothing else?
 *
 * Exit status: 0 it is; 1 it is not, after a line that says where.
 */

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	64

static char text[16 << 20];
static const char *at = text;

static bool value(int depth);

static void blank(void)
{
	at += strspn(at, " \t\r\n");
}

static bool word(const char *expected)
{
	size_t len = strlen(expected);

	if (strncmp(at, expected, len))
		return false;
	at += len;
	return true;
}

static bool digits(void)
{
	if (!isdigit((unsigned char)*at))
		return false;
	while (isdigit((unsigned char)*at))
		at++;
	return true;
}

static bool number(void)
{
	word("-");
	if (!word("0") && !digits())
		return false;
	if (word(".") && !digits())
		return false;
	if (*at == 'e' || *at == 'E') {
		at++;
		if (*at == '+' || *at == '-')
			at++;
		return digits();
	}
	return true;
}

static bool string(void)
{
	if (!word("\""))
		return false;
	while (*at && *at != '"') {
		if ((unsigned char)*at < ' ')
			return false;
		if (*at++ != '\\')
			continue;
		if (*at == 'u') {
			if (strspn(at + 1, "0123456789abcdefABCDEF") < 4)
				return false;
			at += 4;
		} else if (!*at || !strchr("\"\\/bfnrt", *at)) {
			return false;
		}
		at++;
	}
	return word("\"");
}

/* What stands between two brackets: values, with their names if it is an object. */
static bool members(int depth, const char *end, bool named)
{
	blank();
	if (word(end))
		return true;
	do {
		blank();
		if (named) {
			if (!string())
				return false;
			blank();
			if (!word(":"))
				return false;
		}
		if (!value(depth))
			return false;
		blank();
	} while (word(","));
	return word(end);
}

static bool value(int depth)
{
	blank();
	if (depth > DEPTH_MAX)
		return false;
	if (word("{"))
		return members(depth + 1, "}", true);
	if (word("["))
		return members(depth + 1, "]", false);
	if (*at == '"')
		return string();
	return word("true") || word("false") || word("null") || number();
}

int main(void)
{
	size_t len = fread(text, 1, sizeof(text) - 1, stdin);
	bool good = value(0);

	blank();
	if (good && at == text + len)
		return 0;
	printf("# byte %td: %.40s\n", at - text, at);
	return 1;
}
