// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every schedule of a small case, by depth-first search over its states.
 *
 * Reduction: a state that has been reached before is not gone on from again.
 * That is sound because all the future can depend on is in what is compared:
 * the pool's memory, the contexts with their registers and live stacks, what
 * may still be injected, and all that the checks carry along (who holds what,
 * what pops in progress have seen). The machine is deterministic, so equal
 * bytes have equal futures, and what is wrong in one of them would have been
 * found from the first. Bytes that do not matter but differ (a dead local on a
 * live stack, say) only make the search longer.
 * States are compared by a 64-bit hash: with n states the chance that any two
 * share one is about n * n / 2^65, 10^-5 for 20 million.
 *
 * What this does not see, an operation that goes round in circles without
 * changing the state, is looked for apart: from every state each CPU runs
 * alone, all others stopped, and has to come to the end of its operation
 * within a bound. A CPU that just made a step was already run alone from the
 * state before, along the same path; it is left out.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

struct node {
	size_t saved;			/* position in the save stack */
	u8 n, next;
	transition_t list[MAX_ENABLED];
};

#define MAX_DEPTH	4096
#define SAVE_STACK	(64UL << 20)
#define STATE_MAX	(16 * 1024)

static struct node nodes[MAX_DEPTH];
static u8 *saves;
static u64 *table;
static unsigned long table_size, table_used;

static u64 hash(const u8 *p, size_t n)
{
	u64 a = 0x9e3779b97f4a7c15ULL ^ n, b = 0xd1b54a32d192ed03ULL, w;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		a = (a ^ w) * 0xff51afd7ed558ccdULL;
		a ^= a >> 32;
		b = (b + a) * 0xc4ceb9fe1a85ec53ULL;
	}
	for (; n; n--, p++)
		a = (a ^ *p) * 0xff51afd7ed558ccdULL;
	a ^= b >> 29;
	a *= 0xc4ceb9fe1a85ec53ULL;
	a ^= a >> 32;
	return a ? a : 1;
}

static void table_insert(u64 h)
{
	unsigned long i = h & (table_size - 1);

	while (table[i])
		i = (i + 1) & (table_size - 1);
	table[i] = h;
}

/* True if @h was not there before. */
static bool table_add(u64 h)
{
	unsigned long i = h & (table_size - 1), old_size, j;
	u64 *old;

	for (; table[i]; i = (i + 1) & (table_size - 1))
		if (table[i] == h)
			return false;
	table[i] = h;
	if (++table_used < table_size / 2)
		return true;

	old = table;
	old_size = table_size;
	table_size *= 2;
	table = calloc(table_size, sizeof(*table));
	if (!table)
		abort();
	for (j = 0; j < old_size; j++)
		if (old[j])
			table_insert(old[j]);
	free(old);
	return true;
}

static void print_failure(const struct sim_case *c, unsigned int depth)
{
	transition_t trace[MAX_DEPTH];
	unsigned int i;

	for (i = 0; i < depth; i++)
		trace[i] = nodes[i].list[nodes[i].next - 1];
	printf("# %s: %s\n# replay: --case %s --replay ", c->name, machine.failure, c->name);
	trace_print(trace, depth);
	printf("\n");
}

/* Lock freedom, as said above; @t led here. */
static bool check_solo(transition_t t, const u8 *state)
{
	unsigned int cpu, stepped = t & 128 ? MAX_CPUS : t & 63;

	for (cpu = 0; cpu < world.cpus; cpu++) {
		if (cpu == stepped)
			continue;
		if (!machine_solo(cpu))
			return false;
		machine_load(state);
	}
	return true;
}

/* Takes the state as it is as a node, unless it was seen before. */
static bool push_node(unsigned int depth, size_t at, transition_t t, struct explore_result *res)
{
	struct node *node = &nodes[depth];
	size_t size = machine_save(saves + at);

	if (depth + 1 == MAX_DEPTH || at + size + STATE_MAX > SAVE_STACK) {
		fail("the case is too large: %u steps", depth);
		return false;
	}
	if (!table_add(hash(saves + at, size)))
		return false;
	res->states++;
	if (depth > res->depth)
		res->depth = depth;
	if (!check_solo(t, saves + at))
		return false;
	node->n = machine_enabled(node->list, t & 128 ? 0 : t & 63);
	node->next = 0;
	node->saved = at;
	nodes[depth + 1].saved = at + size;
	if (node->n)
		return true;
	res->ends++;
	machine_finish();
	return false;
}

bool explore(const struct sim_case *c, unsigned long max_states, struct explore_result *res)
{
	unsigned int depth = 0;
	bool here;

	memset(res, 0, sizeof(*res));
	if (!saves)
		saves = malloc(SAVE_STACK);
	table_size = 1UL << 20;
	table_used = 0;
	table = calloc(table_size, sizeof(*table));
	if (!saves || !table)
		abort();
	machine.exhaustive = true;
	if (!case_setup(c, NULL) || !push_node(0, 0, T_SWAP(0, 0), res))
		fail("the case cannot be set up");
	here = true;		/* the machine is in the state of nodes[depth] */
	while (!machine.failed) {
		struct node *node = &nodes[depth];
		transition_t t;

		if (node->next == node->n) {
			if (!depth)
				break;
			depth--;
			here = false;
			continue;
		}
		if (!here)
			machine_load(saves + node->saved);
		t = node->list[node->next++];
		res->transitions++;
		here = machine_do(t) && push_node(depth + 1, nodes[depth + 1].saved, t, res);
		if (machine.failed)
			print_failure(c, depth + 1);
		if (here)
			depth++;
		if (res->states >= max_states) {
			fail("more than %lu states", max_states);
			printf("# %s: %s\n", c->name, machine.failure);
		}
	}
	free(table);
	return !machine.failed;
}
