// SPDX-License-Identifier: GPL-2.0-only
/* Frames of top: figures, order, and that they fit into any window. */

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "tap.h"

#define CONTROL	"id state functions hits missed_empty inflight patterns\n"
#define LATENCY	"id function total_ns max_ns lt_1024 lt_2048 more\n"

static struct model before, after;

static void setup(void)
{
	model_parse(&before, strdup(CONTROL "1 attached 3 100 0 0 f_*\n"),
		    strdup(LATENCY "1 f_often 1000 900 50 0 0\n1 f_idle 10 10 1 0 0\n"));
	model_parse(&after, strdup(CONTROL "1 attached 3 400 10 2 f_*\n2 attached 1 0 0 0 g\n"),
		    strdup(LATENCY "1 f_often 3000 900 250 0 0\n1 f_idle 10 10 1 0 0\n"
			   "1 f_long 4000000000 2000000000 0 0 2\n"));
}

/* noinline: GCC 12 takes what open_memstream() allocates for the variable. */
[[gnu::noinline]] static char *print(const struct model *now, const struct model *then, enum frame_sort sort,
				     struct term_size size)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	frame_print(out, now, then, 2, sort, size);
	fclose(out);
	return text;
}

static void test_figures(void)
{
	char *text = print(&after, &before, SORT_TIME, (struct term_size){ 24, 100 });

	CHECK(strstr(text, "2 attached, 4 functions, 150 calls/s"));
	CHECK(strstr(text, "1: 3 functions, 2 in flight, missed 5/s, 10 in all: f_*"));
	/* 200 calls in 2 s. */
	CHECK(strstr(text, "  1          100 "));
	/* 4 s in 2 s. */
	CHECK(strstr(text, "200.00%  f_long"));
	CHECK(!strstr(text, "f_idle"));
	free(text);
}

static bool first(const char *text, const char *a, const char *b)
{
	return strstr(text, a) && strstr(text, b) && strstr(text, a) < strstr(text, b);
}

static void test_order(void)
{
	char *text = print(&after, &before, SORT_TIME, (struct term_size){ 24, 80 });

	CHECK(first(text, "f_long", "f_often"));
	free(text);
	text = print(&after, &before, SORT_CALLS, (struct term_size){ 24, 80 });
	CHECK(first(text, "f_often", "f_long"));
	CHECK(strstr(text, "by calls"));
	free(text);
	text = print(&after, &before, SORT_MAX, (struct term_size){ 24, 80 });
	CHECK(first(text, "f_long", "f_often"));
	free(text);
}

static void test_windows(void)
{
	struct term_size size;

	for (size.rows = 1; size.rows < 12; size.rows++) {
		for (size.cols = 1; size.cols < 130; size.cols += 7) {
			char *text = print(&after, &before, SORT_P99, size), *c;
			unsigned int lines = 0, width = 0;

			tap_note("%u rows, %u columns", size.rows, size.cols);
			for (c = text; *c; c++) {
				width = *c == '\n' ? 0 : width + 1;
				lines += *c == '\n';
				CHECK(width <= size.cols);
			}
			CHECK(lines <= size.rows);
			free(text);
		}
	}
}

static void test_nothing(void)
{
	struct model none;
	char *text;

	model_parse(&none, strdup(CONTROL), strdup(LATENCY));
	text = print(&none, &after, SORT_TIME, (struct term_size){ 24, 80 });
	CHECK(strstr(text, "Nothing is attached"));
	free(text);
	model_free(&none);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(figures),
		TAP_TEST(order),
		TAP_TEST(windows),
		TAP_TEST(nothing),
	};
	int ret;

	setup();
	ret = tap_run(tests, sizeof(tests) / sizeof(*tests));
	model_free(&before);
	model_free(&after);
	return ret;
}
