// SPDX-License-Identifier: GPL-2.0-only
/* Tables: what is well-formed, what is cut off, what is nonsense. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tap.h"

/* Parses a copy that ends where its memory ends; *copy is to be freed. */
static int parse(struct table *table, const char *text, char **copy)
{
	*copy = strdup(text);
	return table_parse(table, *copy);
}

static void test_plain(void)
{
	struct table t;
	char *text;

	CHECK_EQ(parse(&t, "id name words\n1 a b c d\n22 e f\n", &text), 0);
	CHECK_EQ(t.nr_cols, 3);
	CHECK_EQ(t.nr_rows, 2);
	CHECK_EQ(t.nr_broken, 0);
	CHECK(!t.note);
	CHECK(!strcmp(table_text(&t, 0, table_col(&t, "words")), "b c d"));
	CHECK_EQ(table_count(&t, 1, table_col(&t, "id")), 22);
	CHECK_EQ(table_col(&t, "nam"), -1);
	table_free(&t);
	free(text);
}

static void test_notes(void)
{
	struct table t;
	char *text;

	CHECK_EQ(parse(&t, "id x\n# ok: one\n1 2\n# error: two\n", &text), 0);
	CHECK_EQ(t.nr_rows, 1);
	CHECK(t.note && !strcmp(t.note, "error: two"));
	table_free(&t);
	free(text);
}

static void test_missing_columns(void)
{
	struct table t;
	uint64_t n = 7;
	char *text;

	CHECK_EQ(parse(&t, "id x y\n1 2\n1\n3 4 5\n\n\t\n9 9 9", &text), 0);
	CHECK_EQ(t.nr_rows, 2);
	CHECK_EQ(t.nr_broken, 2);
	CHECK_EQ(table_count(&t, 0, table_col(&t, "y")), 5);
	CHECK_EQ(table_count(&t, 1, table_col(&t, "y")), 9);
	/* A column that there is not. */
	CHECK(!*table_text(&t, 0, table_col(&t, "z")));
	CHECK(!table_number(&t, 0, table_col(&t, "z"), &n));
	CHECK_EQ(n, 7);
	CHECK_EQ(table_count(&t, 0, table_col(&t, "z")), 0);
	table_free(&t);
	free(text);
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t number;
	} cases[] = {
		{ "0", true, 0 },
		{ "007", true, 7 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "-1", false, 0 },
		{ "+1", false, 0 },
		{ "0x10", false, 0 },
		{ "1.5", false, 0 },
		{ "1a", false, 0 },
		{ "?", false, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[64], *text;
		uint64_t n = 0;
		struct table t;

		tap_note("%s", cases[i].text);
		snprintf(line, sizeof(line), "x\n%s\n", cases[i].text);
		CHECK_EQ(parse(&t, line, &text), 0);
		CHECK_EQ(table_number(&t, 0, 0, &n), cases[i].good);
		CHECK_EQ(n, cases[i].number);
		table_free(&t);
		free(text);
	}
}

static void test_nothing(void)
{
	struct table t;
	char *text;

	CHECK_EQ(parse(&t, "", &text), -EINVAL);
	free(text);
	CHECK_EQ(parse(&t, "# only: this\n", &text), -EINVAL);
	free(text);
	CHECK_EQ(parse(&t, "\n", &text), -EINVAL);
	free(text);
	CHECK_EQ(parse(&t, "id x\n", &text), 0);
	CHECK_EQ(t.nr_rows, 0);
	table_free(&t);
	free(text);
}

static void test_many(void)
{
	const size_t rows = 5000;
	char *text = malloc(rows * 32 + 32), *end = text;
	struct table t;
	size_t i;

	end += sprintf(end, "id a b c\n");
	for (i = 0; i < rows; i++)
		end += sprintf(end, "%zu 1 2 3\n", i);
	CHECK_EQ(table_parse(&t, text), 0);
	CHECK_EQ(t.nr_rows, rows);
	for (i = 0; i < rows; i++)
		CHECK_EQ(table_count(&t, i, 0), i);
	table_free(&t);
	free(text);
}

/* A file that changes while it is read can end anywhere. */
static void test_cut_off(void)
{
	static const char whole[] = "id function calls\n1 vfs_read 100\n2 vfs_write 200\n# ok: x\n";
	size_t len;

	for (len = 0; len < sizeof(whole); len++) {
		char *text = strndup(whole, len);
		struct table t;

		if (!table_parse(&t, text)) {
			CHECK(t.nr_rows <= 2);
			table_free(&t);
		}
		free(text);
	}
}

static void test_garbage(void)
{
	unsigned int seed = 1, i, j;

	for (i = 0; i < 20000; i++) {
		char text[128], *copy;
		struct table t;

		for (j = 0; j < sizeof(text) - 1; j++)
			text[j] = "\n\n  \t#ab01-9\x80"[rand_r(&seed) % 13];
		text[rand_r(&seed) % sizeof(text)] = '\0';
		text[sizeof(text) - 1] = '\0';
		if (!parse(&t, text, &copy)) {
			for (j = 0; j < t.nr_rows * t.nr_cols; j++)
				CHECK(t.cells[j]);
			table_free(&t);
		}
		free(copy);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(plain),
		TAP_TEST(notes),
		TAP_TEST(missing_columns),
		TAP_TEST(numbers),
		TAP_TEST(nothing),
		TAP_TEST(many),
		TAP_TEST(cut_off),
		TAP_TEST(garbage),
	};

	return tap_run(tests, sizeof(tests) / sizeof(*tests));
}
