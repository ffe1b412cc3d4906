// SPDX-License-Identifier: GPL-2.0-only
/* sim-sched: explores schedules of objpool.c; --help says how. */

#include <getopt.h>
#include <signal.h>
#include <sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

#define MAX_TRACE	20000

const struct algo *algo;

static const char usage[] =
"sim-sched: explores schedules of objpool.c, compiled unmodified\n"
"  --exhaustive        all schedules of the small cases\n"
"  --random SECONDS    random schedules of the large cases, that long in all\n"
"  --first SEED        where random seeds start (default 0)\n"
"  --case NAME         only that case\n"
"  --max-states N      give a small case up above N states (default 100 million)\n"
"  --stop              no further case after one that fails\n"
"  --no-census         check only what operations return, not where objects are\n"
"  --seed SEED         with --case: one random schedule, every access printed\n"
"  --replay TRACE      with --case: that schedule, every access printed\n"
"  --list              names of the cases\n"
"Prints TAP; a failing schedule comes with the options that replay it.\n";

static unsigned int nr_ok, nr_failed;
static const char *running = "";

static void result(bool ok, const char *what)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", nr_ok + nr_failed + 1, what);
	fflush(stdout);
	if (ok)
		nr_ok++;
	else
		nr_failed++;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* A wild pointer in the code under test: it is caught, that is all. */
static void on_fault(int sig)
{
	static const char text[] = "\n# the code under test made a wild access\nnot ok - ";

	(void)sig;
	if (write(1, text, sizeof(text) - 1) < 0 || write(1, running, strlen(running)) < 0 ||
	    write(1, "\n", 1) < 0)
		_exit(2);
	_exit(1);
}

static void catch_faults(void)
{
	static char stack[64 * 1024];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };

	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGABRT, &act, NULL);
}

/*
 * Not a failure: objects that are popped and pushed again while a pop looks
 * for one can pass behind its back.
 */
static void print_strict(const struct sim_case *c)
{
	if (machine.strict_misses)
		printf("# %s: %lu pops failed while objects moved past them: never all out at once\n",
		       c->name, machine.strict_misses);
}

static void run_small(const struct sim_case *c, unsigned long max_states)
{
	struct explore_result res;
	double start = now();
	char what[256];
	bool ok;

	running = c->name;
	if (c->must_fail)
		printf("# expected to fail:\n");
	machine.solo_max = 0;
	machine.strict_misses = 0;
	ok = explore(c, max_states, &res);
	snprintf(what, sizeof(what),
		 "all schedules of %s%s: %lu states, %lu steps, %lu ends, depth %u, solo <= %u, %.1f s",
		 c->name, c->must_fail ? " fail, as they must" : "", res.states, res.transitions,
		 res.ends, res.depth, machine.solo_max, now() - start);
	print_strict(c);
	result(ok != c->must_fail, what);
}

static void run_large(const struct sim_case *c, double seconds, unsigned long first)
{
	struct random_result res = { 0 };
	double start = now();
	unsigned long seed;
	char what[256];
	bool ok = true;

	running = c->name;
	machine.strict_misses = 0;
	for (seed = first; ok && (seed % 64 || now() - start < seconds); seed++)
		ok = random_run(c, seed, &res);
	snprintf(what, sizeof(what),
		 "random schedules of %s: %lu schedules, %lu steps, %lu NMIs, %lu migrations",
		 c->name, res.schedules, res.steps, res.nmis, res.swaps);
	print_strict(c);
	result(ok, what);
}

static const struct sim_case *find_case(const struct sim_case *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}

static int replay(const struct sim_case *c, const char *text)
{
	static transition_t trace[MAX_TRACE];
	unsigned int n = trace_parse(text, trace, MAX_TRACE), i;

	machine.exhaustive = true;
	machine.verbose = true;
	if (!case_setup(c, NULL))
		fail("the case cannot be set up");
	for (i = 0; i < n && !machine.failed; i++)
		machine_do(trace[i]);
	for (i = 0; i < c->cpus && !machine.failed; i++)
		machine_solo(i);
	if (!machine.failed) {
		transition_t list[MAX_ENABLED];

		if (!machine_enabled(list, 0))
			machine_finish();
	}
	printf("%s\n", machine.failed ? machine.failure : "no failure");
	return machine.failed;
}

static int replay_seed(const struct sim_case *c, unsigned long seed)
{
	struct random_result res = { 0 };

	machine.verbose = true;
	return !random_run(c, seed, &res);
}

enum {
	OPT_EXHAUSTIVE = 1, OPT_RANDOM, OPT_FIRST, OPT_CASE, OPT_MAX, OPT_NO_CENSUS, OPT_SEED,
	OPT_REPLAY, OPT_STOP, OPT_LIST, OPT_HELP
};

static const struct option options[] = {
	{ "exhaustive", no_argument, NULL, OPT_EXHAUSTIVE },
	{ "random", required_argument, NULL, OPT_RANDOM },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "case", required_argument, NULL, OPT_CASE },
	{ "max-states", required_argument, NULL, OPT_MAX },
	{ "no-census", no_argument, NULL, OPT_NO_CENSUS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "replay", required_argument, NULL, OPT_REPLAY },
	{ "stop", no_argument, NULL, OPT_STOP },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ }
};

struct args {
	bool exhaustive, stop;
	double random;
	unsigned long first, max_states;
	const char *name, *seed, *trace;
};

static int run(const struct args *a)
{
	const struct sim_case *c;
	unsigned int large = 0;

	for (c = large_cases; c->name; c++)
		large += !a->name || !strcmp(c->name, a->name);
	for (c = small_cases; a->exhaustive && c->name && !(a->stop && nr_failed); c++)
		if (!a->name || !strcmp(c->name, a->name))
			run_small(c, a->max_states);
	for (c = large_cases; a->random > 0 && c->name && !(a->stop && nr_failed); c++)
		if (!a->name || !strcmp(c->name, a->name))
			run_large(c, a->random / large, a->first);
	printf("1..%u\n", nr_ok + nr_failed);
	return nr_failed || !nr_ok;
}

int main(int argc, char **argv)
{
	struct args a = { .max_states = 100000000 };
	const struct sim_case *c, *small, *large;
	int opt;

	sim_alloc_hook = arena_alloc;
	sim_free_hook = arena_free;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) > 0) {
		switch (opt) {
		case OPT_EXHAUSTIVE:
			a.exhaustive = true;
			break;
		case OPT_RANDOM:
			a.random = atof(optarg);
			break;
		case OPT_FIRST:
			a.first = strtoul(optarg, NULL, 0);
			break;
		case OPT_CASE:
			a.name = optarg;
			break;
		case OPT_MAX:
			a.max_states = strtoul(optarg, NULL, 0);
			break;
		case OPT_NO_CENSUS:
			machine.no_census = true;
			break;
		case OPT_SEED:
			a.seed = optarg;
			break;
		case OPT_REPLAY:
			a.trace = optarg;
			break;
		case OPT_STOP:
			a.stop = true;
			break;
		case OPT_LIST:
			for (c = small_cases; c->name; c++)
				printf("%s\n", c->name);
			for (c = large_cases; c->name; c++)
				printf("%s\n", c->name);
			return 0;
		default:
			fputs(usage, opt == OPT_HELP ? stdout : stderr);
			return opt == OPT_HELP ? 0 : 2;
		}
	}
	small = a.name ? find_case(small_cases, a.name) : NULL;
	large = a.name ? find_case(large_cases, a.name) : NULL;
	if ((a.name || a.seed || a.trace) && !small && !large) {
		fprintf(stderr, "sim-sched: no such case, see --list\n");
		return 2;
	}
	if (a.trace && small)
		return replay(small, a.trace);
	if (a.seed && large)
		return replay_seed(large, strtoul(a.seed, NULL, 0));
	if (!a.exhaustive && a.random <= 0) {
		fputs(usage, stderr);
		return 2;
	}
	catch_faults();
	return run(&a);
}
