// SPDX-License-Identifier: GPL-2.0-only
/* A frame of top. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

const char * const frame_sorts[NR_SORTS] = { "time", "calls", "p50", "p99", "max" };

/* What a line takes beside the function's name. */
#define COLUMNS		56
#define NAME_MIN	16
#define LINE_MAX_LEN	512

/**
 * struct line - of a function
 * @func: the function
 * @delta: what has come since
 * @p50: of that
 * @p99: likewise
 */
struct line {
	const struct function *func;
	struct hist delta;
	uint64_t p50;
	uint64_t p99;
};

/* qsort() hands its comparison nothing else. */
static enum frame_sort sort_by;

static uint64_t sort_key(const struct line *line)
{
	switch (sort_by) {
	case SORT_CALLS:
		return line->delta.calls;
	case SORT_P50:
		return line->p50;
	case SORT_P99:
		return line->p99;
	case SORT_MAX:
		return line->delta.max_ns;
	default:
		return line->delta.total_ns;
	}
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	uint64_t i = sort_key(x), j = sort_key(y);

	if (i != j)
		return i < j ? 1 : -1;
	return strcmp(x->func->name, y->func->name);
}

static size_t make_lines(struct line *lines, const struct model *now, const struct model *then)
{
	static const struct hist none;
	size_t i, nr = 0;

	for (i = 0; i < now->nr_functions; i++) {
		const struct function *func = &now->functions[i];
		const struct function *old = model_function(then, func);
		struct line *line = &lines[nr];

		hist_since(&line->delta, &func->hist, old ? &old->hist : &none, &now->edges);
		if (!line->delta.calls)
			continue;
		line->func = func;
		line->p50 = hist_percentile(&line->delta, &now->edges, 0.5);
		line->p99 = hist_percentile(&line->delta, &now->edges, 0.99);
		nr++;
	}
	return nr;
}

/* A line that is no wider than the terminal: a broken one would scroll. */
static void put_line(FILE *out, struct term_size size, const char *text)
{
	fprintf(out, "%.*s\n", (int)size.cols, text);
}

static void put_summary(FILE *out, const struct model *now, const struct model *then,
			double seconds, enum frame_sort sort, struct term_size size)
{
	uint64_t functions = 0, hits = 0, old_hits = 0;
	char text[LINE_MAX_LEN];
	size_t i;

	for (i = 0; i < now->nr_attached; i++) {
		const struct attachment *att = &now->attached[i];
		const struct attachment *old = model_attachment(then, att->id);

		functions += att->functions;
		hits += att->hits;
		old_hits += old ? old->hits : 0;
	}
	snprintf(text, sizeof(text), "kretpool: %zu attached, %" PRIu64 " functions, %.0f calls/s; by %s%s",
		 now->nr_attached, functions, hits > old_hits ? (hits - old_hits) / seconds : 0.0,
		 frame_sorts[sort], size.rows ? ", s: sort, q: quit" : "");
	put_line(out, size, text);
}

/* A line for each attachment; returns how many. */
static unsigned int put_attached(FILE *out, const struct model *now, const struct model *then,
				 double seconds, struct term_size size, unsigned int room)
{
	char text[LINE_MAX_LEN];
	unsigned int n;

	for (n = 0; n < now->nr_attached && n < room; n++) {
		const struct attachment *att = &now->attached[n];
		const struct attachment *old = model_attachment(then, att->id);
		uint64_t missed = attachment_missed(att);
		uint64_t before = old ? attachment_missed(old) : 0;

		snprintf(text, sizeof(text), "%3" PRIu64 ": %" PRIu64 " functions, %" PRIu64
			 " in flight, missed %.0f/s, %" PRIu64 " in all: %s", att->id,
			 att->functions, att->inflight,
			 missed > before ? (missed - before) / seconds : 0.0, missed, att->patterns);
		put_line(out, size, text);
	}
	return n;
}

static void put_function(FILE *out, const struct line *line, double seconds,
			 struct term_size size)
{
	unsigned int width = size.cols > COLUMNS + NAME_MIN ? size.cols - COLUMNS : NAME_MIN;
	char text[LINE_MAX_LEN], p50[16], p99[16], max[16];

	snprintf(text, sizeof(text), "%3" PRIu64 " %12.0f %8s %8s %8s %8.2f%%  %.*s",
		 line->func->id, line->delta.calls / seconds,
		 hist_time(p50, sizeof(p50), line->p50), hist_time(p99, sizeof(p99), line->p99),
		 hist_time(max, sizeof(max), line->delta.max_ns),
		 line->delta.total_ns / seconds / 1e7, (int)width, line->func->name);
	put_line(out, size, text);
}

/**
 * frame_print() - print what happened between two readings
 * @out: where to
 * @now: the later reading
 * @then: the earlier one
 * @seconds: between the two
 * @sort: which functions come first
 * @size: what there is room for; no limit if rows is 0
 *
 * TIME is time spent in a function's calls, 100 % if one was always running.
 */
void frame_print(FILE *out, const struct model *now, const struct model *then, double seconds,
		 enum frame_sort sort, struct term_size size)
{
	struct line *lines = calloc(now->nr_functions + 1, sizeof(*lines));
	unsigned int rows = size.rows ? size.rows : 1000000, used;
	size_t i, nr;

	if (!lines)
		return;
	if (seconds <= 0)
		seconds = 1;
	nr = make_lines(lines, now, then);
	sort_by = sort;
	qsort(lines, nr, sizeof(*lines), compare);
	put_summary(out, now, then, seconds, sort, size);
	used = 1 + put_attached(out, now, then, seconds, size, rows / 3);
	if (used + 1 < rows)
		put_line(out, size, " ID      CALLS/S      P50      P99      MAX      TIME  FUNCTION");
	/* The last row stays empty: a newline there would scroll. */
	for (i = 0; i < nr && used + 2 + i < rows; i++)
		put_function(out, &lines[i], seconds, size);
	if (!now->nr_attached)
		put_line(out, size, "Nothing is attached. Next: kretpool attach 'vfs_*'");
	free(lines);
}
