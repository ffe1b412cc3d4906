// SPDX-License-Identifier: GPL-2.0-only
/* The files in /proc/kretpool. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

const char *proc_dir = "/proc/kretpool";

static int open_file(const char *name, int flags)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", proc_dir, name) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, flags | O_CLOEXEC);
}

/* All that an open file holds, from its beginning; NULL with errno set. */
static char *read_all(int fd)
{
	size_t len = 0, size = 65536;
	char *text = malloc(size), *bigger;
	ssize_t n = -1;

	while (text) {
		n = pread(fd, text + len, size - len - 1, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += n;
		if (size - len > 1)
			continue;
		bigger = realloc(text, size * 2);
		if (!bigger) {
			n = -1;
			break;
		}
		text = bigger;
		size *= 2;
	}
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

/**
 * proc_complain() - say why a file could not be had, and what to do
 * @name: of the file
 * @err: errno
 */
void proc_complain(const char *name, int err)
{
	switch (err) {
	case ENOENT:
		if (access(proc_dir, F_OK))
			fprintf(stderr, "kretpool: the module is not loaded. Type: modprobe kretpool\n");
		else
			fprintf(stderr, "kretpool: the loaded module has no %s/%s: it is of another version\n",
				proc_dir, name);
		break;
	case EACCES:
	case EPERM:
		fprintf(stderr, "kretpool: %s/%s is for root with CAP_SYS_ADMIN. Type: sudo kretpool ...\n",
			proc_dir, name);
		break;
	case EINVAL:
		fprintf(stderr, "kretpool: %s/%s is not what it should be: the module is of another version\n",
			proc_dir, name);
		break;
	default:
		fprintf(stderr, "kretpool: %s/%s: %s\n", proc_dir, name, strerror(err));
	}
}

/**
 * proc_read() - read a file
 * @name: of the file
 *
 * Return: its content, to be freed; NULL after a line that says why.
 */
char *proc_read(const char *name)
{
	int fd = open_file(name, O_RDONLY);
	char *text = NULL;
	int err = 0;

	if (fd >= 0)
		text = read_all(fd);
	if (!text)
		err = errno;
	if (fd >= 0)
		close(fd);
	if (!text)
		proc_complain(name, err);
	return text;
}

/**
 * proc_model() - read what is attached, and its latencies
 * @model: filled in
 *
 * Return: 0, or 1 after a line that says why not.
 */
int proc_model(struct model *model)
{
	char *control = proc_read("control"), *latency = NULL;
	int ret;

	if (control)
		latency = proc_read("latency");
	if (!latency) {
		free(control);
		return 1;
	}
	ret = model_parse(model, control, latency);
	if (!ret)
		return 0;
	proc_complain("control", -ret);
	return 1;
}

/* What the module has answered to the command written to an open file. */
static void read_answer(int fd, char *answer, size_t size)
{
	char *text = read_all(fd), *note = NULL, *line;

	*answer = '\0';
	for (line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, "# ", 2))
			note = line + 2;
	if (note) {
		/* "ok: " or "error: " is what the status says as well. */
		char *colon = strstr(note, ": ");

		if (colon)
			note = colon + 2;
		snprintf(answer, size, "%.*s", (int)strcspn(note, "\n"), note);
	}
	free(text);
}

/**
 * proc_control() - give the module a command
 * @command: the command
 * @answer: takes what the module says to it
 * @size: of @answer
 *
 * Return: 0, or 1 after a line that says why not.
 */
int proc_control(const char *command, char *answer, size_t size)
{
	size_t len = strlen(command);
	int fd = open_file("control", O_RDWR), err = 0;
	ssize_t n = -1;

	if (fd >= 0)
		n = write(fd, command, len);
	if (n < 0)
		err = errno;
	*answer = '\0';
	if (fd >= 0) {
		read_answer(fd, answer, size);
		close(fd);
	}
	if (n == (ssize_t)len)
		return 0;
	if (err == E2BIG && !*answer)
		fprintf(stderr, "kretpool: that is too long for one command. Type fewer patterns, with * in them\n");
	else if (*answer && err != EPERM)
		fprintf(stderr, "kretpool: %s\n", answer);
	else
		proc_complain("control", err ? err : EIO);
	return 1;
}
