// SPDX-License-Identifier: GPL-2.0-only
/*
 * uret offsets            where its functions are in this file
 * uret trap               how this kernel takes over returns
 * uret COMMAND [NUMBER]   calls them, in ways that are awkward to follow
 * Each function returns its first argument plus one.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET	__attribute((__noinline__, __noclone__, __noipa__, __aligned__(16)))

static jmp_buf out;
static char self[4096];

TARGET long u_leaf(long x)
{
	return x + 1;
}

/* By pointers, or the compiler would make loops of these. */
TARGET long u_recurse(long depth);
long (*u_recurse_again)(long depth) = u_recurse;

TARGET long u_recurse(long depth)
{
	return depth ? u_recurse_again(depth - 1) + 1 : 1;
}

/* Ends with a jump into the other. */
TARGET long u_tail(long x)
{
	return u_leaf(x);
}

TARGET long u_self(long x, long left);
long (*u_self_again)(long x, long left) = u_self;

/* Ends with a jump to its own first instruction. */
TARGET long u_self(long x, long left)
{
	if (!left)
		return x + 1;
	return u_self_again(x, left - 1);
}

TARGET long u_jump(long x, int depth);
long (*u_jump_again)(long x, int depth) = u_jump;

TARGET long u_jump(long x, int depth)
{
	if (depth)
		return u_jump_again(x - 1, depth - 1) + 1;
	if (x & 1)
		longjmp(out, 1);
	return x + 1;
}

TARGET long u_signal(long x)
{
	raise(SIGUSR1);
	return x + 1;
}

TARGET long u_fork(long x, pid_t *child)
{
	*child = fork();
	return x + 1;
}

/* Does not come back. */
TARGET long u_end(long x, int how)
{
	pid_t child;

	switch (how) {
	case 0:
		_exit(0);
	case 1:
		execl(self, self, "leaf", "1", NULL);
		_exit(1);
	case 2:
		kill(getpid(), SIGKILL);
		pause();
		break;
	case 3:
		/* Not pthread_exit(), which unwinds: over a trampoline it cannot. */
		syscall(SYS_exit, 0);
		break;
	case 4:
		child = vfork();
		if (!child) {
			execl(self, self, "leaf", "1", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		break;
	}
	return x + 1;
}

/* Sleeps until a byte comes from standard input. */
TARGET long u_block(long x)
{
	char c;

	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	return x + 1;
}

static const struct {
	const char *name;
	void *addr;
} functions[] = {
	{ "leaf", u_leaf }, { "recurse", u_recurse }, { "tail", u_tail }, { "self", u_self },
	{ "jump", u_jump }, { "signal", u_signal }, { "fork", u_fork }, { "end", u_end },
	{ "block", u_block },
};

static int offsets(void)
{
	unsigned long start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	size_t i;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx r-xp %lx", &start, &end, &offset) != 3)
			continue;
		for (i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
			unsigned long addr = (unsigned long)functions[i].addr;

			if (addr >= start && addr < end)
				printf("%s 0x%lx\n", functions[i].name, addr - start + offset);
		}
	}
	return 0;
}

/* A call that returned what it should not have ends the program. */
static void expect(long got, long arg)
{
	if (got != arg + 1) {
		fprintf(stderr, "uret: called with %ld, and %ld came back\n", arg, got);
		exit(1);
	}
}

static void run_leaf(long n)
{
	long i;

	for (i = 0; i < n; i++)
		expect(u_leaf(i), i);
}

static void *leaf_thread(void *n)
{
	run_leaf((long)n);
	return NULL;
}

static void *recurse_thread(void *n)
{
	long i;

	for (i = 0; i < (long)n; i++)
		expect(u_recurse(i % 20), i % 20);
	return NULL;
}

static void *block_thread(void *x)
{
	expect(u_block((long)x), (long)x);
	return NULL;
}

static void *end_thread(void *x)
{
	u_end((long)x, 3);
	return NULL;
}

static void run_threads(void *(*fn)(void *), long n, void *arg)
{
	pthread_t threads[64];
	long i;

	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, fn, arg);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Out of every other call, from here and from deeper: then one that returns. */
static void run_jump(long n)
{
	static long i;

	for (i = 0; i < n; i++) {
		if (!setjmp(out))
			expect(u_jump(i, i % 3), i);
	}
}

static void on_signal(int sig)
{
	(void)sig;
	run_leaf(1);
}

static void run_signal(long n)
{
	long i;

	signal(SIGUSR1, on_signal);
	for (i = 0; i < n; i++)
		expect(u_signal(i), i);
}

static void run_fork(long n)
{
	pid_t child;
	int status;
	long i;

	for (i = 0; i < n; i++) {
		expect(u_fork(i, &child), i);
		if (!child) {
			/* Its calls are its own. */
			run_leaf(3);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status) {
			fprintf(stderr, "uret: the child ended with %#x\n", status);
			exit(1);
		}
	}
}

static void run_end(long n)
{
	pid_t child;
	long i;

	for (i = 0; i < n; i++) {
		if (i % 5 > 2) {
			if (i % 5 == 3)
				run_threads(end_thread, 1, (void *)i);
			else
				expect(u_end(i, 4), i);
			continue;
		}
		child = fork();
		if (!child) {
			u_end(i, i % 5);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}

/* Calls for so many seconds, by so many threads: calls and seconds. */
static int stop;

static void *bench_thread(void *calls)
{
	unsigned long *n = calls;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		u_leaf(*n);
		++*n;
	}
	return NULL;
}

static void run_bench(long threads, long seconds)
{
	static struct {
		unsigned long calls;
		pthread_t thread;
	} __attribute((__aligned__(128))) worker[64];
	unsigned long calls = 0;
	struct timespec a, b;
	long i;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < threads; i++)
		pthread_create(&worker[i].thread, NULL, bench_thread, &worker[i].calls);
	sleep(seconds);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		calls += worker[i].calls;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%lu %.3f\n", calls, b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) * 1e-9);
}

/*
 * The kernel takes over returns by a breakpoint, or by a system call, which
 * nobody else may make.
 */
static int how_returns_trap(void)
{
	const char *how = "breakpoint";
#ifdef __x86_64__
	int status = 0;
	pid_t child = fork();

	if (!child) {
		syscall(335);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL)
		how = "system call";
#endif
	puts(how);
	return 0;
}

static int run(const char *command, long n, long m)
{
	long i;

	if (!strcmp(command, "leaf"))
		run_leaf(n);
	else if (!strcmp(command, "recurse"))
		expect(u_recurse(n), n);
	else if (!strcmp(command, "tail"))
		for (i = 0; i < n; i++)
			expect(u_tail(i), i);
	else if (!strcmp(command, "self"))
		for (i = 0; i < n; i++)
			expect(u_self(i, 3), i);
	else if (!strcmp(command, "jump"))
		run_jump(n);
	else if (!strcmp(command, "signal"))
		run_signal(n);
	else if (!strcmp(command, "fork"))
		run_fork(n);
	else if (!strcmp(command, "end"))
		run_end(n);
	else if (!strcmp(command, "threads"))
		run_threads(leaf_thread, n, (void *)m);
	else if (!strcmp(command, "deep-threads"))
		run_threads(recurse_thread, n, (void *)m);
	else if (!strcmp(command, "block"))
		run_threads(block_thread, n, (void *)5);
	else if (!strcmp(command, "bench"))
		run_bench(n, m);
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 1, m = argc > 3 ? atol(argv[3]) : 1;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc < 2 || len < 0) {
		fprintf(stderr, "usage: uret offsets | uret trap | uret COMMAND [NUMBER [NUMBER]]\n");
		return 2;
	}
	if (!strcmp(argv[1], "offsets"))
		return offsets();
	if (!strcmp(argv[1], "trap"))
		return how_returns_trap();
	return run(argv[1], n, m);
}
