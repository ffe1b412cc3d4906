/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of latencies: percentiles, and how they are drawn. */
#ifndef KRP_TOOL_HIST_H
#define KRP_TOOL_HIST_H

#include <stdint.h>
#include <stdio.h>

#define HIST_BUCKETS_MAX	64

/**
 * struct hist_edges - what a file's buckets count
 * @nr: buckets
 * @below: bucket i counts latencies below this, and from below[i - 1] on;
 *         UINT64_MAX for the last one, which has no end
 */
struct hist_edges {
	unsigned int nr;
	uint64_t below[HIST_BUCKETS_MAX];
};

/**
 * struct hist - latencies of some calls
 * @calls: how many
 * @total_ns: of all
 * @max_ns: of the longest
 * @buckets: calls by latency
 */
struct hist {
	uint64_t calls;
	uint64_t total_ns;
	uint64_t max_ns;
	uint64_t buckets[HIST_BUCKETS_MAX];
};

void hist_add(struct hist *sum, const struct hist *more, const struct hist_edges *edges);
void hist_since(struct hist *delta, const struct hist *now, const struct hist *then,
		const struct hist_edges *edges);
uint64_t hist_percentile(const struct hist *hist, const struct hist_edges *edges, double part);
void hist_draw(FILE *out, const struct hist *hist, const struct hist_edges *edges,
	       unsigned int width);
const char *hist_time(char *buf, size_t size, uint64_t ns);

#endif /* KRP_TOOL_HIST_H */
