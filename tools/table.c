// SPDX-License-Identifier: GPL-2.0-only
/* Tables as /proc/kretpool shows them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end++ = '\0';
	*text = end;
	return line;
}

static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t"), *end;

	if (!*word)
		return NULL;
	end = word + strcspn(word, " \t");
	*line = end + (*end != '\0');
	*end = '\0';
	return word;
}

/* Room for one pointer more in an array that doubles. */
static int grow(char ***array, size_t nr, size_t more)
{
	size_t have = nr ? 1 : 0, want = 1;
	char **bigger;

	while (have && have < nr)
		have *= 2;
	while (want < nr + more)
		want *= 2;
	if (want <= have)
		return 0;
	bigger = realloc(*array, want * sizeof(**array));
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	return 0;
}

static int parse_header(struct table *table, char *line)
{
	char *word;

	while ((word = next_word(&line))) {
		if (grow(&table->names, table->nr_cols, 1))
			return -ENOMEM;
		table->names[table->nr_cols++] = word;
	}
	return table->nr_cols ? 0 : -EINVAL;
}

static int parse_row(struct table *table, char *line)
{
	size_t used = table->nr_rows * table->nr_cols, i;
	char **row;

	if (grow(&table->cells, used, table->nr_cols))
		return -ENOMEM;
	row = &table->cells[used];
	for (i = 0; i + 1 < table->nr_cols; i++) {
		row[i] = next_word(&line);
		if (!row[i])
			break;
	}
	if (i + 1 == table->nr_cols) {
		line += strspn(line, " \t");
		row[i] = *line ? line : NULL;
	}
	if (i + 1 == table->nr_cols && row[i])
		table->nr_rows++;
	else
		table->nr_broken++;
	return 0;
}

/**
 * table_parse() - take a table apart
 * @table: filled in; points into @text
 * @text: a file's content, changed
 *
 * Return: 0, -EINVAL if there is no line of column names, -ENOMEM.
 */
int table_parse(struct table *table, char *text)
{
	char *line;
	int ret = 0;

	*table = (struct table){};
	while (!ret && (line = next_line(&text))) {
		if (!strncmp(line, "# ", 2))
			table->note = line + 2;
		else if (!table->nr_cols)
			ret = parse_header(table, line);
		else if (line[strspn(line, " \t")])
			ret = parse_row(table, line);
	}
	if (!ret && !table->nr_cols)
		ret = -EINVAL;
	if (ret)
		table_free(table);
	return ret;
}

/**
 * table_free() - free what table_parse() has allocated
 * @table: a table; empty afterwards
 */
void table_free(struct table *table)
{
	free(table->names);
	free(table->cells);
	*table = (struct table){};
}

/**
 * table_col() - find a column
 * @table: a table
 * @name: the column's name
 *
 * Return: its number, -1 if there is none.
 */
int table_col(const struct table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->nr_cols; i++)
		if (!strcmp(table->names[i], name))
			return i;
	return -1;
}

/**
 * table_text() - a cell
 * @table: a table
 * @row: from 0
 * @col: from table_col()
 *
 * Return: its text, "" if there is no such column.
 */
const char *table_text(const struct table *table, size_t row, int col)
{
	return col < 0 ? "" : table->cells[row * table->nr_cols + col];
}

/**
 * table_number() - a cell that is to hold a number
 * @table: a table
 * @row: from 0
 * @col: from table_col()
 * @number: set if it does
 *
 * Return: does it?
 */
bool table_number(const struct table *table, size_t row, int col, uint64_t *number)
{
	const char *text = table_text(table, row, col);
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end)
		return false;
	*number = value;
	return true;
}

/**
 * table_count() - a cell that is to hold a number
 * @table: a table
 * @row: from 0
 * @col: from table_col()
 *
 * Return: the number, 0 if it holds none.
 */
uint64_t table_count(const struct table *table, size_t row, int col)
{
	uint64_t number = 0;

	table_number(table, row, col, &number);
	return number;
}
