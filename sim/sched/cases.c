// SPDX-License-Identifier: GPL-2.0-only
/* The cases, and how one is set up. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#define KRP		.algo = &algo_krp, .nodes = 1
#define KRP_NUMA	.algo = &algo_krp, .nodes = 2

/* Explored in full. */
const struct sim_case small_cases[] = {
	/* Two CPUs. */
	{ "2cpu-stash", KRP, .cpus = 2, .nr_objs = 1, .task = { "ououou", "ououou" } },
	{ "2cpu-miss", KRP, .cpus = 2, .nr_objs = 1, .task = { "oooouuuuoo", "oooouuuuoo" } },
	{ "2cpu-pass", KRP, .cpus = 2, .nr_objs = 3, .task = { "ssssoou", "rrrroou" } },
	{ "2cpu-fifo", KRP, .cpus = 2, .nr_objs = 3, .task = { "ooovvvoov", "ovovoouuou" } },
	{ "2cpu-double", KRP, .cpus = 2, .nr_objs = 1, .task = { "DXDX", "ooouDXu" } },
	{ "2cpu-wrap", KRP, .cpus = 2, .nr_objs = 2, .setup = "t0ot0ot0vt0v",
	  .task = { "oovvoovvoovvoovvoovv", "oooouuu" } },
	{ "2cpu-lap", KRP, .cpus = 2, .nr_objs = 4, .setup = "t1st1st1ot0rt0r",
	  .task = { "oouuoouu", "oou" } },
	{ "2cpu-home", KRP, .cpus = 2, .nr_objs = 6, .setup = "t1ot1ot1ot1ot1ot1ot1o",
	  .task = { "oouuoou", "uuuuuuuoo" } },
	{ "2cpu-grow", KRP, .cpus = 2, .nr_objs = 1, .task = { "wwooouu", "oooouuuu" } },
	{ "2cpu-fini", KRP, .cpus = 2, .nr_objs = 2, .setup = "t1ot1ot0o",
	  .task = { "df", "oddd" } },
	{ "2cpu-fini-grown", KRP, .cpus = 2, .nr_objs = 1, .task = { "woouf", "oood" } },

	/* Three. */
	{ "3cpu-miss", KRP, .cpus = 3, .nr_objs = 1, .task = { "oouu", "oouu", "oouu" } },
	{ "3cpu-pass", KRP, .cpus = 3, .nr_objs = 2, .task = { "ssso", "rrru", "oou" } },
	{ "3cpu-fifo", KRP, .cpus = 3, .nr_objs = 3, .task = { "oovv", "ooovv", "oou" } },
	{ "3cpu-behind", KRP, .cpus = 3, .nr_objs = 6,
	  .setup = "t0ot0ot0ot1st1st1st2rt2rt1r", .task = { "o", "rrrrr", "sssss" } },
	{ "3cpu-fini", KRP, .cpus = 3, .nr_objs = 1, .setup = "t1ot2o",
	  .task = { "of", "d", "odd" } },
	{ "3cpu-home", KRP, .cpus = 3, .nr_objs = 6,
	  .setup = "t1ot1ot1ot1ot1ot1ot1ot0st2st1rt1rt1vt1vt1v",
	  .task = { "ooooooo", "vvvv", "" } },

	/* Two nodes. */
	{ "2cpu-numa", KRP_NUMA, .cpus = 2, .nr_objs = 2, .task = { "ooouuu", "oouuo" } },
	{ "3cpu-numa", KRP_NUMA, .cpus = 3, .nr_objs = 1, .task = { "oouu", "oouu", "oou" } },

	/* NMIs on top. */
	{ "nmi-home-word", KRP, .cpus = 2, .nr_objs = 2, .nmis = 1, .nmi_depth = 1, .nmi = "u",
	  .setup = "t0on0ot0wt0wt0wt0wt0wt0ot0ot0ot0ot0ot0ut0ut0ut0ut0u",
	  .task = { "u", "oo" } },
	{ "nmi-pair", KRP, .cpus = 2, .nr_objs = 2, .nmis = 2, .nmi_depth = 1, .nmi = "ou",
	  .task = { "oouu", "oouu" } },
	{ "nmi-push", KRP, .cpus = 2, .nr_objs = 3, .nmis = 2, .nmi_depth = 1, .nmi = "u",
	  .setup = "n0on0on1o", .task = { "oouu", "oouuo" } },
	{ "nmi-pop", KRP, .cpus = 2, .nr_objs = 2, .nmis = 2, .nmi_depth = 1, .nmi = "o",
	  .task = { "oouu", "oouuo" } },
	{ "nmi-nested-push", KRP, .cpus = 2, .nr_objs = 3, .nmis = 2, .nmi_depth = 2,
	  .nmi = "uo", .setup = "n0on0on1o", .task = { "oouu", "oou" } },
	{ "nmi-full-ring", KRP, .cpus = 2, .nr_objs = 5, .nmis = 2, .nmi_depth = 2, .nmi = "u",
	  .setup = "t1ot1ot1ot1on1on1o", .task = { "oo", "uuuuo" } },
	{ "nmi-drop", KRP, .cpus = 2, .nr_objs = 2, .nmis = 2, .nmi_depth = 2, .nmi = "d",
	  .setup = "n0on1ot1o", .task = { "fd", "ddd" } },

	/* Tasks that are moved to another CPU. */
	{ "swap", KRP, .cpus = 2, .nr_objs = 2, .swaps = 2, .task = { "oouu", "oouu" } },
	{ "swap-idle", KRP, .cpus = 3, .nr_objs = 1, .swaps = 2, .task = { "oouu", "oou", "" } },
	{ "swap-nmi", KRP, .cpus = 2, .nr_objs = 2, .swaps = 1, .nmis = 1, .nmi_depth = 1,
	  .nmi = "ou", .task = { "oouu", "oou" } },

	/* What the kernel has: good without NMIs, and not with them. */
	{ "kernel-objpool", .algo = &algo_kernel, .cpus = 2, .nodes = 1, .nr_objs = 3,
	  .task = { "oouuoo", "ooouuu" } },
	{ "kernel-objpool-nmi", .algo = &algo_kernel, .cpus = 2, .nodes = 1, .nr_objs = 3,
	  .nmis = 1, .nmi_depth = 1, .nmi = "ou", .task = { "oouu", "ou" }, .must_fail = true },

	/* The longest. */
	{ "nmi-wrap", KRP, .cpus = 2, .nr_objs = 2, .nmis = 1, .nmi_depth = 1, .nmi = "oovv",
	  .setup = "t0ot0ot0vt0v", .task = { "oovvoovvoovvoovv", "ooouuu" } },
	{ "nmi-nested", KRP, .cpus = 2, .nr_objs = 2, .nmis = 2, .nmi_depth = 2, .nmi = "oouu",
	  .task = { "oouu", "oou" } },
	{ "nmi-3cpu", KRP, .cpus = 3, .nr_objs = 1, .nmis = 1, .nmi_depth = 1, .nmi = "ou",
	  .task = { "oou", "oou", "oou" } },
	{ "nmi-home", KRP, .cpus = 3, .nr_objs = 6, .nmis = 2, .nmi_depth = 1, .nmi = "u",
	  .setup = "t1on1on1ot1ot1ot1ot1ot0st2st1rt1rt1ut1ut1u",
	  .task = { "oooooo", "uuo", "" } },
	{ }
};

#define MIX	"oouuvvsr"
#define NMIS	"ou u o oouu uo ouou vv"

/* Sampled at random: the programs are letters drawn from those given. */
const struct sim_case large_cases[] = {
	{ "r-2cpu", KRP, .cpus = 2, .nr_objs = 3, .nmis = 6, .nmi_depth = 2, .swaps = 2,
	  .nmi = NMIS, .task = { MIX } },
	{ "r-4cpu-few", KRP, .cpus = 4, .nr_objs = 2, .nmis = 6, .nmi_depth = 2, .swaps = 2,
	  .nmi = NMIS, .task = { MIX } },
	{ "r-4cpu", KRP, .cpus = 4, .nr_objs = 12, .nmis = 8, .nmi_depth = 2, .swaps = 4,
	  .nmi = NMIS, .task = { MIX } },
	{ "r-pass", KRP, .cpus = 4, .nr_objs = 6, .nmis = 4, .nmi_depth = 2,
	  .nmi = NMIS, .task = { "ssro", "rrsu" } },
	{ "r-grow", KRP, .cpus = 3, .nr_objs = 2, .nmis = 4, .nmi_depth = 2,
	  .nmi = NMIS, .task = { "wouv", MIX, MIX } },
	{ "r-home", KRP, .cpus = 3, .nr_objs = 20, .nmis = 4, .nmi_depth = 2, .swaps = 2,
	  .nmi = NMIS, .task = { "ooosou", "uuvvro", MIX } },
	{ "r-numa", KRP_NUMA, .cpus = 6, .nr_objs = 8, .nmis = 4, .nmi_depth = 2, .swaps = 2,
	  .nmi = NMIS, .task = { MIX } },
	{ "r-8cpu", KRP, .cpus = 8, .nr_objs = 24, .nmis = 8, .nmi_depth = 2, .swaps = 4,
	  .nmi = NMIS, .task = { MIX } },
	{ }
};

/* Runs the setup's triplets. */
static void prepare(const char *setup)
{
	for (; setup && *setup; setup += 3) {
		unsigned int cpu = setup[1] - '0';

		machine_on_cpu(cpu);
		ops_now(setup[0] == 't' ? &world.task_hand[cpu] : &world.nmi_hand[cpu], setup[2]);
	}
}

bool case_setup(const struct sim_case *c, char progs[][MAX_PROG])
{
	unsigned int i;

	algo = c->algo;
	machine_reset(c->cpus, c->nodes);
	machine.solo_bound = 16 + c->cpus * (16 + 2 * c->nr_objs);
	if (algo->init(c->nr_objs))
		return false;
	world.promised = c->nr_objs;
	prepare(c->setup);
	for (i = 0; i < c->cpus; i++)
		machine_task(i, progs ? progs[i] : c->task[i]);
	machine_start(progs ? progs[MAX_CPUS] : c->nmi ? c->nmi : "", c->nmis, c->nmi_depth,
		      c->swaps);
	return !machine.failed;
}

static void print_one(transition_t t)
{
	if (t & 128)
		printf("x%u%u", (t >> 3) & 7, t & 7);
	else
		printf("%s%u", t & 64 ? "n" : "", t & 63);
}

/* Repeated transitions are counted: 0*12. */
void trace_print(const transition_t *trace, unsigned int n)
{
	unsigned int i, run;

	for (i = 0; i < n; i += run) {
		for (run = 1; i + run < n && trace[i + run] == trace[i]; run++)
			;
		if (i)
			printf(",");
		print_one(trace[i]);
		if (run > 1)
			printf("*%u", run);
	}
}

unsigned int trace_parse(const char *text, transition_t *trace, unsigned int max)
{
	unsigned int n = 0, run;
	transition_t t;

	while (*text) {
		if (*text == 'x' && text[1] && text[2]) {
			t = T_SWAP(text[1] - '0', text[2] - '0');
			text += 3;
		} else if (*text == 'n' && text[1]) {
			t = T_NMI(text[1] - '0');
			text += 2;
		} else {
			t = T_STEP(*text - '0');
			text++;
		}
		run = *text == '*' ? strtoul(text + 1, (char **)&text, 10) : 1;
		while (run-- && n < max)
			trace[n++] = t;
		text += *text == ',';
	}
	return n;
}
