// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random schedules of larger cases. Everything a schedule consists of, the
 * programs included, follows from its seed.
 */

#include <stdio.h>
#include <string.h>

#include "cases.h"

/* Longer ones are given up; a step of every operation is bounded elsewhere. */
#define MAX_STEPS	20000

enum style {
	UNIFORM,	/* any CPU, each step */
	BURSTS,		/* mostly the same CPU as before */
	PRIORITY,	/* the most important ready CPU; priorities drop at a few points (PCT) */
	STALL,		/* now and then a CPU stands still for long, wherever it is */
	STYLES
};

static transition_t trace[MAX_STEPS];
static u8 state[sizeof(struct world) + MAX_CTX * 4096];

static u64 next(u64 *rng)
{
	*rng ^= *rng >> 12;
	*rng ^= *rng << 25;
	*rng ^= *rng >> 27;
	return *rng * 0x2545f4914f6cdd1dULL >> 11;
}

static u64 below(u64 *rng, u64 n)
{
	return next(rng) % n;
}

static void random_prog(u64 *rng, const char *letters, char *prog)
{
	unsigned int n = 4 + below(rng, MAX_PROG - 5), i, len = strlen(letters);

	for (i = 0; i < n; i++)
		prog[i] = letters[below(rng, len)];
	prog[n] = '\0';
}

/* One of the words in @words. */
static void random_word(u64 *rng, const char *words, char *word)
{
	unsigned int n = 1, i;
	const char *p;

	for (p = words; *p; p++)
		n += *p == ' ';
	for (i = below(rng, n), p = words; i; i--)
		p = strchr(p, ' ') + 1;
	n = strcspn(p, " ");
	memcpy(word, p, n);
	word[n] = '\0';
}

struct chooser {
	u64 rng;
	enum style style;
	unsigned int last;
	u8 prio[MAX_CPUS], lowest;
	u16 change_every;		/* PRIORITY, STALL: steps, on average */
	u8 stalled;			/* STALL: which CPU */
	u16 nmi_every, swap_every;	/* steps, on average */
};

static void chooser_init(struct chooser *ch, u64 rng)
{
	unsigned int i;

	memset(ch, 0, sizeof(*ch));
	ch->rng = rng;
	ch->style = below(&ch->rng, STYLES);
	ch->change_every = 10 + below(&ch->rng, 100);
	ch->nmi_every = 5 + below(&ch->rng, 40);
	ch->swap_every = 10 + below(&ch->rng, 40);
	ch->stalled = MAX_CPUS;
	ch->lowest = MAX_CPUS;
	for (i = 0; i < MAX_CPUS; i++)
		ch->prio[i] = MAX_CPUS + below(&ch->rng, 64);
}

static transition_t choose(struct chooser *ch, const transition_t *steps, unsigned int n)
{
	unsigned int i, best = 0;

	switch (ch->style) {
	case BURSTS:
		for (i = 0; i < n; i++)
			if (steps[i] == T_STEP(ch->last) && below(&ch->rng, 8))
				return steps[i];
		break;
	case PRIORITY:
		for (i = 1; i < n; i++)
			if (ch->prio[steps[i]] > ch->prio[steps[best]])
				best = i;
		if (ch->lowest && !below(&ch->rng, ch->change_every))
			ch->prio[steps[best]] = --ch->lowest;
		return steps[best];
	case STALL:
		if (!below(&ch->rng, ch->change_every))
			ch->stalled = below(&ch->rng, world.cpus + 1);
		i = below(&ch->rng, n);
		return steps[i] == T_STEP(ch->stalled) ? steps[(i + 1) % n] : steps[i];
	default:
		break;
	}
	return steps[below(&ch->rng, n)];
}

/* Steps come first in what machine_enabled() gives, then NMIs, then swaps. */
static transition_t pick(struct chooser *ch, const transition_t *list, unsigned int n)
{
	unsigned int steps, nmis;

	for (steps = 0; steps < n && list[steps] < 64; steps++)
		;
	for (nmis = 0; steps + nmis < n && list[steps + nmis] < 128; nmis++)
		;
	if (nmis && !below(&ch->rng, ch->nmi_every))
		return list[steps + below(&ch->rng, nmis)];
	n -= steps + nmis;
	if (n && !below(&ch->rng, ch->swap_every))
		return list[steps + nmis + below(&ch->rng, n)];
	return choose(ch, list, steps);
}

bool random_run(const struct sim_case *c, unsigned long seed, struct random_result *res)
{
	u64 rng = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	char progs[MAX_CPUS + 1][MAX_PROG];
	transition_t list[MAX_ENABLED];
	struct chooser ch;
	unsigned int n, i, steps = 0;

	for (i = 0; i < c->cpus; i++)
		random_prog(&rng, c->task[i] ? c->task[i] : c->task[0], progs[i]);
	random_word(&rng, c->nmi, progs[MAX_CPUS]);
	chooser_init(&ch, rng);
	machine.exhaustive = false;
	if (!case_setup(c, progs))
		fail("the case cannot be set up");
	while (!machine.failed && (n = machine_enabled(list, 0))) {
		transition_t t = pick(&ch, list, n);

		trace[steps++] = t;
		ch.last = t < 64 ? t : ch.last;
		res->nmis += (t & 192) == 64;
		res->swaps += t >= 128;
		if (!machine_do(t))
			break;
		if (steps == MAX_STEPS)
			fail("no end after %u steps", steps);
		/* Now and then a CPU has to get through on its own, to the end. */
		if (!below(&ch.rng, 64)) {
			machine_save(state);
			machine_solo(below(&ch.rng, c->cpus));
			machine_load(state);
		}
	}
	res->schedules++;
	res->steps += steps;
	if (!machine.failed)
		machine_finish();
	if (!machine.failed)
		return true;
	printf("# %s: %s\n# replay: --case %s --seed %lu\n# the schedule: ", c->name,
	       machine.failure, c->name, seed);
	trace_print(trace, steps);
	printf("\n");
	return false;
}
