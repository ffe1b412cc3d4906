// SPDX-License-Identifier: GPL-2.0-only
/* How near one word is to another. */

#include <string.h>

#include "distance.h"

#define LENGTH_MAX	32

/**
 * distance() - changes of one letter that make a word out of another
 * @a: a word
 * @b: another
 *
 * Levenshtein's distance.
 *
 * Return: how many, or 32 if a word is longer than 31 letters.
 */
unsigned int distance(const char *a, const char *b)
{
	size_t a_len = strnlen(a, LENGTH_MAX), len = strnlen(b, LENGTH_MAX);
	unsigned int row[LENGTH_MAX], i, j;

	if (len >= LENGTH_MAX || a_len >= LENGTH_MAX)
		return LENGTH_MAX;
	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 1; i <= a_len; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= len; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[len];
}
