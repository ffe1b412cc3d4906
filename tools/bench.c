// SPDX-License-Identifier: GPL-2.0-only
/* kretpool bench: drives the benchmark module. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

#define BENCH_DIR	"/proc/kretpool_bench/"

static const char * const modes[] = { "native", "kretprobe", "kretpool" };

static int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int file_scan(const char *path, const char *format, uint64_t *a, uint64_t *b)
{
	FILE *f = fopen(path, "r");
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, format, a, b);
	fclose(f);
	return n == 2 ? 0 : -EINVAL;
}

static int complain(int err)
{
	if (err == -ENOENT && access(BENCH_DIR, F_OK))
		fprintf(stderr, "kretpool: the benchmark module is not loaded. Type: modprobe kretpool_bench\n");
	else if (err == -EACCES || err == -EPERM)
		fprintf(stderr, "kretpool: this is for root. Type: sudo kretpool bench\n");
	else if (err == -EINVAL)
		fprintf(stderr, "kretpool: the benchmark cannot run so many threads: there is one per CPU at most\n");
	else
		fprintf(stderr, "kretpool: %s: %s\n", BENCH_DIR, strerror(-err));
	return EXIT_FAILED;
}

static int run_mode(const char *mode, unsigned long long seconds, unsigned long long threads,
		    double *native)
{
	uint64_t calls, ns, hits, missed;
	char text[64];
	double each;
	int ret;

	ret = file_write(BENCH_DIR "mode", mode);
	/* A kernel may lack what one mode needs. */
	if (ret && ret != -EACCES && ret != -EPERM && access(BENCH_DIR, F_OK) == 0) {
		printf("%-10s left out: %s\n", mode, strerror(-ret));
		return 0;
	}
	if (ret)
		return ret;
	snprintf(text, sizeof(text), "%llu %llu", threads, seconds * 1000);
	ret = file_write(BENCH_DIR "run", text) ?:
	      file_scan(BENCH_DIR "run", "%" SCNu64 " %" SCNu64, &calls, &ns) ?:
	      file_scan(BENCH_DIR "mode", "%*s %" SCNu64 " %" SCNu64, &hits, &missed);
	if (ret)
		return ret;
	each = calls ? (double)ns * threads / calls : 0;
	if (!strcmp(mode, "native"))
		*native = each;
	printf("%-10s %12.3f %12.1f %12.1f %12" PRIu64 "\n", mode,
	       ns ? calls * 1e3 / ns : 0.0, each, each - *native, missed);
	return 0;
}

/**
 * command_bench() - kretpool bench
 * @argc: arguments
 * @argv: likewise
 *
 * Return: the exit status.
 */
int command_bench(int argc, char **argv)
{
	unsigned long long seconds = 1, threads = 1;
	double native = 0;
	size_t i;
	int c, ret = 0;

	opterr = 0;
	while ((c = getopt(argc, argv, "t:j:")) != -1) {
		if (c != 't' && c != 'j')
			return help_usage("bench", "bench has no option -%c, or it lacks its value",
					  optopt);
		if (!help_number(optarg, c == 't' ? &seconds : &threads) || seconds > 600 ||
		    threads > 100000)
			return help_usage("bench", "-%c takes a whole number from 1", c);
	}
	if (optind < argc)
		return help_usage("bench", "bench takes no '%s'", argv[optind]);
	if (access(BENCH_DIR, F_OK))
		return complain(-ENOENT);
	printf("%-10s %12s %12s %12s %12s\n", "", "million/s", "ns a call", "ns added", "missed");
	for (i = 0; i < ARRAY_SIZE(modes) && !ret; i++) {
		ret = run_mode(modes[i], seconds, threads, &native);
		fflush(stdout);
	}
	file_write(BENCH_DIR "mode", "native");
	return ret ? complain(ret) : 0;
}
