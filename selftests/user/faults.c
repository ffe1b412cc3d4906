// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults: does one thing again and again, and lets the first allocation in it
 * fail, then the second, and so on, until there is none left that could. The
 * kernel must have fault injection (/proc/self/fail-nth).
 *
 *   faults [OPTION...] write FILE TEXT
 *   faults [OPTION...] read FILE
 *   faults [OPTION...] load FILE.ko NAME    loads the module, and unloads it
 *     -c     not once more without a failure in between
 *     -e     any error will do, not out of memory alone
 *     -r     the last one first; how many there are is found out before
 *     -s N   only every Nth
 *     -t S   no longer than so many seconds
 *     -u TEXT   written each time it has worked, to undo it
 *
 * Exit status 0: each time it worked or failed with such an error, and worked
 * afterwards. Says on a line that begins with # how often.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ERRNO_MAX	4096

static char **op;
static const char *undo_text;
static bool clean_between = true, any_error, reverse;
static unsigned int step = 1, seconds;
static unsigned int nr_errors[ERRNO_MAX];

/* What the operation needs is opened before failures are asked for. */
static int op_fd = -1;

static bool op_is(const char *name)
{
	return !strcmp(op[0], name);
}

static int fail(const char *what)
{
	fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
	return 2;
}

static int op_read(void)
{
	char buf[4096];
	int fd = open(op[1], O_RDONLY), err = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	do {
		n = read(fd, buf, sizeof(buf));
		if (n < 0)
			err = errno;
	} while (n > 0);
	close(fd);
	return err;
}

static int op_do(void)
{
	if (op_is("write"))
		return write(op_fd, op[2], strlen(op[2])) < 0 ? errno : 0;
	if (op_is("read"))
		return op_read();
	return syscall(SYS_finit_module, op_fd, "", 0) ? errno : 0;
}

/* Without failures; a moment's patience with those who look at the module. */
static int op_undo(void)
{
	int tries;

	if (undo_text)
		return write(op_fd, undo_text, strlen(undo_text)) < 0 ? errno : 0;
	if (!op_is("load"))
		return 0;
	for (tries = 0; tries < 100; tries++) {
		if (!syscall(SYS_delete_module, op[2], O_NONBLOCK))
			return 0;
		if (errno != EWOULDBLOCK)
			break;
		usleep(50 * 1000);
	}
	return errno;
}

static int op_open(void)
{
	if (op_is("read"))
		return 0;
	op_fd = open(op[1], op_is("write") ? O_WRONLY : O_RDONLY);
	return op_fd < 0 ? -1 : 0;
}

/* Without failures, it works. */
static int op_works(unsigned int n)
{
	int err = op_do() ?: op_undo();

	if (err)
		printf("# after failure %u: %s\n", n, strerror(err));
	return err;
}

/* Does it with the @nth allocation failing; > 0 in @left: there are fewer, by so many. */
static int op_with(int nth_fd, unsigned int nth, int *left)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth), err, undo;

	if (pwrite(nth_fd, text, len, 0) != len)
		return -fail("fail-nth");
	err = op_do();
	len = pread(nth_fd, text, sizeof(text) - 1, 0);
	if (pwrite(nth_fd, "0", 1, 0) != 1 || len < 1)
		return -fail("fail-nth");
	text[len] = '\0';
	*left = atoi(text);
	undo = err ? 0 : op_undo();
	if (!undo)
		return err;
	printf("# failure %u: undoing: %s\n", nth, strerror(undo));
	return -1;
}

/* 1: it was made to fail and that is fine, 0: there are fewer, < 0: bad. */
static int op_fail(int nth_fd, unsigned int nth)
{
	int left = 0, err = op_with(nth_fd, nth, &left);

	if (err < 0)
		return err;
	if (left) {
		if (err)
			printf("# nothing was made to fail: %s\n", strerror(err));
		return err ? -1 : 0;
	}
	nr_errors[err % ERRNO_MAX]++;
	if (err && err != ENOMEM && !any_error) {
		printf("# failure %u: %s\n", nth, strerror(err));
		return -1;
	}
	return 1;
}

static unsigned int op_count(int nth_fd)
{
	unsigned int many = 1000000;
	int left = many, err = op_with(nth_fd, many, &left);

	return err ? 0 : many - left;
}

static int say_usage(void)
{
	fprintf(stderr, "usage: faults [-c] [-e] [-r] [-s STEP] [-t SECONDS] [-u TEXT] write FILE TEXT | read FILE | load FILE.ko NAME\n");
	return 2;
}

int main(int argc, char **argv)
{
	time_t begin = time(NULL);
	unsigned int nth, tried = 0, e;
	int nth_fd, c, ret, bad = 0;
	bool all = false;

	while ((c = getopt(argc, argv, "cers:t:u:")) != -1) {
		switch (c) {
		case 'c':
			clean_between = false;
			break;
		case 'e':
			any_error = true;
			break;
		case 'r':
			reverse = true;
			break;
		case 's':
			step = atoi(optarg);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 'u':
			undo_text = optarg;
			break;
		default:
			return say_usage();
		}
	}
	op = argv + optind;
	argc -= optind;
	if (!step || argc < 2 || argc != (op_is("read") ? 2 : 3) ||
	    (!op_is("read") && !op_is("write") && !op_is("load")))
		return say_usage();
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		return fail("fail-nth");
	if (op_open())
		return fail(op[1]);

	nth = 1;
	if (reverse) {
		nth = op_count(nth_fd);
		printf("# %s: %u allocations\n", op[argc - 1], nth);
		bad = !nth;
	}
	while (nth && !all && !bad) {
		ret = op_fail(nth_fd, nth);
		if (ret < 0 || (clean_between && op_works(nth)))
			bad++;
		tried++;
		if (reverse) {
			all = nth <= step;
			nth = all ? 0 : nth - step;
		} else {
			all = !ret;
			nth += step;
		}
		if (seconds && time(NULL) - begin > seconds)
			break;
	}
	if (!clean_between && op_works(nth))
		bad++;
	printf("# %s: %u allocations failed in turn%s:", op[argc - 1], tried,
	       all ? "" : ", not all of them");
	for (e = 0; e < ERRNO_MAX; e++)
		if (nr_errors[e])
			printf(" %u x %s", nr_errors[e], e ? strerror(e) : "worked all the same");
	printf("\n");
	return bad ? 1 : 0;
}
