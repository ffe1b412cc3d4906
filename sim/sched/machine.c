// SPDX-License-Identifier: GPL-2.0-only
/* Simulated CPUs as coroutines: running, saving and restoring them. */

#include <linux/kernel.h>
#include <sim.h>
#include <stdarg.h>
#include <stdio.h>

#include "coro.h"
#include "machine.h"
#include "ops.h"

#define STACK_SIZE	(32 * 1024)

struct world world;
struct machine machine;
struct ctx *current;
unsigned int krp_cpu;
unsigned long krp_cpu_offset;

static _Alignas(4096) u8 stacks[MAX_CTX][STACK_SIZE];
static void *driver_sp;
static char nmi_prog[MAX_PROG];

/* The first failure counts; where it is found nothing goes on. */
void fail(const char *fmt, ...)
{
	va_list args;

	if (machine.failed || machine.solo)
		return;
	machine.failed = true;
	va_start(args, fmt);
	vsnprintf(machine.failure, sizeof(machine.failure), fmt, args);
	va_end(args);
}

void *arena_alloc(size_t size, size_t align)
{
	u32 at = ALIGN(world.brk, align);

	if (at + size > ARENA_SIZE || world.nr_allocs == MAX_ALLOCS)
		return NULL;
	world.brk = at + size;
	world.alloc[world.nr_allocs++] = (struct alloc){ .at = at, .size = size };
	memset(world.arena + at, 0, size);
	return world.arena + at;
}

void arena_free(void *mem)
{
	unsigned int i, at = (u8 *)mem - world.arena;

	for (i = 0; i < world.nr_allocs; i++) {
		struct alloc *a = &world.alloc[i];

		if (a->at != at)
			continue;
		if (a->freed)
			fail("memory is freed twice");
		a->freed = true;
		world.any_freed = true;
		return;
	}
	fail("what is freed was never allocated");
}

static void check_not_freed(const void *p)
{
	unsigned int i, at = (const u8 *)p - world.arena;

	for (i = 0; i < world.nr_allocs; i++) {
		const struct alloc *a = &world.alloc[i];

		if (a->freed && at >= a->at && at < (unsigned int)a->at + a->size)
			fail("freed memory is accessed");
	}
}

void machine_on_cpu(unsigned int cpu)
{
	krp_cpu = cpu;
	krp_cpu_offset = (unsigned long)cpu * SIM_PERCPU_STRIDE;
}

void machine_yield(void)
{
	coro_switch(&current->sp, driver_sp);
}

void sim_point(enum sim_kind kind)
{
	if (!current)
		return;
	if (machine.solo) {
		if (++machine.solo_steps <= machine.solo_bound)
			return;
		machine.solo_over = true;
		machine_yield();
	}
	current->kind = kind;
	machine_yield();
}

void sim_touch(const void *p, size_t size, enum sim_kind kind)
{
	static const char * const kinds[] = { "load", "store", "locked", "percpu", "" };
	char what[64];

	if (world.any_freed)
		check_not_freed(p);
	machine.census_valid &= kind == SIM_LOAD;
	if (machine.verbose && current && !machine.solo) {
		algo->describe(p, what, sizeof(what));
		printf("  cpu%u %-4s op '%c': %-6s %s (was 0x%lx)\n", krp_cpu,
		       current - world.ctx < world.cpus ? "task" : "NMI", current->op,
		       kinds[kind], what, size == sizeof(long) ?
		       *(const unsigned long *)p : *(const u32 *)p);
	}
}

/*
 * Counters that only statistics read: no algorithm goes by them, so one step
 * more or less cannot matter; in exhaustive mode they even stay as they are,
 * so that states that differ in nothing else are one.
 */
void sim_count(unsigned long *p)
{
	if (!machine.exhaustive)
		++*p;
}

/* A point only where migrations can happen at all; inside, they cannot. */
void krp_preempt_disable(void)
{
	if (current && !machine.solo && world.swaps_left)
		sim_point(SIM_PREEMPT);
	if (current)
		current->preempt++;
}

void krp_preempt_enable(void)
{
	if (current)
		current->preempt--;
}

static void ctx_main(void)
{
	for (;;) {
		ops_run(current - world.ctx, current);
		current->live = 0;
		machine_yield();
	}
}

static void resume(struct ctx *ctx, unsigned int cpu)
{
	machine_on_cpu(cpu);
	current = ctx;
	coro_switch(&driver_sp, ctx->sp);
	current = NULL;
}

static void ctx_start(unsigned int nr, unsigned int cpu, const char *prog)
{
	struct ctx *ctx = &world.ctx[nr];

	memset(ctx, 0, sizeof(*ctx));
	strcpy(ctx->prog, prog);
	ctx->live = 1;
	ctx->sp = coro_new(stacks[nr] + STACK_SIZE, ctx_main);
	resume(ctx, cpu);
}

void machine_reset(unsigned int cpus, unsigned int nodes)
{
	unsigned int cpu;

	/* The arena is cleared as it is given out. */
	memset(&world, 0, offsetof(struct world, arena));
	machine.census_valid = false;
	machine.failed = false;
	machine.solo = false;
	machine.solo_over = false;
	current = NULL;
	sim_set_cpus(cpus, nodes);
	world.cpus = cpus;
	world.nr_ctx = cpus * (1 + MAX_NMI_DEPTH);
	for (cpu = 0; cpu < cpus; cpu++)
		world.base[cpu] = cpu;
}

void machine_task(unsigned int cpu, const char *prog)
{
	strcpy(world.ctx[cpu].prog, prog);
}

void machine_start(const char *prog, unsigned int nmis, unsigned int nmi_depth,
		   unsigned int swaps)
{
	char task_prog[MAX_PROG];
	unsigned int cpu;

	strcpy(nmi_prog, prog);
	world.nmis_left = nmis;
	world.nmi_depth = nmi_depth;
	world.swaps_left = swaps;
	for (cpu = 0; cpu < world.cpus; cpu++) {
		strcpy(task_prog, world.ctx[cpu].prog);
		ctx_start(cpu, cpu, task_prog);
	}
}

/* May the context go on? */
static bool ctx_ready(const struct ctx *ctx)
{
	unsigned int i;

	if (!ctx->live)
		return false;
	if (!ctx->waiting || (ctx->waiting == WAIT_BAG && world.bag_n))
		return true;
	for (i = 0; i < world.nr_ctx; i++)
		if (&world.ctx[i] != ctx && world.ctx[i].live &&
		    ops_awaited(&world.ctx[i], ctx->waiting))
			return false;
	return true;
}

static bool can_swap(unsigned int a, unsigned int b)
{
	const struct ctx *ta = &world.ctx[world.base[a]], *tb = &world.ctx[world.base[b]];

	return !world.depth[a] && !world.depth[b] && !ta->preempt && !tb->preempt &&
	       (ta->live || tb->live);
}

unsigned int machine_enabled(transition_t *list, unsigned int first)
{
	unsigned int n = 0, i, a, b;

	for (i = 0; i < world.cpus; i++) {
		unsigned int cpu = (first + i) % world.cpus;

		if (ctx_ready(&world.ctx[machine_top(cpu)]))
			list[n++] = T_STEP(cpu);
	}
	if (world.nmis_left)
		for (i = 0; i < world.cpus; i++)
			if (world.depth[i] < world.nmi_depth && world.ctx[world.base[i]].live &&
			    !world.ctx[world.base[i]].waiting)
				list[n++] = T_NMI(i);
	if (world.swaps_left)
		for (a = 0; a < world.cpus; a++)
			for (b = a + 1; b < world.cpus; b++)
				if (can_swap(a, b))
					list[n++] = T_SWAP(a, b);
	return n;
}

static u64 all_objs(void)
{
	return world.nr_objs == 64 ? ~0ULL : (1ULL << world.nr_objs) - 1;
}

/* Where the objects are now; false if that is not watched. */
static bool take_census(void)
{
	struct census *c = &machine.census;
	unsigned int i;

	if (machine.census_valid)
		return true;
	if (!algo->census || machine.no_census || world.finished || machine.failed)
		return false;
	memset(c, 0, sizeof(*c));
	if (!algo->census(c))
		return false;
	for (i = 0; i < world.nr_objs; i++)
		if (world.obj[i].state == OBJ_HELD && ((c->stash | c->reach | c->blocked) >> i & 1))
			fail("object %u is free while somebody holds it", i);
	machine.census_valid = true;
	return true;
}

/* After a step that has changed something: carries the checks of pops in progress on. */
static void watch_pops(void)
{
	unsigned int i, out;
	u64 in_place;

	if (machine.census_valid || !take_census())
		return;
	in_place = machine.census.stash | machine.census.reach;
	out = __builtin_popcountll(all_objs() & ~in_place);
	for (i = 0; i < world.nr_ctx; i++) {
		struct ctx *ctx = &world.ctx[i];

		if (ctx->window != WIN_OPEN)
			continue;
		ctx->stay &= in_place;
		ctx->reach &= machine.census.reach;
		ctx->strict |= out >= ctx->promised;
	}
}

/* The first access of a pop is about to happen: from here on it is watched. */
static void open_window(struct ctx *ctx)
{
	u64 in_place;

	if (ctx->window != WIN_ARMED || !take_census())
		return;
	in_place = machine.census.stash | machine.census.reach;
	ctx->window = WIN_OPEN;
	ctx->stay = in_place;
	ctx->reach = machine.census.reach;
	ctx->known = all_objs();
	ctx->promised = world.promised;
	ctx->strict = __builtin_popcountll(all_objs() & ~in_place) >= ctx->promised;
}

bool machine_do(transition_t t)
{
	unsigned int cpu = t & 63, a, b, nr;
	u8 base;

	if (t & 128) {
		a = (t >> 3) & 7;
		b = t & 7;
		base = world.base[a];
		world.base[a] = world.base[b];
		world.base[b] = base;
		world.swaps_left--;
		if (machine.verbose)
			printf("  the tasks of cpu%u and cpu%u change places\n", a, b);
		return true;
	}
	if (t & 64) {
		world.nmis_left--;
		nr = machine_nmi_ctx(cpu, world.depth[cpu]++);
		if (machine.verbose)
			printf("  cpu%u NMI\n", cpu);
		ctx_start(nr, cpu, nmi_prog);
	} else {
		nr = machine_top(cpu);
	}
	if (world.ctx[nr].live) {
		open_window(&world.ctx[nr]);
		resume(&world.ctx[nr], cpu);
	}
	if (!world.ctx[nr].live) {
		memset(&world.ctx[nr], 0, sizeof(world.ctx[nr]));
		if (world.depth[cpu])
			world.depth[cpu]--;
	}
	watch_pops();
	return !machine.failed;
}

bool machine_solo(unsigned int cpu)
{
	struct ctx *ctx = &world.ctx[machine_top(cpu)];

	if (!ctx->live || ctx->waiting || !ctx->op)
		return true;
	machine.solo = true;
	machine.solo_steps = 0;
	machine.solo_over = false;
	resume(ctx, cpu);
	machine.solo = false;
	machine.solo_max = max(machine.solo_max, machine.solo_steps);
	if (machine.solo_over)
		fail("cpu%u does not get through '%c' in %u steps with all others stopped",
		     cpu, ctx->op, machine.solo_bound);
	return !machine.solo_over;
}

bool machine_finish(void)
{
	return ops_finish() && !machine.failed;
}

static size_t put(u8 *buf, size_t n, const void *from, size_t size)
{
	memcpy(buf + n, from, size);
	return n + size;
}

static size_t get(const u8 *buf, size_t n, void *to, size_t size)
{
	memcpy(to, buf + n, size);
	return n + size;
}

/*
 * Up to the contexts in one piece, then the contexts there are, the part of
 * the arena that is in use, and the live part of the live stacks.
 */
size_t machine_save(u8 *buf)
{
	size_t n = put(buf, 0, &world, offsetof(struct world, ctx));
	unsigned int i;

	n = put(buf, n, world.ctx, world.nr_ctx * sizeof(struct ctx));
	n = put(buf, n, world.arena, ALIGN(world.brk, 8));
	for (i = 0; i < world.nr_ctx; i++)
		if (world.ctx[i].live)
			n = put(buf, n, world.ctx[i].sp,
				stacks[i] + STACK_SIZE - (u8 *)world.ctx[i].sp);
	return n;
}

void machine_load(const u8 *buf)
{
	size_t n = get(buf, 0, &world, offsetof(struct world, ctx));
	unsigned int i;

	machine.census_valid = false;
	n = get(buf, n, world.ctx, world.nr_ctx * sizeof(struct ctx));
	n = get(buf, n, world.arena, ALIGN(world.brk, 8));
	for (i = 0; i < world.nr_ctx; i++)
		if (world.ctx[i].live)
			n = get(buf, n, world.ctx[i].sp,
				stacks[i] + STACK_SIZE - (u8 *)world.ctx[i].sp);
}
