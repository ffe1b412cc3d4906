// SPDX-License-Identifier: GPL-2.0-only
/*
 * kretpool: attach functions of the running kernel, and of programs, watch their calls.
 *
 * All it does is read and write the files in /proc/kretpool, and look up where
 * functions are in programs.
 */

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "help.h"
#include "proc.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "attach", command_attach },
	{ "uattach", command_uattach },
	{ "detach", command_detach },
	{ "list", command_list },
	{ "top", command_top },
	{ "hist", command_hist },
	{ "json", command_json },
	{ "prometheus", command_prometheus },
	{ "bench", command_bench },
	{ "help", command_help },
	{ "--help", command_help },
	{ "-h", command_help },
};

static int unknown(const char *word)
{
	const char *guess = help_guess(word);

	if (guess)
		fprintf(stderr, "kretpool: '%s' is no command. Did you mean: kretpool %s\n",
			word, guess);
	else
		fprintf(stderr, "kretpool: '%s' is no command. Type: kretpool --help\n", word);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	size_t i;

	argc--;
	argv++;
	if (argc && !strcmp(argv[0], "--proc")) {
		if (argc < 2) {
			fprintf(stderr, "kretpool: --proc needs a folder. Type: kretpool --proc /proc/kretpool COMMAND\n");
			return EXIT_USAGE;
		}
		proc_dir = argv[1];
		argc -= 2;
		argv += 2;
	}
	if (!argc) {
		help_all(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[0], "--version")) {
		puts("kretpool " KRP_VERSION);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (strcmp(argv[0], "help") && help_asked(argc, argv))
			return 0;
		i = commands[i].run(argc, argv);
		/* What was to be read and could not be written is no success. */
		if (fflush(stdout) || ferror(stdout)) {
			perror("kretpool: writing");
			return EXIT_FAILED;
		}
		return i;
	}
	return unknown(argv[0]);
}
