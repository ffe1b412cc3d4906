// SPDX-License-Identifier: GPL-2.0-only
/* What programs read: JSON, and Prometheus' text format. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "proc.h"

/* Prometheus wants the same buckets every time: 128 ns to 8.6 s, and infinity. */
#define PROMETHEUS_FROM		128
#define PROMETHEUS_TO		(1ULL << 33)

/* A string of JSON's, or the value of a label: both escape alike. */
static void put_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			putchar('?');
		else
			putchar(c);
	}
	putchar('"');
}

static void json_buckets(const struct hist *hist, const struct hist_edges *edges)
{
	const char *comma = "";
	unsigned int i;

	for (i = 0; i < edges->nr; i++) {
		if (!hist->buckets[i])
			continue;
		printf("%s{\"from_ns\":%" PRIu64 ",", comma, i ? edges->below[i - 1] : 0);
		if (edges->below[i] == UINT64_MAX)
			printf("\"to_ns\":null,");
		else
			printf("\"to_ns\":%" PRIu64 ",", edges->below[i] - 1);
		printf("\"calls\":%" PRIu64 "}", hist->buckets[i]);
		comma = ",";
	}
}

static void json_function(const struct function *func, const struct hist_edges *edges)
{
	printf("{\"name\":");
	put_string(func->name);
	printf(",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64, func->hist.calls,
	       func->hist.total_ns);
	printf(",\"p50_ns\":%" PRIu64, hist_percentile(&func->hist, edges, 0.5));
	printf(",\"p99_ns\":%" PRIu64, hist_percentile(&func->hist, edges, 0.99));
	printf(",\"max_ns\":%" PRIu64 ",\"buckets\":[", func->hist.max_ns);
	json_buckets(&func->hist, edges);
	printf("]}");
}

static void json_attachment(const struct model *model, const struct attachment *att)
{
	const char *comma = "";
	size_t i;

	printf("{\"id\":%" PRIu64 ",\"state\":", att->id);
	put_string(att->state);
	printf(",\"patterns\":");
	put_string(att->patterns);
	printf(",\"functions\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"gone\":%" PRIu64,
	       att->functions, att->left_out, att->gone);
	printf(",\"hits\":%" PRIu64, att->hits);
	printf(",\"missed\":{");
	for (i = 0; i < NR_MISSES; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", miss_names[i], att->missed[i]);
	printf("},\"in_flight\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"called\":[", att->inflight,
	       att->bytes);
	for (i = 0; i < model->nr_functions; i++) {
		if (model->functions[i].id != att->id)
			continue;
		printf("%s\n    ", comma);
		json_function(&model->functions[i], &model->edges);
		comma = ",";
	}
	printf("]}");
}

/**
 * command_json() - kretpool json
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_json(int argc, char **argv)
{
	struct model model;
	size_t i;

	if (argc > 1)
		return help_usage("json", "json takes no '%s'", argv[1]);
	if (proc_model(&model))
		return EXIT_FAILED;
	printf("{\"attachments\":[");
	for (i = 0; i < model.nr_attached; i++) {
		printf("%s\n  ", i ? "," : "");
		json_attachment(&model, &model.attached[i]);
	}
	printf("]}\n");
	model_free(&model);
	return 0;
}

static void prometheus_header(const char *name, const char *type, const char *help)
{
	printf("# HELP kretpool_%s %s\n# TYPE kretpool_%s %s\n", name, help, name, type);
}

static void put_attachment_labels(const struct attachment *att)
{
	printf("{id=\"%" PRIu64 "\",patterns=", att->id);
	put_string(att->patterns);
}

static void prometheus_attachments(const struct model *model)
{
	size_t i, cause;

	prometheus_header("functions", "gauge", "Functions that an attachment hooks.");
	for (i = 0; i < model->nr_attached; i++) {
		printf("kretpool_functions");
		put_attachment_labels(&model->attached[i]);
		printf("} %" PRIu64 "\n", model->attached[i].functions);
	}
	prometheus_header("in_flight", "gauge", "Calls that have not returned.");
	for (i = 0; i < model->nr_attached; i++) {
		printf("kretpool_in_flight");
		put_attachment_labels(&model->attached[i]);
		printf("} %" PRIu64 "\n", model->attached[i].inflight);
	}
	prometheus_header("hits_total", "counter", "Calls counted at their return.");
	for (i = 0; i < model->nr_attached; i++) {
		printf("kretpool_hits_total");
		put_attachment_labels(&model->attached[i]);
		printf("} %" PRIu64 "\n", model->attached[i].hits);
	}
	prometheus_header("missed_total", "counter", "Calls that were not counted, by cause.");
	for (i = 0; i < model->nr_attached; i++) {
		for (cause = 0; cause < NR_MISSES; cause++) {
			printf("kretpool_missed_total");
			put_attachment_labels(&model->attached[i]);
			printf(",cause=\"%s\"} %" PRIu64 "\n", miss_names[cause],
			       model->attached[i].missed[cause]);
		}
	}
}

static void put_function_labels(const struct function *func)
{
	printf("{id=\"%" PRIu64 "\",function=", func->id);
	put_string(func->name);
}

static void prometheus_function(const struct function *func, const struct hist_edges *edges)
{
	uint64_t calls = 0;
	unsigned int i;

	for (i = 0; i < edges->nr; i++) {
		calls += func->hist.buckets[i];
		if (edges->below[i] < PROMETHEUS_FROM || edges->below[i] > PROMETHEUS_TO)
			continue;
		printf("kretpool_latency_seconds_bucket");
		put_function_labels(func);
		/* Up to and including, hence less the one nanosecond. */
		printf(",le=\"%" PRIu64 ".%09" PRIu64 "\"} %" PRIu64 "\n",
		       (edges->below[i] - 1) / 1000000000, (edges->below[i] - 1) % 1000000000,
		       calls);
	}
	printf("kretpool_latency_seconds_bucket");
	put_function_labels(func);
	printf(",le=\"+Inf\"} %" PRIu64 "\nkretpool_latency_seconds_sum", calls);
	put_function_labels(func);
	printf("} %" PRIu64 ".%09" PRIu64 "\nkretpool_latency_seconds_count",
	       func->hist.total_ns / 1000000000, func->hist.total_ns % 1000000000);
	put_function_labels(func);
	printf("} %" PRIu64 "\n", calls);
}

/**
 * command_prometheus() - kretpool prometheus
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_prometheus(int argc, char **argv)
{
	struct model model;
	size_t i;

	if (argc > 1)
		return help_usage("prometheus", "prometheus takes no '%s'", argv[1]);
	if (proc_model(&model))
		return EXIT_FAILED;
	prometheus_attachments(&model);
	prometheus_header("latency_seconds", "histogram", "How long calls of a function took.");
	for (i = 0; i < model.nr_functions; i++)
		prometheus_function(&model.functions[i], &model.edges);
	model_free(&model);
	return 0;
}
