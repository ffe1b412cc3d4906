// SPDX-License-Identifier: GPL-2.0-only
/*
 * G6: pop, then push on the same CPU executes no locked instruction. Once by
 * reading what the compiler made of it, once by watching it run.
 */
#include <stdio.h>
#include <string.h>

#include "trap.h"

static struct krp_objpool pool;

noinline int fast_pair(struct krp_objpool *of)
{
	void *obj = krp_objpool_pop(of);

	return obj ? krp_objpool_push(obj, of) : -EINVAL;
}

/* Shows that the checks below see what they look for. */
noinline unsigned long locked_add(unsigned long *word)
{
	return __atomic_fetch_add(word, 3, __ATOMIC_RELAXED);
}

noinline unsigned long locked_xchg(unsigned long *word)
{
	return __atomic_exchange_n(word, 3, __ATOMIC_RELAXED);
}

#if defined(__x86_64__) && !WORLD_TSAN && !WORLD_ASAN

/* Lines of @function's disassembly, and how many of them lock the bus. */
static int count_locked(const char *function, int *lines)
{
	char command[128], line[256];
	int locked = 0;
	FILE *pipe;

	*lines = 0;
	snprintf(command, sizeof(command),
		 "objdump -d --no-show-raw-insn --disassemble=%s /proc/$PPID/exe", function);
	pipe = popen(command, "r");
	if (!CHECK(pipe))
		return -1;
	while (fgets(line, sizeof(line), pipe)) {
		if (!strstr(line, ":\t"))
			continue;
		(*lines)++;
		/* An exchange with memory locks without saying so. */
		if (strstr(line, "lock ") ||
		    (strstr(line, "\txchg") && strchr(line, '(')))
			locked++;
	}
	CHECK_EQ(pclose(pipe), 0);
	return locked;
}

static void test_compiled_without_lock(void)
{
	int lines;

	CHECK_EQ(count_locked("locked_add", &lines), 1);
	CHECK_EQ(count_locked("locked_xchg", &lines), 1);
	CHECK_EQ(count_locked("fast_pair", &lines), 0);
	/* It is all there: two exchanges, the check, two slow calls. */
	CHECK(lines >= 15);
	tap_say("pop and push are %d instructions, the slow calls included", lines);
}

#else

static void test_compiled_without_lock(void)
{
	tap_skip("looks at the plain x86_64 build only");
}

#endif

static int watched, watched_locked;

static bool locks(const unsigned char *ip)
{
	for (;; ip++) {
		switch (*ip) {
		case 0xf0:
			return true;
		case 0x26: case 0x2e: case 0x36: case 0x3e:
		case 0x64: case 0x65: case 0x66: case 0x67:
		case 0xf2: case 0xf3:
		case 0x40 ... 0x4f:
			continue;
		case 0x86: case 0x87:
			/* xchg; with memory unless the mode bits say register. */
			return (ip[1] & 0xc0) != 0xc0;
		default:
			return false;
		}
	}
}

static void watch(unsigned char *ip)
{
	watched++;
	watched_locked += locks(ip);
}

static int count_locked_of(void (*op)(void))
{
	watched = 0;
	watched_locked = 0;
	trap_steps(op, watch);
	return watched_locked;
}

static unsigned long some_word;
static void *a, *b;

static void op_locked_add(void)		{ locked_add(&some_word); }
static void op_locked_xchg(void)	{ locked_xchg(&some_word); }
static void op_fast_pair(void)		{ CHECK_EQ(fast_pair(&pool), 0); }
static void op_pop(void)		{ b = krp_objpool_pop(&pool); }
static void op_push(void)		{ krp_objpool_push(b, &pool); }

static void test_runs_without_lock(void)
{
	struct krp_objpool_counts *counts;
	struct krp_objpool_slot *slot;

	if (TRAP_MISSING) {
		tap_skip(TRAP_MISSING);
		return;
	}
	world_begin(2);
	CHECK_EQ(krp_objpool_init(&pool, 16, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	slot = per_cpu_ptr(pool.slots, 0);
	counts = per_cpu_ptr(pool.counts, 0);

	CHECK_EQ(count_locked_of(op_locked_add), 1);
	CHECK_EQ(count_locked_of(op_locked_xchg), 1);

	CHECK_EQ(count_locked_of(op_fast_pair), 0);
	CHECK(watched >= 15);
	CHECK(slot->stash);
	tap_say("through the stash: %d instructions with the call's and the test's own", watched);

	/* Beside an empty or full stash the ring takes one to pop, none to push. */
	CHECK((a = krp_objpool_pop(&pool)));
	CHECK_EQ(count_locked_of(op_pop), 1);
	CHECK(b);
	CHECK_EQ(counts->local, 1);
	CHECK_EQ(krp_objpool_push(a, &pool), 0);
	CHECK_EQ(count_locked_of(op_push), 0);
	CHECK_EQ(counts->overflows, 0);
	krp_objpool_free(&pool);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(compiled_without_lock),
	TAP_TEST(runs_without_lock),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
