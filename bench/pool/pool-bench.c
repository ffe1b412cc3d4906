// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nanoseconds per pop and push, for krp_objpool and the pools of algos.h, at
 * one thread, two, and one per processor, each pinned. Says, too, whether the
 * figures that krp_objpool is meant to reach are reached, but never fails.
 *
 * usage: pool-bench CSV-FILE [rounds]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "objpool.h"
#include "sim.h"

#include "algos.h"

enum { MAX_THREADS = 256, MAX_COUNTS = 3, OBJECTS_PER_THREAD = 16, BATCH = 256 };

/* Short, so that many pass without the scheduler taking a thread away. */
#define ROUND_NS	1000000
/* Rounds in which it did are repeated up to this often. */
#define TRIES		6

static union {
	struct mutex_list mutex_list;
	struct shared_lifo shared_lifo;
	struct percpu_rings rings;
	struct krp_objpool krp;
} pool;

static unsigned int nr_threads;

/* Each asks anew which CPU it is on, as code in the kernel has to. */
static inline void *rings_pop(void)
{
	return percpu_rings_pop(&pool.rings, smp_processor_id());
}

static inline void rings_push(void *obj)
{
	percpu_rings_push(&pool.rings, smp_processor_id(), obj);
}

/*
 * A pool that gives nothing, or a compiler that sees that nobody looks at the
 * object, would make the figures worthless.
 */
#define PAIRS(name, pop, push)						\
static noinline void name##_pairs(void)					\
{									\
	int i;								\
									\
	for (i = 0; i < BATCH; i++) {					\
		void *obj = pop;					\
									\
		if (unlikely(!obj))					\
			abort();					\
		__asm__ volatile("" : "+r" (obj));			\
		push;							\
	}								\
}

PAIRS(mutex_list, mutex_list_pop(&pool.mutex_list), mutex_list_push(&pool.mutex_list, obj))
PAIRS(shared_lifo, shared_lifo_pop(&pool.shared_lifo), shared_lifo_push(&pool.shared_lifo, obj))
PAIRS(rings, rings_pop(), rings_push(obj))
PAIRS(krp, krp_objpool_pop(&pool.krp), krp_objpool_push(obj, &pool.krp))

static void mutex_list_start(unsigned int nr)
{
	mutex_list_init(&pool.mutex_list, nr);
}

static void mutex_list_stop(void)
{
	mutex_list_exit(&pool.mutex_list);
}

static void shared_lifo_start(unsigned int nr)
{
	shared_lifo_init(&pool.shared_lifo, nr);
}

static void shared_lifo_stop(void)
{
	shared_lifo_exit(&pool.shared_lifo);
}

static void rings_start(unsigned int nr)
{
	percpu_rings_init(&pool.rings, nr, nr_threads);
}

static void rings_stop(void)
{
	percpu_rings_exit(&pool.rings);
}

static void krp_start(unsigned int nr)
{
	sim_set_cpus(nr_threads, 1);
	if (krp_objpool_setup() ||
	    krp_objpool_init(&pool.krp, nr, POOL_OBJECT_SIZE, GFP_KERNEL, NULL, NULL, NULL))
		abort();
}

static void krp_stop(void)
{
	krp_objpool_free(&pool.krp);
	krp_objpool_teardown();
}

enum { MUTEX_LIST, SHARED_LIFO, RINGS, KRP, NR_ALGOS };

static const struct algo {
	const char *name;
	void (*start)(unsigned int nr);
	void (*pairs)(void);
	void (*stop)(void);
} algos[NR_ALGOS] = {
	[MUTEX_LIST] = { "mutex-list", mutex_list_start, mutex_list_pairs, mutex_list_stop },
	[SHARED_LIFO] = { "shared-lifo", shared_lifo_start, shared_lifo_pairs, shared_lifo_stop },
	[RINGS] = { "percpu-ring-locked", rings_start, rings_pairs, rings_stop },
	[KRP] = { "krp_objpool", krp_start, krp_pairs, krp_stop },
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

struct worker {
	pool_aligned pthread_t thread;
	unsigned int cpu;
	void (*pairs)(void);
	uint64_t ns;
	uint64_t nr_pairs;
	bool disturbed;
};

static struct worker workers[MAX_THREADS];
static pool_aligned unsigned int arrived;

static long taken_away(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

static void *work(void *arg)
{
	struct worker *self = arg;
	uint64_t start, now;
	long before;

	sim_set_cpu(self->cpu);
	/* Caches and page tables warm, then all at once. */
	self->pairs();
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != nr_threads)
		sched_yield();

	before = taken_away();
	start = now_ns();
	do {
		self->pairs();
		self->nr_pairs += BATCH;
		now = now_ns();
	} while (now - start < ROUND_NS);
	self->ns = now - start;
	self->disturbed = taken_away() != before;
	return NULL;
}

/* The processors that this program may run on. */
static unsigned int processors[MAX_THREADS];

static unsigned int find_processors(void)
{
	cpu_set_t set;
	unsigned int cpu, nr = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (cpu = 0; cpu < CPU_SETSIZE && nr < MAX_THREADS; cpu++)
		if (CPU_ISSET(cpu, &set))
			processors[nr++] = cpu;
	return nr;
}

/* One round; nanoseconds that a pair takes a thread, all threads' mean. */
static double run_once(const struct algo *algo, unsigned int threads, bool *disturbed)
{
	double ns = 0, nr_pairs = 0;
	pthread_attr_t attr;
	unsigned int i;
	cpu_set_t set;

	nr_threads = threads;
	arrived = 0;
	algo->start(threads * OBJECTS_PER_THREAD);
	for (i = 0; i < threads; i++) {
		workers[i] = (struct worker){ .cpu = i, .pairs = algo->pairs };
		CPU_ZERO(&set);
		CPU_SET(processors[i], &set);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		if (pthread_create(&workers[i].thread, &attr, work, &workers[i])) {
			perror("pthread_create");
			exit(1);
		}
		pthread_attr_destroy(&attr);
	}
	*disturbed = false;
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		ns += workers[i].ns;
		nr_pairs += workers[i].nr_pairs;
		*disturbed |= workers[i].disturbed;
	}
	algo->stop();
	return ns / nr_pairs;
}

struct result {
	double *samples;
	unsigned int nr;
	unsigned int disturbed;
	double ns;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct result results[NR_ALGOS][MAX_COUNTS];

/* All algorithms in turn, so that what else the machine does hits all alike. */
static void measure(const unsigned int *threads, unsigned int nr_counts, unsigned int rounds)
{
	unsigned int round, algo, c, try;
	bool disturbed;
	double ns;

	for (algo = 0; algo < NR_ALGOS; algo++)
		for (c = 0; c < nr_counts; c++)
			results[algo][c].samples = calloc(rounds, sizeof(double));
	for (round = 0; round < rounds; round++) {
		for (c = 0; c < nr_counts; c++) {
			for (algo = 0; algo < NR_ALGOS; algo++) {
				struct result *result = &results[algo][c];

				for (try = 0; try < TRIES; try++) {
					ns = run_once(&algos[algo], threads[c], &disturbed);
					if (!disturbed)
						break;
				}
				result->samples[result->nr++] = ns;
				result->disturbed += disturbed;
			}
		}
	}
	for (algo = 0; algo < NR_ALGOS; algo++) {
		for (c = 0; c < nr_counts; c++) {
			struct result *result = &results[algo][c];

			qsort(result->samples, result->nr, sizeof(double), compare);
			result->ns = result->samples[result->nr / 2];
			free(result->samples);
		}
	}
}

static void print_machine(unsigned int processors_found, unsigned int rounds)
{
	char line[256], date[64];
	time_t now = time(NULL);
	FILE *info = fopen("/proc/cpuinfo", "r");

	line[0] = '\0';
	while (info && fgets(line, sizeof(line), info) && strncmp(line, "model name", 10))
		;
	if (info)
		fclose(info);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", localtime(&now));
	printf("%s; processor%s, %u of them; median of %u rounds of %d ms\n\n", date,
	       strchr(line, ':') ? strtok(strchr(line, ':'), "\n") : ": unknown",
	       processors_found, rounds, ROUND_NS / 1000000);
}

static void print_table(const unsigned int *threads, unsigned int nr_counts)
{
	unsigned int algo, c;

	printf("%-20s", "ns per pop + push");
	for (c = 0; c < nr_counts; c++)
		printf(" %4u thread%s %10s", threads[c], threads[c] > 1 ? "s" : " ", "relative");
	printf("  throughput, %u : %u\n", threads[nr_counts - 1], threads[0]);
	for (algo = 0; algo < NR_ALGOS; algo++) {
		printf("%-20s", algos[algo].name);
		for (c = 0; c < nr_counts; c++)
			printf(" %12.2f %9.2fx", results[algo][c].ns,
			       results[algo][c].ns / results[KRP][c].ns);
		printf("  %.2f\n", results[algo][0].ns / results[algo][nr_counts - 1].ns *
		       threads[nr_counts - 1] / threads[0]);
	}
	putchar('\n');
}

static void judge(const char *what, double value, bool reached, const char *target)
{
	printf("%s: %s is %.2f, wanted %s\n", reached ? "reached" : "MISSED", what, value, target);
}

static void print_verdict(const unsigned int *threads, unsigned int nr_counts, unsigned int rounds)
{
	double ratio = results[KRP][0].ns / results[RINGS][0].ns;
	unsigned int algo, c;

	judge("krp_objpool : percpu-ring-locked at 1 thread", ratio, ratio <= 0.5, "<= 0.50");
	if (nr_counts > 1) {
		ratio = 2 * results[KRP][0].ns / results[KRP][1].ns;
		judge("krp_objpool's throughput at 2 threads : at 1", ratio, ratio >= 1.9,
		      ">= 1.90");
	}
	for (algo = 0; algo < NR_ALGOS; algo++)
		for (c = 0; c < nr_counts; c++)
			if (results[algo][c].disturbed > rounds / 4)
				printf("note: %s at %u threads: other programs ran in %u of %u rounds\n",
				       algos[algo].name, threads[c], results[algo][c].disturbed,
				       rounds);
}

static int write_csv(const char *path, const unsigned int *threads, unsigned int nr_counts)
{
	FILE *csv = fopen(path, "w");
	unsigned int algo, c;

	if (!csv) {
		perror(path);
		return 1;
	}
	fprintf(csv, "algo,threads,ns_per_pair\n");
	for (algo = 0; algo < NR_ALGOS; algo++)
		for (c = 0; c < nr_counts; c++)
			fprintf(csv, "%s,%u,%.3f\n", algos[algo].name, threads[c],
				results[algo][c].ns);
	return fclose(csv) ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned int threads[MAX_COUNTS] = { 1 }, nr_counts = 1, nr, rounds = 151;

	if (argc == 3)
		rounds = strtoul(argv[2], NULL, 10);
	if (argc < 2 || argc > 3 || !rounds || rounds > 100000) {
		fprintf(stderr, "usage: %s CSV-FILE [rounds]\n", argv[0]);
		return 2;
	}
	nr = find_processors();
	if (!nr) {
		perror("sched_getaffinity");
		return 1;
	}
	if (nr > 2)
		threads[nr_counts++] = 2;
	if (nr > 1)
		threads[nr_counts++] = nr;
	print_machine(nr, rounds);
	measure(threads, nr_counts, rounds);
	print_table(threads, nr_counts);
	print_verdict(threads, nr_counts, rounds);
	return write_csv(argv[1], threads, nr_counts);
}
