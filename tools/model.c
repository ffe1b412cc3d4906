// SPDX-License-Identifier: GPL-2.0-only
/* What the module's files say, as numbers. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

const char * const miss_names[NR_MISSES] = {
	"empty", "recursion", "unwatched", "removed", "exited",
};

static int compare_attached(const void *a, const void *b)
{
	const struct attachment *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->id != y->id)
		return x->id > y->id ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int read_attached(struct model *model)
{
	const struct table *t = &model->control;
	int id = table_col(t, "id"), missed[NR_MISSES];
	size_t row;
	int i;

	for (i = 0; i < NR_MISSES; i++) {
		char name[32] = "missed_";

		missed[i] = table_col(t, strcat(name, miss_names[i]));
	}
	model->attached = calloc(t->nr_rows + 1, sizeof(*model->attached));
	if (!model->attached)
		return -ENOMEM;
	for (row = 0; row < t->nr_rows; row++) {
		struct attachment *att = &model->attached[model->nr_attached];

		if (!table_number(t, row, id, &att->id))
			continue;
		model->nr_attached++;
		att->state = table_text(t, row, table_col(t, "state"));
		att->patterns = table_text(t, row, table_col(t, "patterns"));
		att->functions = table_count(t, row, table_col(t, "functions"));
		att->left_out = table_count(t, row, table_col(t, "left_out"));
		att->gone = table_count(t, row, table_col(t, "gone"));
		att->hits = table_count(t, row, table_col(t, "hits"));
		att->inflight = table_count(t, row, table_col(t, "inflight"));
		att->bytes = table_count(t, row, table_col(t, "bytes"));
		for (i = 0; i < NR_MISSES; i++)
			att->missed[i] = table_count(t, row, missed[i]);
	}
	qsort(model->attached, model->nr_attached, sizeof(*model->attached), compare_attached);
	return 0;
}

/* Functions of one name, static ones of several files, become one. */
static void merge_functions(struct model *model)
{
	struct function *funcs = model->functions;
	size_t i, n = 0;

	for (i = 0; i < model->nr_functions; i++) {
		if (n && !compare_functions(&funcs[n - 1], &funcs[i]))
			hist_add(&funcs[n - 1].hist, &funcs[i].hist, &model->edges);
		else
			funcs[n++] = funcs[i];
	}
	model->nr_functions = n;
}

/* The columns lt_N, in growing order, and "more"; returns the first one's number. */
static int read_edges(struct model *model)
{
	const struct table *t = &model->latency;
	struct hist_edges *edges = &model->edges;
	int first = -1;
	size_t i;

	for (i = 0; i < t->nr_cols && edges->nr < HIST_BUCKETS_MAX; i++) {
		const char *name = t->names[i];
		bool last = !strcmp(name, "more");

		if (!last && strncmp(name, "lt_", 3))
			continue;
		if (first < 0)
			first = i;
		/* One after the other, or the file is of another kind. */
		if (i != first + edges->nr)
			return -1;
		edges->below[edges->nr] = last ? UINT64_MAX : strtoull(name + 3, NULL, 10);
		if (!edges->below[edges->nr] ||
		    (edges->nr && edges->below[edges->nr] <= edges->below[edges->nr - 1]))
			return -1;
		edges->nr++;
	}
	return first;
}

static int read_functions(struct model *model)
{
	const struct table *t = &model->latency;
	int id = table_col(t, "id"), name = table_col(t, "function");
	int total = table_col(t, "total_ns"), max = table_col(t, "max_ns");
	int first = read_edges(model);
	unsigned int i;
	size_t row;

	model->functions = calloc(t->nr_rows + 1, sizeof(*model->functions));
	if (!model->functions)
		return -ENOMEM;
	if (first < 0 || name < 0)
		return -EINVAL;
	for (row = 0; row < t->nr_rows; row++) {
		struct function *func = &model->functions[model->nr_functions];

		if (!table_number(t, row, id, &func->id))
			continue;
		model->nr_functions++;
		func->name = table_text(t, row, name);
		func->hist.total_ns = table_count(t, row, total);
		func->hist.max_ns = table_count(t, row, max);
		for (i = 0; i < model->edges.nr; i++) {
			func->hist.buckets[i] = table_count(t, row, first + i);
			func->hist.calls += func->hist.buckets[i];
		}
	}
	qsort(model->functions, model->nr_functions, sizeof(*model->functions), compare_functions);
	merge_functions(model);
	return 0;
}

/**
 * model_parse() - make sense of the module's files
 * @model: filled in
 * @control: content of /proc/kretpool/control; the model's from now on
 * @latency: the same of latency, or NULL
 *
 * Return: 0, -EINVAL if these are not such files, -ENOMEM.
 */
int model_parse(struct model *model, char *control, char *latency)
{
	int ret;

	*model = (struct model){ .text = { control, latency } };
	ret = table_parse(&model->control, control);
	if (!ret && latency)
		ret = table_parse(&model->latency, latency);
	if (!ret)
		ret = read_attached(model);
	if (!ret && latency)
		ret = read_functions(model);
	if (ret) {
		model_free(model);
		return ret;
	}
	model->note = model->control.note;
	return 0;
}

/**
 * model_free() - free what model_parse() has been given and has allocated
 * @model: a model; empty afterwards
 */
void model_free(struct model *model)
{
	table_free(&model->control);
	table_free(&model->latency);
	free(model->attached);
	free(model->functions);
	free(model->text[0]);
	free(model->text[1]);
	*model = (struct model){};
}

/**
 * model_attachment() - find an attachment
 * @model: the model
 * @id: its number
 *
 * Return: the attachment or NULL.
 */
const struct attachment *model_attachment(const struct model *model, uint64_t id)
{
	struct attachment key = { .id = id };

	return bsearch(&key, model->attached, model->nr_attached, sizeof(key), compare_attached);
}

/**
 * model_function() - find a function
 * @model: the model
 * @like: has the same id and name
 *
 * Return: the function or NULL.
 */
const struct function *model_function(const struct model *model, const struct function *like)
{
	return bsearch(like, model->functions, model->nr_functions, sizeof(*like),
		       compare_functions);
}

/**
 * attachment_missed() - calls that were missed
 * @att: an attachment
 *
 * Return: for whatever cause.
 */
uint64_t attachment_missed(const struct attachment *att)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < NR_MISSES; i++)
		sum += att->missed[i];
	return sum;
}
