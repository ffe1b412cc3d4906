// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that call prctl(), the system call that the benchmark hooks. Prints
 * how many calls they made and how many seconds they took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Calls between two looks at whether it is time to stop. */
#define BATCH		64
/* Calls between two hops from CPU to CPU; odd, so that threads drift apart. */
#define HOP_CALLS	3001

/**
 * struct thread - a thread that calls
 * @id: its handle
 * @nr: its number
 * @calls: how many it has made
 * @start: when it began, nanoseconds
 * @end: when it was done
 *
 * On cache lines of its own.
 */
struct thread {
	_Alignas(256) pthread_t id;
	unsigned int nr;
	unsigned long long calls;
	unsigned long long start;
	unsigned long long end;
};

/**
 * struct options - what the command line says
 * @threads: how many
 * @ms: for how long they call, 0: until each has made @calls
 * @calls: so many each, 0: for @ms
 * @migrate: they hop from CPU to CPU
 */
struct options {
	unsigned long threads;
	unsigned long ms;
	unsigned long long calls;
	int migrate;
};

static struct options opt = { .threads = 1 };

static pthread_barrier_t barrier;
static atomic_int stop;
static int *cpus;
static unsigned int nr_cpus;

static void die(const char *what, int error)
{
	fprintf(stderr, "prctl_load: %s: %s\n", what, strerror(error));
	exit(1);
}

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The CPUs that this process may use. */
static void list_cpus(void)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity", errno);
	cpus = calloc(CPU_COUNT(&set), sizeof(*cpus));
	if (!cpus)
		die("calloc", ENOMEM);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[nr_cpus++] = cpu;
}

static void move_to(unsigned int nr)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[nr % nr_cpus], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity", errno);
}

static inline void call(unsigned int times)
{
	while (times--)
		syscall(SYS_prctl, PR_GET_TIMING, 0, 0, 0, 0);
}

static void *thread_fn(void *data)
{
	struct thread *thread = data;
	unsigned int cpu = thread->nr, batch = BATCH, to_hop = HOP_CALLS;

	move_to(cpu);
	pthread_barrier_wait(&barrier);
	thread->start = now_ns();
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		if (opt.calls && opt.calls - thread->calls < batch)
			batch = opt.calls - thread->calls;
		if (!batch)
			break;
		call(batch);
		thread->calls += batch;
		if (!opt.migrate)
			continue;
		if (to_hop > batch) {
			to_hop -= batch;
			continue;
		}
		/* Each thread with a stride of its own: they meet on CPUs, and part. */
		cpu += 1 + thread->nr % 3;
		move_to(cpu);
		to_hop = HOP_CALLS;
	}
	thread->end = now_ns();
	return NULL;
}

static void sleep_ms(unsigned long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static void run(void)
{
	unsigned long long calls = 0, start = ~0ULL, end = 0;
	struct thread *threads;
	unsigned long i;
	int error;

	threads = aligned_alloc(sizeof(*threads), opt.threads * sizeof(*threads));
	if (!threads)
		die("aligned_alloc", ENOMEM);
	memset(threads, 0, opt.threads * sizeof(*threads));
	pthread_barrier_init(&barrier, NULL, opt.threads + 1);

	for (i = 0; i < opt.threads; i++) {
		threads[i].nr = i;
		error = pthread_create(&threads[i].id, NULL, thread_fn, &threads[i]);
		if (error)
			die("pthread_create", error);
	}
	pthread_barrier_wait(&barrier);
	if (!opt.calls) {
		sleep_ms(opt.ms);
		atomic_store(&stop, 1);
	}
	for (i = 0; i < opt.threads; i++) {
		pthread_join(threads[i].id, NULL);
		calls += threads[i].calls;
		if (threads[i].start < start)
			start = threads[i].start;
		if (threads[i].end > end)
			end = threads[i].end;
	}
	printf("%llu %.6f\n", calls, (end - start) / 1e9);
	free(threads);
}

static void misuse(void)
{
	fputs("usage: prctl_load [--threads N] [--ms N | --calls N] [--migrate]\n"
	      "  --threads N  so many, on one CPU each (1)\n"
	      "  --ms N       call for so long (1000)\n"
	      "  --calls N    each thread calls exactly so often\n"
	      "  --migrate    threads hop from CPU to CPU while they call\n"
	      "Prints: CALLS SECONDS\n", stderr);
	exit(2);
}

static unsigned long long number(const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !value)
		misuse();
	return value;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "ms", required_argument, NULL, 'm' },
		{ "calls", required_argument, NULL, 'c' },
		{ "migrate", no_argument, &opt.migrate, 1 },
		{ }
	};
	int o;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (o) {
		case 't':
			opt.threads = number(optarg);
			break;
		case 'm':
			opt.ms = number(optarg);
			break;
		case 'c':
			opt.calls = number(optarg);
			break;
		case 0:
			break;
		default:
			misuse();
		}
	}
	if (optind != argc || opt.threads > 65536 || (opt.calls && opt.ms))
		misuse();
	if (!opt.ms)
		opt.ms = 1000;
	list_cpus();
	run();
	return 0;
}
