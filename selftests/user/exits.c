// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that end in every way there is, one after another, many at a time:
 *
 *   exits NUMBER      so many, then prints how many tasks have ended
 *   exits 0           until it is killed
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE		24
#define THREADS		3

static const char *self;
static long ended;

static void *sleeps(void *ready)
{
	pthread_barrier_wait(ready);
	for (;;)
		pause();
	return NULL;
}

static void *returns(void *ready)
{
	pthread_barrier_wait(ready);
	return ready;
}

/* Threads that are killed by the exit of the first, or end by themselves. */
static void with_threads(void *(*body)(void *), int join)
{
	pthread_barrier_t ready;
	pthread_t threads[THREADS];
	int i, n = 0;

	pthread_barrier_init(&ready, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		n += !pthread_create(&threads[n], NULL, body, &ready);
	if (n < THREADS)
		_exit(1);
	pthread_barrier_wait(&ready);
	while (join && n)
		pthread_join(threads[--n], NULL);
	_exit(0);
}

/* How many ways there are, and how many tasks end in each. */
#define WAYS	7

static int tasks_of(int way)
{
	return way >= 5 ? 1 + THREADS : 1;
}

static void child(int way)
{
	switch (way) {
	case 0:
		_exit(0);
	case 1:
		/* Should this program be killed before it can. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	case 2:
		execl(self, self, "-1", (char *)NULL);
		_exit(1);
	case 3:
		raise(SIGSEGV);
		_exit(1);
	case 4:
		raise(SIGTERM);
		_exit(1);
	case 5:
		with_threads(sleeps, 0);
		break;
	default:
		with_threads(returns, 1);
	}
}

static void fails(const char *what)
{
	perror(what);
	exit(1);
}

/* Exit status 1 is for a child that could not do what it was to. */
static void reap(void)
{
	int status;

	if (wait(&status) < 0)
		fails("wait");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
		fprintf(stderr, "exits: a child could not go on\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	long number = argc > 1 ? atol(argv[1]) : 1000;
	int way, running = 0;
	pid_t pid;

	if (number < 0)
		return 0;
	self = argv[0];
	if (!strchr(self, '/'))
		self = "/proc/self/exe";
	setrlimit(RLIMIT_CORE, &none);
	for (way = 0; !number || ended < number; way = (way + 1) % WAYS) {
		if (running == AT_ONCE) {
			reap();
			running--;
		}
		pid = fork();
		if (pid < 0)
			fails("fork");
		if (!pid)
			child(way);
		running++;
		ended += tasks_of(way);
		if (way == 1)
			kill(pid, SIGKILL);
	}
	while (running--)
		reap();
	printf("%ld\n", ended);
	return 0;
}
