// SPDX-License-Identifier: GPL-2.0-only
/* Commands that are done at once: attach, detach, list, hist. */

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "proc.h"
#include "term.h"

/* "COMMAND ARGUMENT...", or false if that is too long. */
static bool join(char *text, int argc, char **argv)
{
	size_t len = 0;
	int i;

	for (i = 0; i < argc; i++) {
		int n = snprintf(text + len, COMMAND_MAX + 1 - len, i ? " %s" : "%s", argv[i]);

		if (n < 0 || len + n > COMMAND_MAX)
			return false;
		len += n;
	}
	return true;
}

static int control(int argc, char **argv, char *answer, size_t size)
{
	char text[COMMAND_MAX + 1];

	if (!join(text, argc, argv)) {
		fprintf(stderr, "kretpool: that is too long for one command. Type fewer patterns, with * in them\n");
		return EXIT_FAILED;
	}
	return proc_control(text, answer, size) ? EXIT_FAILED : 0;
}

/**
 * command_attach() - kretpool attach
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_attach(int argc, char **argv)
{
	char answer[512];
	int ret;

	if (argc < 2)
		return help_usage("attach", "attach what");
	ret = control(argc, argv, answer, sizeof(answer));
	if (!ret)
		printf("%s\nNext: kretpool top, or: kretpool list\n", answer);
	return ret;
}

/**
 * command_detach() - kretpool detach
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_detach(int argc, char **argv)
{
	unsigned long long id;
	char answer[512];
	int ret;

	if (argc != 2 || (strcmp(argv[1], "all") && !help_number(argv[1], &id)))
		return help_usage("detach", argc == 2 ? "'%s' is neither a number nor 'all'" :
				  "detach what", argv[1]);
	ret = control(argc, argv, answer, sizeof(answer));
	if (!ret)
		puts(answer);
	return ret;
}

static void list_all(const struct model *model)
{
	size_t i;

	if (!model->nr_attached)
		puts("Nothing is attached. Next: kretpool attach 'vfs_*'");
	else
		printf("%4s %9s %8s %12s %10s %9s %9s  %s\n", "ID", "FUNCTIONS", "LEFT OUT",
		       "HITS", "MISSED", "IN FLIGHT", "MEMORY", "PATTERNS");
	for (i = 0; i < model->nr_attached; i++) {
		const struct attachment *att = &model->attached[i];

		printf("%4" PRIu64 " %9" PRIu64 " %8" PRIu64 " %12" PRIu64 " %10" PRIu64
		       " %9" PRIu64 " %5" PRIu64 " KiB  %s", att->id, att->functions,
		       att->left_out, att->hits, attachment_missed(att), att->inflight,
		       (att->bytes + 1023) / 1024, att->patterns);
		if (att->gone)
			printf(" (%" PRIu64 " gone with their module)", att->gone);
		putchar('\n');
	}
}

static int list_functions(const struct model *model, unsigned long long id)
{
	char *text;
	struct table table;
	uint64_t of;
	size_t row;

	if (!model_attachment(model, id)) {
		fprintf(stderr, "kretpool: there is no attachment %llu. Type: kretpool list\n", id);
		return EXIT_FAILED;
	}
	text = proc_read("functions");
	if (!text)
		return EXIT_FAILED;
	if (table_parse(&table, text)) {
		proc_complain("functions", EINVAL);
		free(text);
		return EXIT_FAILED;
	}
	printf("%-40s %s\n", "FUNCTION", "STATE");
	for (row = 0; row < table.nr_rows; row++)
		if (table_number(&table, row, table_col(&table, "id"), &of) && of == id)
			printf("%-40s %s\n", table_text(&table, row, table_col(&table, "function")),
			       table_text(&table, row, table_col(&table, "state")));
	table_free(&table);
	free(text);
	return 0;
}

/**
 * command_list() - kretpool list
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_list(int argc, char **argv)
{
	unsigned long long id;
	struct model model;
	char *text;
	int ret = 0;

	if (argc > 2 || (argc == 2 && !help_number(argv[1], &id)))
		return help_usage("list", "'%s' is not the number of an attachment",
				  argv[argc - 1]);
	text = proc_read("control");
	if (!text)
		return EXIT_FAILED;
	if (model_parse(&model, text, NULL)) {
		proc_complain("control", EINVAL);
		return EXIT_FAILED;
	}
	if (argc == 2)
		ret = list_functions(&model, id);
	else
		list_all(&model);
	model_free(&model);
	return ret;
}

/**
 * struct hist_options - what to draw
 * @each: a histogram for each function
 * @most: of them
 * @id: of the attachment
 * @names: patterns of functions; all if there are none
 * @nr_names: how many
 */
struct hist_options {
	bool each;
	unsigned long long most;
	unsigned long long id;
	char **names;
	int nr_names;
};

/* Functions of programs are called FILE:FUNCTION, and the latter alone will do. */
static bool wanted(const struct hist_options *options, const struct function *func)
{
	const char *after = strrchr(func->name, ':');
	int i;

	if (func->id != options->id)
		return false;
	for (i = 0; i < options->nr_names; i++)
		if (!fnmatch(options->names[i], func->name, 0) ||
		    (after && !fnmatch(options->names[i], after + 1, 0)))
			return true;
	return !options->nr_names;
}

static void draw(const char *name, const struct hist *hist, const struct hist_edges *edges)
{
	char p50[16], p99[16], max[16];

	printf("%s: %" PRIu64 " calls, p50 %s, p99 %s, max %s\n", name, hist->calls,
	       hist_time(p50, sizeof(p50), hist_percentile(hist, edges, 0.5)),
	       hist_time(p99, sizeof(p99), hist_percentile(hist, edges, 0.99)),
	       hist_time(max, sizeof(max), hist->max_ns));
	hist_draw(stdout, hist, edges, term_size().cols);
}

static int compare_time(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->hist.total_ns < y->hist.total_ns) - (x->hist.total_ns > y->hist.total_ns);
}

static void draw_each(struct function *funcs, size_t nr, const struct hist_options *options,
		      const struct hist_edges *edges)
{
	size_t i;

	qsort(funcs, nr, sizeof(*funcs), compare_time);
	for (i = 0; i < nr && i < options->most; i++) {
		if (i)
			putchar('\n');
		draw(funcs[i].name, &funcs[i].hist, edges);
	}
	if (i < nr)
		printf("\n%zu functions more. Next: kretpool hist -f -n %zu %llu\n", nr - i, nr,
		       options->id);
}

static void draw_sum(const struct function *funcs, size_t nr, const struct hist_options *options,
		     const struct hist_edges *edges)
{
	struct hist sum = {};
	char name[64];
	size_t i;

	for (i = 0; i < nr; i++)
		hist_add(&sum, &funcs[i].hist, edges);
	snprintf(name, sizeof(name), "%zu functions", nr);
	draw(nr == 1 ? funcs[0].name : name, &sum, edges);
	if (nr > 1 && !options->nr_names)
		printf("\nEach of them: kretpool hist -f %llu\n", options->id);
}

static int draw_model(struct model *model, const struct hist_options *options)
{
	const struct attachment *att = model_attachment(model, options->id);
	size_t i, nr = 0;

	if (!att) {
		fprintf(stderr, "kretpool: there is no attachment %llu. Type: kretpool list\n",
			options->id);
		return EXIT_FAILED;
	}
	for (i = 0; i < model->nr_functions; i++)
		if (wanted(options, &model->functions[i]))
			model->functions[nr++] = model->functions[i];
	if (!nr && options->nr_names) {
		fprintf(stderr, "kretpool: no function of attachment %llu with such a name has been called. Type: kretpool hist -f %llu\n",
			options->id, options->id);
		return EXIT_FAILED;
	}
	if (!nr)
		printf("%s: no calls yet\n", att->patterns);
	else if (options->each)
		draw_each(model->functions, nr, options, &model->edges);
	else
		draw_sum(model->functions, nr, options, &model->edges);
	return 0;
}

/**
 * command_hist() - kretpool hist
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_hist(int argc, char **argv)
{
	struct hist_options options = { .most = 10 };
	struct model model;
	int c, ret;

	opterr = 0;
	while ((c = getopt(argc, argv, "+fn:")) != -1) {
		switch (c) {
		case 'f':
			options.each = true;
			break;
		case 'n':
			if (!help_number(optarg, &options.most))
				return help_usage("hist", "-n takes a whole number from 1");
			break;
		default:
			return help_usage("hist", "hist has no option -%c, or it lacks its value",
					  optopt);
		}
	}
	if (optind == argc)
		return help_usage("hist", "a histogram of what");
	if (!help_number(argv[optind], &options.id))
		return help_usage("hist", "'%s' is not the number of an attachment", argv[optind]);
	options.names = argv + optind + 1;
	options.nr_names = argc - optind - 1;
	if (proc_model(&model))
		return EXIT_FAILED;
	ret = draw_model(&model, &options);
	model_free(&model);
	return ret;
}
