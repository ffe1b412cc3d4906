// SPDX-License-Identifier: GPL-2.0-only
/* The cost model, see the header. */

#include <krp_access.h>
#include <linux/kernel.h>
#include <sim.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "coro.h"
#include "machine.h"

#define LINE_SHIFT	6
#define MEMORY		(256UL << 20)
#define LINES		(MEMORY >> LINE_SHIFT)
#define STACK_SIZE	(16 * 1024)
#define CPU_WORDS	(MODEL_MAX_CPUS / 64)

struct line {
	u64 busy_until;
	u16 writer;		/* who has it for writing, plus one */
	u64 readers[CPU_WORDS];
};

struct cpu {
	void *sp;
	u64 clock;
	bool paired;
};

struct model_costs model_costs = {
	.hit = 1, .locked = 20, .near = 60, .far = 200, .per_socket = 64,
};
unsigned int krp_cpu;
unsigned long krp_cpu_offset;

static struct cpu cpus[MODEL_MAX_CPUS];
static unsigned int nr_cpus;
static u8 *memory, *stacks;
static struct line *lines;
static size_t brk_at;

static u16 heap[MODEL_MAX_CPUS];
static unsigned int heap_n;

static bool running;
static void *main_sp;
static unsigned long limit, warm;
static u64 start_clock;
static struct model_result count;

static void *fresh(void *old, size_t size)
{
	void *mem;

	if (old)
		munmap(old, size);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		abort();
	return mem;
}

void model_reset(unsigned int n)
{
	memory = fresh(memory, MEMORY);
	lines = fresh(lines, LINES * sizeof(*lines));
	stacks = fresh(stacks, MODEL_MAX_CPUS * STACK_SIZE);
	brk_at = 0;
	nr_cpus = n;
	heap_n = 0;
	memset(cpus, 0, sizeof(cpus));
	sim_set_cpus(n, (n + model_costs.per_socket - 1) / model_costs.per_socket);
	while (n--)
		sim_cpu_node[n] = n / model_costs.per_socket;
}

void *model_alloc(size_t size, size_t align)
{
	size_t at = ALIGN(brk_at, align);

	if (at + size > MEMORY)
		return NULL;
	brk_at = at + size;
	return memory + at;
}

void model_free(void *mem)
{
	(void)mem;
}

static bool earlier(unsigned int a, unsigned int b)
{
	return cpus[a].clock != cpus[b].clock ? cpus[a].clock < cpus[b].clock : a < b;
}

static void heap_push(unsigned int cpu)
{
	unsigned int i = heap_n++;

	for (; i && earlier(cpu, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = cpu;
}

/* Puts @cpu in and takes the earliest out. */
static unsigned int heap_replace(unsigned int cpu)
{
	unsigned int top = heap[0], i = 0, child;

	while ((child = 2 * i + 1) < heap_n) {
		if (child + 1 < heap_n && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], cpu))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = cpu;
	return top;
}

static void on_cpu(unsigned int cpu)
{
	krp_cpu = cpu;
	krp_cpu_offset = (unsigned long)cpu * SIM_PERCPU_STRIDE;
}

void model_spawn(unsigned int cpu, void (*fn)(void))
{
	cpus[cpu].sp = coro_new(stacks + (size_t)(cpu + 1) * STACK_SIZE, fn);
	heap_push(cpu);
}

/* Goes on with whoever is earliest. */
static void my_turn(void)
{
	unsigned int me = krp_cpu, other;

	if (!heap_n || !earlier(heap[0], me))
		return;
	other = heap_replace(me);
	on_cpu(other);
	coro_switch(&cpus[me].sp, cpus[other].sp);
	on_cpu(me);
}

void model_work(unsigned long cycles)
{
	cpus[krp_cpu].clock += cycles;
	my_turn();
}

void model_count_pair(void)
{
	count.pairs++;
	cpus[krp_cpu].paired = true;
}

static unsigned int distance(unsigned int a, unsigned int b)
{
	return a / model_costs.per_socket == b / model_costs.per_socket ?
	       model_costs.near : model_costs.far;
}

/* Is any reader other than @cpu there, and how far is the farthest, or the nearest? */
static unsigned int readers_distance(const struct line *line, unsigned int cpu, bool farthest)
{
	unsigned int best = 0, d, i;
	u64 word;

	for (i = 0; i < CPU_WORDS; i++) {
		for (word = line->readers[i]; word; word &= word - 1) {
			unsigned int other = i * 64 + __builtin_ctzll(word);

			if (other == cpu)
				continue;
			d = distance(cpu, other);
			if (!best || (farthest ? d > best : d < best))
				best = d;
			if (best == (farthest ? model_costs.far : model_costs.near))
				return best;
		}
	}
	return best;
}

static void transfer(struct line *line, struct cpu *cpu, unsigned int cost, bool queue)
{
	if (queue) {
		cpu->clock = max(cpu->clock, line->busy_until);
		line->busy_until = cpu->clock + cost;
	}
	cpu->clock += cost;
}

static void load(struct line *line, unsigned int me)
{
	struct cpu *cpu = &cpus[me];
	unsigned int cost;

	if (line->writer == me + 1 || line->readers[me / 64] >> me % 64 & 1)
		return;
	if (line->writer) {
		count.transfers++;
		transfer(line, cpu, distance(me, line->writer - 1), true);
		line->readers[(line->writer - 1) / 64] |= 1ULL << (line->writer - 1) % 64;
		line->writer = 0;
	} else {
		cost = readers_distance(line, me, false);
		count.transfers += !!cost;
		/* A line on its way to the first reader has to get there. */
		cpu->clock = max(cpu->clock, line->busy_until);
		transfer(line, cpu, cost ? cost : model_costs.near, false);
	}
	line->readers[me / 64] |= 1ULL << me % 64;
}

static void store(struct line *line, unsigned int me)
{
	struct cpu *cpu = &cpus[me];
	unsigned int cost;

	if (line->writer == me + 1)
		return;
	if (line->writer) {
		count.transfers++;
		transfer(line, cpu, distance(me, line->writer - 1), true);
	} else {
		cost = readers_distance(line, me, true);
		count.transfers += !!cost;
		if (cost || !(line->readers[me / 64] >> me % 64 & 1))
			transfer(line, cpu, cost ? cost : model_costs.near, true);
		memset(line->readers, 0, sizeof(line->readers));
	}
	line->writer = me + 1;
}

void sim_point(enum sim_kind kind)
{
	(void)kind;
	if (running)
		my_turn();
}

/* From here on it counts. */
static void begin_count(u64 clock)
{
	unsigned int i;

	for (i = 0; i < nr_cpus; i++)
		cpus[i].paired = false;
	count.pairs = 0;
	count.transfers = 0;
	start_clock = clock;
}

static void end_count(u64 clock)
{
	unsigned int i;

	for (i = 0; i < nr_cpus; i++)
		count.idle += !cpus[i].paired;
	count.cycles = clock - start_clock;
}

void sim_touch(const void *p, size_t size, enum sim_kind kind)
{
	struct line *line = &lines[((const u8 *)p - memory) >> LINE_SHIFT];
	struct cpu *cpu = &cpus[krp_cpu];

	(void)size;
	if (!running)
		return;
	if (kind == SIM_LOAD)
		load(line, krp_cpu);
	else
		store(line, krp_cpu);
	cpu->clock += model_costs.hit + (kind == SIM_RMW ? model_costs.locked : 0);
	if (++count.accesses == warm)
		begin_count(cpu->clock);
	if (count.accesses == limit) {
		end_count(cpu->clock);
		coro_switch(&cpu->sp, main_sp);
	}
}

void sim_count(unsigned long *p)
{
	sim_touch(p, sizeof(*p), SIM_LOCAL);
	++*p;
}

void krp_preempt_disable(void)
{
}

void krp_preempt_enable(void)
{
}

struct model_result model_run(unsigned long accesses)
{
	unsigned int first = heap[0];

	memset(&count, 0, sizeof(count));
	limit = accesses;
	warm = accesses / 3;
	running = true;
	heap_n--;
	memmove(heap, heap + 1, heap_n * sizeof(heap[0]));
	on_cpu(first);
	coro_switch(&main_sp, cpus[first].sp);
	running = false;
	return count;
}
