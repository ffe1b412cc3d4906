// SPDX-License-Identifier: GPL-2.0-only
/* What the CPUs do with the pool. */

#include <krp_access.h>
#include <linux/kernel.h>
#include <sim.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

/* A CPU that finds nothing looks again after that many cycles. */
#define WAIT		50
/* Objects on their way from the CPU that pops to the one that pushes. */
#define BOX_SIZE	8
#define BURST		4
/* What a CPU wants at a time where there are five objects for four CPUs. */
#define WANTED		5

unsigned long model_pair_work;

static const struct model_algo *algo;
static struct box {
	void *obj[BOX_SIZE];
	unsigned int in, out;
} boxes[MODEL_MAX_CPUS];
static unsigned int pusher_of[MODEL_MAX_CPUS];

static void *pop_until_there(void)
{
	void *obj;

	while (!(obj = algo->pop()))
		model_work(WAIT);
	return obj;
}

static void pair_loop(void)
{
	for (;;) {
		void *obj = pop_until_there();

		if (model_pair_work)
			model_work(model_pair_work);
		algo->push(obj);
		model_count_pair();
	}
}

static void burst_loop(void)
{
	void *obj[BURST];
	unsigned int i;

	for (;;) {
		for (i = 0; i < BURST; i++)
			obj[i] = pop_until_there();
		for (i = 0; i < BURST; i++) {
			algo->push(obj[i]);
			model_count_pair();
		}
	}
}

/* Makes do with what it gets: to wait with objects in hand could be for ever. */
static void greedy_loop(void)
{
	void *obj[WANTED];
	unsigned int n;

	for (;;) {
		for (n = 0; n < WANTED && (obj[n] = algo->pop()); n++)
			;
		if (!n)
			model_work(WAIT);
		while (n) {
			algo->push(obj[--n]);
			model_count_pair();
		}
	}
}

static void pop_loop(void)
{
	struct box *box = &boxes[pusher_of[krp_cpu]];

	for (;;) {
		while (box->in - box->out == BOX_SIZE)
			model_work(WAIT);
		box->obj[box->in % BOX_SIZE] = pop_until_there();
		box->in++;
	}
}

static void push_loop(void)
{
	struct box *box = &boxes[krp_cpu];

	for (;;) {
		while (box->in == box->out)
			model_work(WAIT);
		algo->push(box->obj[box->out % BOX_SIZE]);
		box->out++;
		model_count_pair();
	}
}

static void spawn_all(unsigned int cpus, void (*fn)(void))
{
	unsigned int cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		model_spawn(cpu, fn);
}

static int steady(const struct model_algo *a, unsigned int cpus)
{
	spawn_all(cpus, pair_loop);
	return a->init(2 * cpus, cpus);
}

static int halves(const struct model_algo *a, unsigned int cpus)
{
	unsigned int i;

	for (i = 0; i < cpus / 2; i++) {
		pusher_of[i] = i + cpus / 2;
		model_spawn(i, pop_loop);
	}
	for (; i < cpus / 2 * 2; i++)
		model_spawn(i, push_loop);
	if (cpus == 1)
		model_spawn(0, pair_loop);
	return a->init(max(2 * cpus, 2U * BOX_SIZE), cpus);
}

static int one_each(const struct model_algo *a, unsigned int cpus)
{
	pusher_of[0] = cpus - 1;
	if (cpus == 1) {
		model_spawn(0, pair_loop);
	} else {
		model_spawn(0, pop_loop);
		model_spawn(cpus - 1, push_loop);
	}
	return a->init(max(2 * cpus, 2U * BOX_SIZE), cpus);
}

static int nearly_empty(const struct model_algo *a, unsigned int cpus)
{
	unsigned int cpu, n = 0, i;
	void *obj, **all;
	int ret = a->init(cpus, cpus);

	all = malloc(4 * cpus * sizeof(*all));
	if (ret || !all)
		abort();
	for (cpu = 0; cpu < cpus; cpu++) {
		sim_set_cpu(cpu);
		while ((obj = a->pop()))
			all[n++] = obj;
	}
	for (i = 0; i < cpus / 2 + 1 && i < n; i++) {
		sim_set_cpu(2 * i % cpus);
		a->push(all[i]);
	}
	free(all);
	spawn_all(cpus, pair_loop);
	return 0;
}

static int oversubscribed(const struct model_algo *a, unsigned int cpus)
{
	unsigned int promised = max(cpus / 4, 1U);

	spawn_all(cpus, greedy_loop);
	/* Ours has one more per CPU: so that this is no advantage, the others get them, too. */
	return a->init(promised + (1 - a->spare) * cpus, cpus);
}

static int depth4(const struct model_algo *a, unsigned int cpus)
{
	spawn_all(cpus, burst_loop);
	return a->init(2 * BURST * cpus, cpus);
}

const struct scenario scenarios[] = {
	{ "steady", "every CPU pops and pushes; twice as many objects as CPUs", steady, true },
	{ "producer-consumer", "the first half of the CPUs pops, the second half pushes", halves, false },
	{ "one-popper-one-pusher", "all pops on the first CPU, all pushes on the last, others idle",
	  one_each, false },
	{ "nearly-empty", "free objects for half of the CPUs, all others are out for good",
	  nearly_empty, true },
	{ "oversubscribed", "every CPU wants five at a time, takes what it gets and pushes that; all\n"
	  "there are is a quarter of it: objects for a quarter of the CPUs and one more for each",
	  oversubscribed, true },
	{ "depth4", "every CPU pops four, then pushes four; eight objects per CPU", depth4, true },
	{ }
};

struct point scenario_run(const struct scenario *s, const struct model_algo *a, unsigned int cpus)
{
	struct model_result res;
	struct point point = { 0 };
	unsigned long accesses;

	algo = a;
	memset(boxes, 0, sizeof(boxes));
	model_reset(cpus);
	if (s->setup(a, cpus)) {
		fprintf(stderr, "sim-model: %s with %u CPUs cannot be set up\n", s->name, cpus);
		exit(2);
	}
	/* Where CPUs look at all others before they find nothing, a round takes cpus squared. */
	accesses = 30000 + 3000UL * cpus;
	if (s->setup == halves || s->setup == oversubscribed)
		accesses += 10UL * cpus * cpus;
	res = model_run(accesses);
	if (res.cycles)
		point.pairs_per_kcycle = 1000.0 * res.pairs / res.cycles;
	point.idle = res.idle;
	if (res.pairs)
		point.transfers_per_pair = (double)res.transfers / res.pairs;
	return point;
}
