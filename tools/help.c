// SPDX-License-Identifier: GPL-2.0-only
/* What the commands are, and what to type next. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "distance.h"
#include "help.h"

static const struct help helps[] = {
	{ "attach", "PATTERN... [!EXCLUDE...]", "hook functions, count and time their calls",
	  "All functions that match one of the PATTERNs and no EXCLUDE become one\n"
	  "attachment with a number (ID). * and ? stand for any characters and any one:\n"
	  "quote them, or the shell takes them for files.\n"
	  "\n"
	  "  kretpool attach vfs_read                 one function\n"
	  "  kretpool attach 'vfs_*' '!vfs_get*'      many, without some\n"
	  "  kretpool attach 'ext4:*'                 all of a module\n"
	  "\n"
	  "What cannot be hooked is left out and counted.\n" },
	{ "uattach", "FILE:FUNCTION[,FUNCTION...]...", "the same for functions of programs and libraries",
	  "All of them become one attachment. FUNCTION is a symbol, NAME or NAME@VERSION, or\n"
	  "an offset in the file: 0xOFFSET. Calls count in all processes that run the\n"
	  "program or use the library, now and later.\n"
	  "\n"
	  "  kretpool uattach /usr/bin/redis-server:processCommand,call\n"
	  "  kretpool uattach /lib/x86_64-linux-gnu/libc.so.6:malloc,free\n"
	  "  kretpool uattach ./a.out:0x1139\n"
	  "\n"
	  "A file that is replaced is another one: attach anew then.\n" },
	{ "detach", "ID|all", "unhook what was attached",
	  "'kretpool list' shows the IDs. Calls in flight return as if nothing were.\n" },
	{ "list", "[ID]", "show what is attached",
	  "With an ID its functions by name, those left out too. Without:\n"
	  "a line per attachment: functions hooked and left out, calls timed and missed,\n"
	  "calls that have not returned yet, memory for the histograms.\n" },
	{ "top", "[-d SECONDS] [-n COUNT] [-s COLUMN]", "watch calls and latencies live",
	  "  -d SECONDS   between two frames (1)\n"
	  "  -n COUNT     so many frames, one after the other as plain text\n"
	  "  -s COLUMN    sort by calls, p50, p99, max or time (time)\n"
	  "\n"
	  "Keys: q ends it, s sorts by the next column, a space refreshes. Where the\n"
	  "output is no terminal, frames are plain text, without end unless -n is given.\n" },
	{ "hist", "[-f] [-n COUNT] ID [FUNCTION...]", "draw a histogram of latencies",
	  "  -f           a histogram for each function, not one for all together\n"
	  "  -n COUNT     with -f: at most so many, by time spent in them (10)\n"
	  "  FUNCTION     only these; * and ? as in attach. FILE:FUNCTION of a program may\n"
	  "               be given without the file\n" },
	{ "json", "", "print everything for programs, as JSON", "" },
	{ "prometheus", "", "print everything for Prometheus, in its text format",
	  "For a file that node_exporter's textfile collector reads:\n"
	  "\n"
	  "  kretpool prometheus >/var/lib/prometheus/node-exporter/kretpool.prom\n" },
	{ "bench", "[-t SECONDS] [-j THREADS]", "measure what a hook costs on this machine",
	  "Needs the module kretpool_bench. Calls a system call from THREADS kernel threads\n"
	  "(1) for SECONDS (1) each: not hooked, hooked by the kernel's kretprobe, and by\n"
	  "kretpool.\n" },
	{ "help", "[COMMAND]", "show this, or how to use a command", "" },
};

static const struct help *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(helps); i++)
		if (!strcmp(helps[i].name, name))
			return &helps[i];
	return NULL;
}

/**
 * help_guess() - what was meant by a word that is no command
 * @word: the word
 *
 * Return: a command's name, or NULL if none is near.
 */
const char *help_guess(const char *word)
{
	const char *guess = NULL;
	unsigned int best = 3;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(helps); i++) {
		unsigned int far = distance(word, helps[i].name);

		if (*word && !strncmp(word, helps[i].name, strlen(word)))
			far = 0;
		if (far >= best)
			continue;
		best = far;
		guess = helps[i].name;
	}
	return guess;
}

/**
 * help_all() - print what there is
 * @out: where to
 */
void help_all(FILE *out)
{
	size_t i;

	fputs("usage: kretpool [--proc DIR] COMMAND [ARGUMENT...]\n\n", out);
	for (i = 0; i < ARRAY_SIZE(helps); i++)
		fprintf(out, "  %-12s %s\n", helps[i].name, helps[i].summary);
	fputs("\nTo begin: kretpool attach 'vfs_*' && kretpool top\n"
	      "More on one: kretpool COMMAND --help\n", out);
}

/**
 * help_command() - print how to use a command
 * @name: the command
 */
void help_command(const char *name)
{
	const struct help *help = find(name);

	printf("usage: kretpool %s%s%s\n\n%c%s.\n", help->name, *help->arguments ? " " : "",
	       help->arguments, help->summary[0] - 'a' + 'A', help->summary + 1);
	if (*help->text)
		printf("\n%s", help->text);
}

/**
 * help_asked() - print how to use a command, if that is what was asked for
 * @argc: the command's arguments
 * @argv: likewise
 *
 * Return: was it?
 */
bool help_asked(int argc, char **argv)
{
	if (argc < 2 || (strcmp(argv[1], "--help") && strcmp(argv[1], "-h")))
		return false;
	help_command(argv[0]);
	return true;
}

/**
 * help_usage() - say what is wrong with a command's arguments
 * @command: the command
 * @format: what is wrong, as for printf()
 *
 * Return: the exit status for it.
 */
int help_usage(const char *command, const char *format, ...)
{
	const struct help *help = find(command);
	va_list args;

	fprintf(stderr, "kretpool: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ". Type: kretpool %s%s%s\n", help->name, *help->arguments ? " " : "",
		help->arguments);
	return EXIT_USAGE;
}

/**
 * help_number() - read a number that someone typed
 * @text: what was typed
 * @number: set if it is one, from 1
 *
 * Return: is it?
 */
bool help_number(const char *text, unsigned long long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number;
}

/**
 * command_help() - kretpool help
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_help(int argc, char **argv)
{
	if (argc == 1 || help_asked(argc, argv)) {
		if (argc == 1)
			help_all(stdout);
		return 0;
	}
	if (!find(argv[1]))
		return help_usage("help", "'%s' is no command", argv[1]);
	help_command(argv[1]);
	return 0;
}
