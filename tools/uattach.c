// SPDX-License-Identifier: GPL-2.0-only
/* kretpool uattach: functions of programs and libraries. */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "elf_file.h"
#include "proc.h"

#define PATH_LEN	4096

/**
 * struct text - the command for the module
 * @data: as far as there is room
 * @len: of it; above COMMAND_MAX if there was no room
 */
struct text {
	char data[COMMAND_MAX + 1];
	size_t len;
};

[[gnu::format(printf, 2, 3)]] static void put(struct text *text, const char *format, ...)
{
	size_t room = text->len < sizeof(text->data) ? sizeof(text->data) - text->len : 0;
	va_list args;

	va_start(args, format);
	text->len += vsnprintf(room ? text->data + text->len : NULL, room, format, args);
	va_end(args);
}

/* What would end a word, or is not plain, as its number. */
static void put_escaped(struct text *text, const char *word)
{
	for (; *word; word++)
		put(text, *word > ' ' && *word <= '~' && *word != '\\' ? "%c" : "\\%03o",
		    (unsigned char)*word);
}

/* From / on; links stay, the module follows them. */
static int put_path(struct text *text, const char *path)
{
	char folder[PATH_LEN];

	put(text, " ");
	if (*path != '/') {
		if (!getcwd(folder, sizeof(folder)))
			return -1;
		put_escaped(text, folder);
		put(text, "/");
	}
	put_escaped(text, path);
	return 0;
}

/* Where a shell would find it. */
static void say_elsewhere(const char *file)
{
	char *path = getenv("PATH"), *copy = path ? strdup(path) : NULL, *rest = copy, *folder;
	char at[PATH_LEN];

	while (rest && (folder = strsep(&rest, ":"))) {
		if ((size_t)snprintf(at, sizeof(at), "%s/%s", folder, file) < sizeof(at) &&
		    !access(at, X_OK)) {
			fprintf(stderr, ". Did you mean: %s", at);
			break;
		}
	}
	free(copy);
}

static int say(const char *file, const char *why)
{
	fprintf(stderr, "kretpool: %s", why);
	if (!strchr(file, '/') && access(file, F_OK))
		say_elsewhere(file);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

/* An offset as it stands, or what has that name. */
static int put_function(struct text *text, const struct elf_file *elf, const char *function)
{
	char why[ELF_WHY_MAX], *end;
	uint64_t offset;
	const char *c;

	if (isdigit((unsigned char)*function)) {
		errno = 0;
		offset = strtoull(function, &end, 0);
		if (errno || *end || !elf_executes(elf, offset)) {
			elf_why(why, errno || *end ? "'%.100s' is no offset in '%.200s'" :
				"nothing at %.100s in '%.200s' is executed", function, elf->path);
			return say(elf->path, why);
		}
		put(text, " 0x%llx", (unsigned long long)offset);
		return 0;
	}
	if (elf_function(elf, function, &offset, why))
		return say(elf->path, why);
	put(text, " 0x%llx:", (unsigned long long)offset);
	for (c = function; *c; c++)
		put(text, "%c", *c > ' ' && *c <= '~' && *c != '\\' ? *c : '?');
	return 0;
}

/* FILE:FUNCTION[,FUNCTION...]; is written to. */
static int put_target(struct text *text, char *target)
{
	char *functions = strrchr(target, ':'), *function, why[ELF_WHY_MAX];
	struct elf_file elf;
	int ret = 0;

	if (!functions || functions == target || !functions[1])
		return help_usage("uattach", "'%s' is not FILE:FUNCTION", target);
	*functions++ = '\0';
	if (elf_open(&elf, target, why))
		return say(target, why);
	if (put_path(text, target)) {
		elf_why(why, "'%s': %s", target, strerror(errno));
		ret = say(target, why);
	}
	while (!ret && (function = strsep(&functions, ",")))
		ret = put_function(text, &elf, function);
	elf_close(&elf);
	return ret;
}

/**
 * command_uattach() - kretpool uattach
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_uattach(int argc, char **argv)
{
	struct text text = {};
	char answer[512];
	int i, ret = 0;

	if (argc < 2)
		return help_usage("uattach", "attach what");
	put(&text, "uattach");
	for (i = 1; i < argc && !ret; i++)
		ret = put_target(&text, argv[i]);
	if (ret)
		return ret;
	if (text.len > COMMAND_MAX) {
		fprintf(stderr, "kretpool: that is too long for one command. Attach fewer functions with each\n");
		return EXIT_FAILED;
	}
	if (proc_control(text.data, answer, sizeof(answer)))
		return EXIT_FAILED;
	printf("%s\nNext: kretpool top, or: kretpool list\n", answer);
	return 0;
}
