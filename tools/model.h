/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module knows, read at one time. */
#ifndef KRP_TOOL_MODEL_H
#define KRP_TOOL_MODEL_H

#include "hist.h"
#include "table.h"

#define NR_MISSES	5

/* By cause, as the columns missed_CAUSE are named. */
extern const char * const miss_names[NR_MISSES];

/**
 * struct attachment - what one command has attached
 * @id: its number
 * @state: a word
 * @patterns: as they were given
 * @functions: hooked
 * @left_out: that matched but cannot be hooked
 * @gone: of those hooked, went with their module
 * @hits: calls counted and timed
 * @missed: calls that were not, by cause
 * @inflight: calls that have not returned
 * @bytes: memory of the histograms
 */
struct attachment {
	uint64_t id;
	const char *state;
	const char *patterns;
	uint64_t functions;
	uint64_t left_out;
	uint64_t gone;
	uint64_t hits;
	uint64_t missed[NR_MISSES];
	uint64_t inflight;
	uint64_t bytes;
};

/**
 * struct function - a function that was called
 * @id: of the attachment
 * @name: its name
 * @hist: its latencies
 */
struct function {
	uint64_t id;
	const char *name;
	struct hist hist;
};

/**
 * struct model - a reading of control and latency
 * @attached: by id
 * @nr_attached: how many
 * @functions: by id, then name
 * @nr_functions: how many
 * @edges: of all histograms
 * @note: the module's answer to the last command; or NULL
 * @control: holds what the above points to
 * @latency: likewise
 * @text: what these are made of
 */
struct model {
	struct attachment *attached;
	size_t nr_attached;
	struct function *functions;
	size_t nr_functions;
	struct hist_edges edges;
	const char *note;
	struct table control;
	struct table latency;
	char *text[2];
};

int model_parse(struct model *model, char *control, char *latency);
void model_free(struct model *model);
const struct attachment *model_attachment(const struct model *model, uint64_t id);
const struct function *model_function(const struct model *model, const struct function *like);
uint64_t attachment_missed(const struct attachment *att);

#endif /* KRP_TOOL_MODEL_H */
