// SPDX-License-Identifier: GPL-2.0-only
/* sim-model: how the pools scale in the cost model; --help says how. */

#include <getopt.h>
#include <linux/kernel.h>
#include <sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static const char usage[] =
"sim-model: pop and push on simulated CPUs whose cache transfers cost time\n"
"  --max-cpus N      1, 2, 4 ... N CPUs (default 512, the most there can be)\n"
"  --per-socket N    CPUs per socket (default 64)\n"
"  --hit N           cycles of an access that hits the own cache (default 1)\n"
"  --locked N        further cycles of a locked access (default 20)\n"
"  --near N          cycles of a transfer within a socket (default 60)\n"
"  --far N           cycles of a transfer between sockets (default 200)\n"
"  --csv FILE        write algo,scenario,cpus,pairs_per_kcycle,transfers_per_pair\n"
"  --check           judge the figures, as TAP\n"
"model/machine.h says what is modelled and what is not.\n";

static const char header[] =
"Model: a private cache per CPU, lines of 64 bytes; an access that hits costs %u cycles, a locked\n"
"one %u more, a transfer between caches %u within a socket of %u CPUs, %u across; transfers of a\n"
"line wait for each other; plain accesses and everything else are free. Pairs of pop and push\n"
"per 1,000 cycles, all CPUs together, and transfers between caches per pair.\n";

#define MAX_ALGOS	8

static unsigned int max_cpus = MODEL_MAX_CPUS;
static unsigned int nr_ok, nr_failed;

static void check(bool ok, const char *what)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", nr_ok + nr_failed + 1, what);
	if (ok)
		nr_ok++;
	else
		nr_failed++;
}

static const struct model_algo *algo_named(const char *name)
{
	const struct model_algo *a = model_algos;

	while (strcmp(a->name, name))
		a++;
	return a;
}

/* What the sum of all CPUs does not show. */
static void print_idle(const unsigned int *idle, unsigned int cpus)
{
	const struct model_algo *a;

	printf("got nothing in that time, of %u CPUs:", cpus);
	for (a = model_algos; a->name; a++)
		printf(" %s %u%s", a->name, *idle++, a[1].name ? "," : "\n");
}

static void sweep(FILE *csv)
{
	unsigned int cpus, idle[MAX_ALGOS];
	const struct scenario *s;
	const struct model_algo *a;

	printf(header, model_costs.hit, model_costs.locked, model_costs.near,
	       model_costs.per_socket, model_costs.far);
	for (s = scenarios; s->name; s++) {
		printf("\n%s: %s\n%6s", s->name, s->what, "CPUs");
		for (a = model_algos; a->name; a++)
			printf("  %24s", a->name);
		printf("\n");
		for (cpus = 1; cpus <= max_cpus; cpus *= 2) {
			printf("%6u", cpus);
			for (a = model_algos; a->name; a++) {
				struct point p = scenario_run(s, a, cpus);

				idle[a - model_algos] = p.idle;
				printf("  %12.2f (%9.3f)", p.pairs_per_kcycle, p.transfers_per_pair);
				if (csv)
					fprintf(csv, "%s,%s,%u,%.4f,%.4f\n", a->name, s->name, cpus,
						p.pairs_per_kcycle, p.transfers_per_pair);
			}
			printf("\n");
			fflush(stdout);
		}
		if (s->all)
			print_idle(idle, cpus / 2);
	}
}

static void run_checks(void)
{
	const struct model_algo *krp = algo_named("krp_objpool");
	struct point one = scenario_run(scenarios, krp, 1), p;
	char what[160];
	unsigned int cpus;

	for (cpus = 1; cpus <= max_cpus; cpus *= 2) {
		p = scenario_run(scenarios, krp, cpus);
		snprintf(what, sizeof(what),
			 "krp_objpool steady, %u CPUs: %.3f transfers per pair, %.3f of linear", cpus,
			 p.transfers_per_pair, p.pairs_per_kcycle / one.pairs_per_kcycle / cpus);
		check(p.transfers_per_pair == 0 &&
		      p.pairs_per_kcycle >= 0.98 * cpus * one.pairs_per_kcycle, what);
	}
	check(compare_published(algo_named("shared-lifo")),
	      "the shared freelist collapses from 1 to 64 CPUs, as published");
	printf("1..%u\n", nr_ok + nr_failed);
}

static const struct option options[] = {
	{ "max-cpus", required_argument, NULL, 'm' },
	{ "per-socket", required_argument, NULL, 's' },
	{ "hit", required_argument, NULL, 'h' },
	{ "locked", required_argument, NULL, 'l' },
	{ "near", required_argument, NULL, 'n' },
	{ "far", required_argument, NULL, 'f' },
	{ "csv", required_argument, NULL, 'o' },
	{ "check", no_argument, NULL, 'c' },
	{ "help", no_argument, NULL, '?' },
	{ }
};

int main(int argc, char **argv)
{
	bool judge = false;
	FILE *csv = NULL;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) > 0) {
		unsigned int n = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (opt) {
		case 'm':
			max_cpus = n;
			break;
		case 's':
			model_costs.per_socket = n;
			break;
		case 'h':
			model_costs.hit = n;
			break;
		case 'l':
			model_costs.locked = n;
			break;
		case 'n':
			model_costs.near = n;
			break;
		case 'f':
			model_costs.far = n;
			break;
		case 'o':
			csv = fopen(optarg, "w");
			break;
		case 'c':
			judge = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
		if (opt == 'o' && !csv) {
			perror(optarg);
			return 2;
		}
	}
	if (max_cpus < 1 || max_cpus > MODEL_MAX_CPUS || model_costs.per_socket < 8) {
		fprintf(stderr, "sim-model: 1 to %u CPUs, sockets of 8 at least\n", MODEL_MAX_CPUS);
		return 2;
	}
	sim_alloc_hook = model_alloc;
	sim_free_hook = model_free;
	if (judge) {
		run_checks();
		return nr_failed != 0;
	}
	if (csv)
		fprintf(csv, "algo,scenario,cpus,pairs_per_kcycle,transfers_per_pair\n");
	sweep(csv);
	compare_published(algo_named("shared-lifo"));
	if (csv && fclose(csv)) {
		perror("sim-model");
		return 2;
	}
	return 0;
}
