/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables that /proc/kretpool shows: a line of column names, a line per row,
 * lines that begin with "# " for people. Columns are found by name, so that a
 * newer module may have more, and an older one lack some.
 */
#ifndef KRP_TOOL_TABLE_H
#define KRP_TOOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct table - a table, taken apart
 * @names: of the columns
 * @nr_cols: how many
 * @cells: row after row, @nr_cols each; what is behind the last column's first
 *         word belongs to that
 * @nr_rows: how many; rows that lack columns are not among them
 * @nr_broken: rows that lack columns
 * @note: the last line for people, without "# "; or NULL
 */
struct table {
	char **names;
	size_t nr_cols;
	char **cells;
	size_t nr_rows;
	size_t nr_broken;
	char *note;
};

int table_parse(struct table *table, char *text);
void table_free(struct table *table);
int table_col(const struct table *table, const char *name);
const char *table_text(const struct table *table, size_t row, int col);
bool table_number(const struct table *table, size_t row, int col, uint64_t *number);
uint64_t table_count(const struct table *table, size_t row, int col);

#endif /* KRP_TOOL_TABLE_H */
