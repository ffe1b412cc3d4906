// SPDX-License-Identifier: GPL-2.0-only
/* kretpool top: frames, on a terminal or one after the other. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "frame.h"
#include "proc.h"

/* Lines of a frame that nobody has to fit into a window. */
#define PLAIN_COLS	160

/**
 * struct top - how to show it
 * @ms: between two frames
 * @frames: so many; 0 for no end
 * @sort: which functions come first
 */
struct top {
	unsigned int ms;
	unsigned long long frames;
	enum frame_sort sort;
};

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Frames as text: for a pipe, or a given number of them. */
static int top_plain(const struct top *top)
{
	struct timespec pause = { top->ms / 1000, top->ms % 1000 * 1000000L };
	struct term_size size = { 0, isatty(STDOUT_FILENO) ? term_size().cols : PLAIN_COLS };
	double then_at = seconds_now(), now_at;
	struct model then, now;
	unsigned long long n;

	if (proc_model(&then))
		return EXIT_FAILED;
	for (n = 0; !top->frames || n < top->frames; n++) {
		nanosleep(&pause, NULL);
		now_at = seconds_now();
		if (proc_model(&now)) {
			model_free(&then);
			return EXIT_FAILED;
		}
		if (n)
			putchar('\n');
		frame_print(stdout, &now, &then, now_at - then_at, top->sort, size);
		model_free(&then);
		then = now;
		then_at = now_at;
		if (fflush(stdout))
			break;
	}
	model_free(&then);
	return 0;
}

/* Over the frame before it, without a blank screen in between. */
static void put_frame(const char *text)
{
	fputs("\033[H", stdout);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\033[K\r\n", stdout);
		else
			putchar(*text);
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static void show_frame(const struct top *top, const struct model *now, const struct model *then,
		       double seconds)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	frame_print(out, now, then, seconds, top->sort, term_size());
	if (!fclose(out))
		put_frame(text);
	free(text);
}

/* Does what a key asks for; is it time to end? */
static bool on_key(struct top *top, int key)
{
	switch (key) {
	case TERM_ENDED:
	case 'q':
	case 'Q':
	case 3:
		return true;
	case 's':
		top->sort = (top->sort + 1) % NR_SORTS;
		break;
	}
	return false;
}

/* Two readings; false if the module has gone. */
static bool top_next(struct model *then, struct model *now, double *then_at, double *now_at)
{
	struct model next;

	if (proc_model(&next))
		return false;
	model_free(then);
	*then = *now;
	*now = next;
	*then_at = *now_at;
	*now_at = seconds_now();
	return true;
}

static int top_live(struct top *top)
{
	struct model then = {}, now;
	double then_at = seconds_now(), now_at = then_at;
	bool there = true;
	int key = TERM_TIME;

	if (proc_model(&now))
		return EXIT_FAILED;
	if (term_begin()) {
		perror("kretpool: the terminal");
		model_free(&now);
		return EXIT_FAILED;
	}
	while (there) {
		show_frame(top, &now, &then, now_at - then_at);
		key = term_wait(top->ms);
		if (on_key(top, key))
			break;
		/* A new window or order shows the same figures. */
		if (key == TERM_TIME || key == ' ') {
			/* What it says about a module that is gone belongs on the other screen. */
			there = !access(proc_dir, F_OK) &&
				top_next(&then, &now, &then_at, &now_at);
		}
	}
	term_end();
	model_free(&then);
	model_free(&now);
	if (!there) {
		fprintf(stderr, "kretpool: the module has been unloaded\n");
		return EXIT_FAILED;
	}
	/* Whoever waits for it learns that a signal ended it. */
	if (term_signal()) {
		signal(term_signal(), SIG_DFL);
		raise(term_signal());
	}
	return 0;
}

static bool read_seconds(const char *text, unsigned int *ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.05 && seconds <= 86400))
		return false;
	*ms = (unsigned int)(seconds * 1000 + 0.5);
	return true;
}

static bool read_sort(const char *text, enum frame_sort *sort)
{
	unsigned int i;

	for (i = 0; i < NR_SORTS; i++) {
		if (strcmp(text, frame_sorts[i]))
			continue;
		*sort = i;
		return true;
	}
	return false;
}

/**
 * command_top() - kretpool top
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_top(int argc, char **argv)
{
	struct top top = { .ms = 1000 };
	int c;

	opterr = 0;
	while ((c = getopt(argc, argv, "d:n:s:")) != -1) {
		switch (c) {
		case 'd':
			if (!read_seconds(optarg, &top.ms))
				return help_usage("top", "-d takes seconds, 0.05 to 86400");
			break;
		case 'n':
			if (!help_number(optarg, &top.frames))
				return help_usage("top", "-n takes a whole number from 1");
			break;
		case 's':
			if (!read_sort(optarg, &top.sort))
				return help_usage("top", "-s takes calls, p50, p99, max or time");
			break;
		default:
			return help_usage("top", "top has no option -%c, or it lacks its value",
					  optopt);
		}
	}
	if (optind < argc)
		return help_usage("top", "top takes no '%s'", argv[optind]);
	if (top.frames || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return top_plain(&top);
	return top_live(&top);
}
