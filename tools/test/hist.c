// SPDX-License-Identifier: GPL-2.0-only
/* Histograms: percentiles against the latencies themselves, what is drawn. */

#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "tap.h"

static struct hist_edges edges;

static void setup(void)
{
	unsigned int i;

	edges.nr = 38;
	for (i = 0; i < 37; i++)
		edges.below[i] = 2ULL << i;
	edges.below[37] = UINT64_MAX;
}

static void count(struct hist *hist, uint64_t ns)
{
	unsigned int i = 0;

	while (ns >= edges.below[i])
		i++;
	hist->buckets[i]++;
	hist->calls++;
	hist->total_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_percentiles(void)
{
	static const double parts[] = { 0.01, 0.25, 0.5, 0.9, 0.99, 1 };
	static uint64_t ns[10000];
	unsigned int seed = 1, round, i;

	for (round = 0; round < 50; round++) {
		unsigned int nr = 1 + rand_r(&seed) % 10000;
		struct hist hist = {};

		for (i = 0; i < nr; i++) {
			ns[i] = (uint64_t)rand_r(&seed) >> (rand_r(&seed) % 31);
			count(&hist, ns[i]);
		}
		qsort(ns, nr, sizeof(*ns), compare);
		for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			unsigned int rank = (unsigned int)(parts[i] * nr);
			uint64_t exact = ns[rank ? rank - 1 : 0];
			uint64_t got = hist_percentile(&hist, &edges, parts[i]);

			tap_note("round %u, part %.2f of %u: %llu, exactly %llu", round, parts[i],
				 nr, (unsigned long long)got, (unsigned long long)exact);
			CHECK(got <= hist.max_ns);
			CHECK(got <= 2 * exact + 2);
			CHECK(2 * got + 2 >= exact);
		}
		CHECK_EQ(hist_percentile(&hist, &edges, 1), hist.max_ns);
	}
}

static void test_percentiles_of_few(void)
{
	struct hist hist = {};

	CHECK_EQ(hist_percentile(&hist, &edges, 0.5), 0);
	count(&hist, 0);
	CHECK_EQ(hist_percentile(&hist, &edges, 0.99), 0);
	hist = (struct hist){};
	/* Longer than any bucket ends. */
	count(&hist, 1ULL << 40);
	CHECK_EQ(hist_percentile(&hist, &edges, 1), 1ULL << 40);
	CHECK(hist_percentile(&hist, &edges, 0.5) >= 1ULL << 37);
	/* The longest call is not known yet: read before its bucket. */
	hist.max_ns = 0;
	CHECK_EQ(hist_percentile(&hist, &edges, 0.5), 1ULL << 37);
}

static void test_since(void)
{
	struct hist then = {}, now, delta;

	count(&then, 1000);
	count(&then, 5000000);
	now = then;
	count(&now, 1500);
	count(&now, 3000);
	hist_since(&delta, &now, &then, &edges);
	CHECK_EQ(delta.calls, 2);
	CHECK_EQ(delta.total_ns, 4500);
	/* To within its bucket: the longest of all came before. */
	CHECK_EQ(delta.max_ns, 4095);
	count(&now, 6000000);
	hist_since(&delta, &now, &then, &edges);
	CHECK_EQ(delta.max_ns, 6000000);
	/* Read while it was counted on, or attached anew. */
	hist_since(&delta, &then, &now, &edges);
	CHECK_EQ(delta.calls, 0);
	CHECK_EQ(delta.total_ns, 0);
	CHECK_EQ(delta.max_ns, 0);
}

static char *draw(const struct hist *hist, unsigned int width)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	hist_draw(out, hist, &edges, width);
	fclose(out);
	return text;
}

static void test_draw(void)
{
	struct hist hist = {};
	char *text;
	int i;

	text = draw(&hist, 80);
	CHECK(!strcmp(text, "no calls yet\n"));
	free(text);

	for (i = 0; i < 100; i++)
		count(&hist, 1100);
	for (i = 0; i < 50; i++)
		count(&hist, 2100);
	count(&hist, 9000);
	text = draw(&hist, 62);
	CHECK(!strcmp(text,
		"     from ns    to ns        calls      distribution\n"
		"        1024 -> 2047         100        |********************|\n"
		"        2048 -> 4095         50         |**********          |\n"
		"        4096 -> 8191         0          |                    |\n"
		"        8192 -> 16383        1          |*                   |\n"));
	free(text);
}

static void test_draw_width(void)
{
	struct hist hist = {};
	unsigned int width;

	count(&hist, 0);
	count(&hist, 1ULL << 40);
	for (width = 0; width < 300; width++) {
		char *text = draw(&hist, width), *line;

		tap_note("width %u", width);
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			CHECK(strlen(line) <= (width < 53 ? 53 : width));
		free(text);
	}
}

static void test_time(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0ns" }, { 999, "999ns" }, { 1000, "1.00us" }, { 1234, "1.23us" },
		{ 9994, "9.99us" }, { 9999, "10.0us" }, { 99949, "99.9us" }, { 99999, "100us" },
		{ 999499, "999us" }, { 999999, "1.00ms" }, { 12345678, "12.3ms" },
		{ 1500000000, "1.50s" }, { 137438953472, "137s" }, { 86400000000000, "86400s" },
	};
	char buf[32];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		tap_note("%llu: %s", (unsigned long long)cases[i].ns,
			 hist_time(buf, sizeof(buf), cases[i].ns));
		CHECK(!strcmp(buf, cases[i].text));
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(percentiles),
		TAP_TEST(percentiles_of_few),
		TAP_TEST(since),
		TAP_TEST(draw),
		TAP_TEST(draw_width),
		TAP_TEST(time),
	};

	setup();
	return tap_run(tests, sizeof(tests) / sizeof(*tests));
}
