// SPDX-License-Identifier: GPL-2.0-only
/*
 * G3 at every instruction: before each instruction of a pop or push in turn
 * other pops and pushes run to their end - on the same CPU, as an NMI's would,
 * or on another. Then all is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "trap.h"

enum { CPUS = 2, NR = 3, MORE = 6, TOTAL = NR + CPUS + MORE };

static struct krp_objpool pool;

/* Objects that are out and nobody is about to push. */
static struct object *out[TOTAL + 1];
static unsigned int nr_out;

/* Pops of scripts since the stepped operation began. */
static unsigned int script_pops;

/*
 * The only ways into the pool, and the stretches of code that are interrupted:
 * what this file does around them need not bear it.
 */
static bool in_pool;

static void set_in_pool(bool in)
{
	barrier();
	in_pool = in;
	barrier();
}

static noinline struct object *pool_pop(void)
{
	struct object *obj;

	set_in_pool(true);
	obj = krp_objpool_pop(&pool);
	set_in_pool(false);
	return obj;
}

static noinline int pool_push(struct object *obj)
{
	int ret;

	set_in_pool(true);
	ret = krp_objpool_push(obj, &pool);
	set_in_pool(false);
	return ret;
}

static bool pop_one(void)
{
	struct object *obj = pool_pop();

	if (!obj)
		return false;
	object_taken(obj, 1);
	if (CHECK(nr_out < TOTAL))
		out[nr_out++] = obj;
	script_pops++;
	return true;
}

static void push_one(void)
{
	struct object *obj;

	if (!nr_out)
		return;
	obj = out[--nr_out];
	object_given(obj, 1);
	CHECK_EQ(pool_push(obj), 0);
}

/* o: pop, u: push, D: pop until there is nothing, F: push all that is out. */
static void run_script(const char *script)
{
	for (; *script; script++) {
		switch (*script) {
		case 'o':
			pop_one();
			break;
		case 'u':
			push_one();
			break;
		case 'D':
			while (pop_one())
				;
			break;
		case 'F':
			while (nr_out)
				push_one();
			break;
		}
	}
}

struct intruder {
	unsigned int cpu;
	const char *script;
};

static const struct intruder intruders[] = {
	{ 0, "o" }, { 0, "u" }, { 0, "ou" }, { 0, "uo" }, { 0, "D" }, { 0, "F" }, { 0, "DF" },
	{ 0, "FD" }, { 0, "uuoo" }, { 0, "oouu" }, { 0, "oouuu" },
	{ 1, "o" }, { 1, "u" }, { 1, "uo" }, { 1, "D" }, { 1, "F" }, { 1, "DF" }, { 1, "FD" },
};

/* An instruction, for trap_before(). */
struct place {
	unsigned char *ip;
	unsigned int visit;
};

/* Who comes, and where; the second one interrupts the first. */
static struct {
	const struct intruder *who;
	struct place place;
	bool came;
} plan[2];

static void run_first(void)
{
	run_script(plan[0].who->script);
}

static void second_comes(void)
{
	unsigned int cpu = krp_cpu;

	plan[1].came = true;
	/* What interrupts from another CPU is simply that CPU, going on. */
	world_be(plan[1].who->cpu);
	run_script(plan[1].who->script);
	set_in_pool(true);
	world_be(cpu);
}

static void first_comes(void)
{
	unsigned int cpu = krp_cpu;

	plan[0].came = true;
	world_be(plan[0].who->cpu);
	if (plan[1].who)
		trap_before(run_first, plan[1].place.ip, plan[1].place.visit, second_comes);
	else
		run_first();
	set_in_pool(true);
	world_be(cpu);
}

/* The operation that is interrupted. */
static bool op_is_push;
static struct object *op_obj;
static int op_ret;

static void operation(void)
{
	if (op_is_push)
		op_ret = pool_push(op_obj);
	else
		op_obj = pool_pop();
}

/* Every instruction of the operation, as it runs when nothing interrupts it. */
static struct place places[2000];
static unsigned int nr_places;

static void note_place(unsigned char *ip)
{
	unsigned int i, visit = 1;

	if (!in_pool || !trap_can_stop_at(ip) || nr_places == ARRAY_SIZE(places))
		return;
	for (i = 0; i < nr_places; i++)
		visit += places[i].ip == ip;
	places[nr_places++] = (struct place){ ip, visit };
}

/* What CPU 0 can reach. */
static unsigned int reachable(void)
{
	struct krp_objpool_stats st;

	krp_objpool_stats(&pool, &st);
	return st.nr_free - !!per_cpu_ptr(pool.slots, 1)->stash;
}

static void walk(unsigned int steps, unsigned int bias)
{
	while (steps--) {
		world_be(world_random() % CPUS);
		if (world_random() % 8 <= bias)
			pop_one();
		else
			push_one();
	}
}

/* CPU 0's stash and ring are filled up to some point, CPU 1's perhaps a bit. */
static void arrange(unsigned int seed)
{
	unsigned int cpu, push;

	for (cpu = 0; cpu < CPUS; cpu++) {
		world_be(cpu);
		run_script("D");
	}
	for (push = seed / 28 % 3; push; push--)
		push_one();
	world_be(0);
	for (push = 1 + seed / 4 % 7; push; push--)
		push_one();
	/* Out of the stash. */
	if (seed % 8 > 3)
		pop_one();
}

/* Some state or other, the same for the same seed. */
static void prepare(unsigned int seed)
{
	world_seed(seed);
	nr_out = 0;
	CHECK_EQ(krp_objpool_init(&pool, NR, sizeof(struct object), GFP_KERNEL, NULL, NULL, NULL),
		 0);
	if (seed % 3)
		CHECK_EQ(krp_objpool_grow(&pool, MORE, GFP_KERNEL, NULL), 0);
	walk(4 + seed % 37, seed % 7);
	if (seed % 4 > 1)
		arrange(seed);
	world_be(0);
}

static void put_back_and_count(void)
{
	struct krp_objpool_stats st;
	unsigned int cpu, nr;

	world_be(world_random() % CPUS);
	while (nr_out)
		push_one();
	krp_objpool_stats(&pool, &st);
	CHECK_EQ(st.nr_free, pool.nr_total);
	/* Counters agree; now the objects themselves. */
	for (cpu = 0; cpu < CPUS; cpu++) {
		world_be(cpu);
		while (pop_one())
			;
	}
	nr = nr_out;
	CHECK_EQ(nr, pool.nr_total);
	krp_objpool_free(&pool);
}

/* Brings about state @seed; false if it has nothing to push. */
static bool prepare_operation(unsigned int seed, bool push)
{
	prepare(seed);
	op_is_push = push;
	if (!push)
		return true;
	if (!nr_out && !pop_one()) {
		krp_objpool_free(&pool);
		return false;
	}
	op_obj = out[--nr_out];
	object_given(op_obj, 1);
	return true;
}

static void finish_operation(unsigned int reachable_before)
{
	world_be(0);
	if (op_is_push) {
		CHECK_EQ(op_ret, 0);
	} else if (op_obj) {
		object_taken(op_obj, 1);
		out[nr_out++] = op_obj;
	} else {
		/* G2: one that was there and that nobody else took was missed. */
		CHECK(reachable_before <= script_pops);
	}
	put_back_and_count();
}

static bool find_places(unsigned int seed, bool push)
{
	unsigned int before;

	nr_places = 0;
	if (!prepare_operation(seed, push))
		return false;
	before = reachable();
	script_pops = 0;
	trap_steps(operation, note_place);
	finish_operation(before);
	return true;
}

static void one_run(unsigned int seed, bool push)
{
	unsigned int before;

	prepare_operation(seed, push);
	before = reachable();
	script_pops = 0;
	plan[0].came = false;
	plan[1].came = false;
	trap_before(operation, plan[0].place.ip, plan[0].place.visit, first_comes);
	/* The same state, the same way to that place. */
	CHECK(plan[0].came);
	finish_operation(before);
}

static void every_instruction(unsigned int seeds, bool push)
{
	unsigned int seed, place, runs = 0;
	size_t i;

	if (TRAP_MISSING) {
		tap_skip(TRAP_MISSING);
		return;
	}
	world_begin(CPUS);
	plan[1].who = NULL;
	for (seed = 1; seed <= seeds; seed++) {
		if (!find_places(seed, push))
			continue;
		for (i = 0; i < ARRAY_SIZE(intruders); i++) {
			for (place = 0; place < nr_places; place++) {
				tap_note("state %u, \"%s\" on CPU %u before instruction %u", seed,
					 intruders[i].script, intruders[i].cpu, place);
				plan[0].who = &intruders[i];
				plan[0].place = places[place];
				one_run(seed, push);
				runs++;
			}
		}
	}
	tap_say("%u runs", runs);
	CHECK(runs > 20 * seeds * ARRAY_SIZE(intruders));
	world_end();
}

/* Sanitizers make each instruction many. */
#define SEEDS	(WORLD_ASAN ? 16 : 90)

static void test_pop_interrupted_everywhere(void)
{
	every_instruction(SEEDS, false);
}

static void test_push_interrupted_everywhere(void)
{
	every_instruction(SEEDS, true);
}

static unsigned int dice(unsigned int sides)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % sides;
}

/* An interrupt in the operation, and an NMI in the interrupt. */
static void test_interrupted_twice(void)
{
	struct place inner[ARRAY_SIZE(places)];
	unsigned int seed, place, k, nr_inner = 0, both = 0, runs = 0;

	if (TRAP_MISSING) {
		tap_skip(TRAP_MISSING);
		return;
	}
	world_begin(CPUS);
	for (seed = 1; seed <= 2 * SEEDS; seed++) {
		/* The other kind's instructions are what the last round found. */
		memcpy(inner, places, sizeof(inner));
		nr_inner = nr_places;
		if (!find_places(seed, seed % 2))
			continue;
		for (place = 0; nr_inner && place < nr_places; place++) {
			for (k = 0; k < 5; k++) {
				plan[0].who = &intruders[dice(ARRAY_SIZE(intruders))];
				plan[0].place = places[place];
				plan[1].who = &intruders[dice(ARRAY_SIZE(intruders))];
				plan[1].place = dice(2) ? inner[dice(nr_inner)] :
							  places[dice(nr_places)];
				tap_note("state %u, \"%s\" on CPU %u, then \"%s\" on CPU %u", seed,
					 plan[0].who->script, plan[0].who->cpu,
					 plan[1].who->script, plan[1].who->cpu);
				one_run(seed, seed % 2);
				runs++;
				both += plan[1].came;
			}
		}
	}
	tap_say("%u runs, both intruders came in %u", runs, both);
	CHECK(both > runs / 4);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(pop_interrupted_everywhere),
	TAP_TEST(push_interrupted_everywhere),
	TAP_TEST(interrupted_twice),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
