// SPDX-License-Identifier: GPL-2.0-only
/*
 * pty: runs a program on a terminal of its own, and plays its user.
 *
 *   pty [-o FILE] STEP... -- COMMAND [ARGUMENT...]
 *     -o FILE        all that the program has printed
 *     size=ROWSxCOLS the window's size (24x80), from here on
 *     expect=TEXT    wait until the program has printed that, after what the
 *                    last such step has found
 *     send=TEXT      type it
 *     signal=NUMBER  send the program a signal
 *   Prints "exit STATUS" or "signal NUMBER" of the program, and "terminal same"
 *   or "terminal changed", whether it is in the mode it was in before.
 *
 * Exit status: 0, 1 if something expected did not come within a minute or the
 * program did not end, 2 usage.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE	60
#define PRINTED_MAX	(4 << 20)

static char printed[PRINTED_MAX];
static size_t len, found;
static int ours, theirs;
static pid_t child;

/* Takes in what the program prints, for at most so long. */
static void listen(int ms)
{
	struct pollfd fd = { .fd = ours, .events = POLLIN };
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return;
	if (len == sizeof(printed)) {
		fprintf(stderr, "pty: the program prints without end\n");
		exit(1);
	}
	n = read(ours, printed + len, sizeof(printed) - len);
	if (n > 0)
		len += n;
}

static bool expect(const char *text)
{
	time_t end = time(NULL) + PATIENCE;
	char *at;

	while (!(at = memmem(printed + found, len - found, text, strlen(text)))) {
		if (time(NULL) > end) {
			fprintf(stderr, "pty: waited in vain for: %s\n", text);
			return false;
		}
		listen(100);
	}
	found = at + strlen(text) - printed;
	return true;
}

static bool set_size(const char *text)
{
	struct winsize ws = {};

	if (sscanf(text, "%hux%hu", &ws.ws_row, &ws.ws_col) != 2)
		return false;
	return !ioctl(ours, TIOCSWINSZ, &ws);
}

static bool step(const char *text)
{
	const char *value = strchr(text, '=');

	if (!value++)
		return false;
	if (!strncmp(text, "size=", 5))
		return set_size(value);
	if (!strncmp(text, "expect=", 7))
		return expect(value);
	if (!strncmp(text, "send=", 5))
		return write(ours, value, strlen(value)) == (ssize_t)strlen(value);
	if (!strncmp(text, "signal=", 7))
		return !kill(child, atoi(value));
	return false;
}

static bool finish(void)
{
	time_t end = time(NULL) + PATIENCE;
	int status;

	while (!waitpid(child, &status, WNOHANG)) {
		if (time(NULL) > end) {
			fprintf(stderr, "pty: the program does not end\n");
			kill(child, SIGKILL);
			return false;
		}
		listen(100);
	}
	listen(0);
	printf(WIFSIGNALED(status) ? "signal %d\n" : "exit %d\n",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return true;
}

static int keep(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return 1;
	}
	fwrite(printed, 1, len, f);
	return fclose(f) != 0;
}

static bool open_terminal(void)
{
	ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ours < 0 || grantpt(ours) || unlockpt(ours))
		return false;
	theirs = open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
	return theirs >= 0 && set_size("24x80");
}

static void run(char **argv)
{
	setsid();
	ioctl(theirs, TIOCSCTTY, 0);
	dup2(theirs, 0);
	dup2(theirs, 1);
	dup2(theirs, 2);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct termios before, after;
	const char *out = NULL;
	int i = 1, command;
	bool good = true;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		out = argv[2];
		i = 3;
	}
	for (command = i; command < argc && strcmp(argv[command], "--"); command++)
		;
	if (++command >= argc) {
		fprintf(stderr, "usage: pty [-o FILE] STEP... -- COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (!open_terminal() || tcgetattr(theirs, &before)) {
		perror("pty: a terminal");
		return 1;
	}
	/* The window has its size before the program looks. */
	for (; !strncmp(argv[i], "size=", 5); i++)
		good &= set_size(argv[i] + 5);
	child = fork();
	if (!child)
		run(argv + command);
	for (; good && i < command - 1; i++) {
		good = step(argv[i]);
		if (!good)
			fprintf(stderr, "pty: %s: failed\n", argv[i]);
	}
	if (!good)
		kill(child, SIGTERM);
	good &= finish();
	tcgetattr(theirs, &after);
	printf("terminal %s\n", before.c_lflag == after.c_lflag && before.c_iflag == after.c_iflag &&
	       before.c_oflag == after.c_oflag ? "same" : "changed");
	if (out && keep(out))
		return 1;
	return !good;
}
