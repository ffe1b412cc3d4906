// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of latencies. */

#include <inttypes.h>

#include "hist.h"

/* What a line of a drawing takes beside its bar. */
#define DRAW_TEXT	42
#define DRAW_BAR_MIN	8
#define DRAW_BAR_MAX	60

/**
 * hist_add() - add latencies to others
 * @sum: the others
 * @more: what is added
 * @edges: of both
 */
void hist_add(struct hist *sum, const struct hist *more, const struct hist_edges *edges)
{
	unsigned int i;

	sum->calls += more->calls;
	sum->total_ns += more->total_ns;
	if (more->max_ns > sum->max_ns)
		sum->max_ns = more->max_ns;
	for (i = 0; i < edges->nr; i++)
		sum->buckets[i] += more->buckets[i];
}

/* What is counted on several CPUs and read one after the other may seem to step back. */
static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/**
 * hist_since() - what has come between two readings
 * @delta: filled in; the longest call is known to within its bucket
 * @now: the later reading
 * @then: the earlier one
 * @edges: of all
 */
void hist_since(struct hist *delta, const struct hist *now, const struct hist *then,
		const struct hist_edges *edges)
{
	unsigned int i;

	*delta = (struct hist){ .total_ns = minus(now->total_ns, then->total_ns) };
	for (i = 0; i < edges->nr; i++) {
		delta->buckets[i] = minus(now->buckets[i], then->buckets[i]);
		delta->calls += delta->buckets[i];
		if (!delta->buckets[i])
			continue;
		delta->max_ns = now->max_ns;
		if (edges->below[i] - 1 < delta->max_ns)
			delta->max_ns = edges->below[i] - 1;
	}
}

/**
 * hist_percentile() - the latency that a part of the calls did not exceed
 * @hist: the latencies
 * @edges: their buckets
 * @part: from 0 to 1
 *
 * Within a bucket calls are taken to be spread evenly: the result is off by
 * less than the bucket's width, a factor of 2.
 *
 * Return: nanoseconds; 0 if there were no calls.
 */
uint64_t hist_percentile(const struct hist *hist, const struct hist_edges *edges, double part)
{
	uint64_t calls = 0, below = 0, from = 0;
	double rank;
	unsigned int i;

	for (i = 0; i < edges->nr; i++)
		calls += hist->buckets[i];
	rank = part * calls;
	for (i = 0; i < edges->nr; i++) {
		uint64_t n = hist->buckets[i], to = edges->below[i], ns;

		if (n && below + n >= rank) {
			if (to > hist->max_ns)
				to = hist->max_ns;
			if (to < from)
				return from;
			ns = from + (uint64_t)((to - from) * ((rank - below) / n));
			return ns;
		}
		below += n;
		from = edges->below[i];
	}
	return 0;
}

static unsigned int bar_width(unsigned int width)
{
	unsigned int bar = width > DRAW_TEXT + DRAW_BAR_MIN ? width - DRAW_TEXT : DRAW_BAR_MIN;

	return bar < DRAW_BAR_MAX ? bar : DRAW_BAR_MAX;
}

static void draw_bar(FILE *out, uint64_t n, uint64_t most, unsigned int width)
{
	unsigned int i, stars = (unsigned int)((double)n / most * width + 0.5);

	/* Nothing that was there is shown as nothing. */
	if (n && !stars)
		stars = 1;
	fputc('|', out);
	for (i = 0; i < width; i++)
		fputc(i < stars ? '*' : ' ', out);
	fputs("|\n", out);
}

/**
 * hist_draw() - draw a histogram as funclatency does
 * @out: where to
 * @hist: the latencies
 * @edges: their buckets
 * @width: of the terminal
 */
void hist_draw(FILE *out, const struct hist *hist, const struct hist_edges *edges,
	       unsigned int width)
{
	unsigned int i, first = edges->nr, last = 0, bar = bar_width(width);
	uint64_t most = 0;

	for (i = 0; i < edges->nr; i++) {
		if (!hist->buckets[i])
			continue;
		if (first > i)
			first = i;
		last = i;
		if (hist->buckets[i] > most)
			most = hist->buckets[i];
	}
	if (!most) {
		fputs("no calls yet\n", out);
		return;
	}
	fprintf(out, "%12s    %-12s %-10s %s\n", "from ns", "to ns", "calls", "distribution");
	for (i = first; i <= last; i++) {
		fprintf(out, "%12" PRIu64, i ? edges->below[i - 1] : 0);
		if (edges->below[i] == UINT64_MAX)
			fprintf(out, " -> %-12s ", "...");
		else
			fprintf(out, " -> %-12" PRIu64 " ", edges->below[i] - 1);
		fprintf(out, "%-10" PRIu64 " ", hist->buckets[i]);
		draw_bar(out, hist->buckets[i], most, bar);
	}
}

/**
 * hist_time() - a time for people
 * @buf: takes the text
 * @size: of @buf
 * @ns: nanoseconds
 *
 * Return: @buf, with three digits and a unit.
 */
const char *hist_time(char *buf, size_t size, uint64_t ns)
{
	static const char * const units[] = { "ns", "us", "ms", "s" };
	double value = ns;
	unsigned int unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, size, "%.*f%s", !unit || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2,
		 value, units[unit]);
	return buf;
}
