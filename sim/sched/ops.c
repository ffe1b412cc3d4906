// SPDX-License-Identifier: GPL-2.0-only
/* The operations that contexts run, and what must be true about each. */

#include <errno.h>
#include <linux/kernel.h>
#include <stdio.h>

#include "ops.h"

int ops_new_object(void *obj, void *context)
{
	(void)context;
	if (world.nr_objs == MAX_OBJS)
		return -ENOSPC;
	world.obj[world.nr_objs++].at = (u8 *)obj - world.arena;
	return 0;
}

int ops_object_index(const void *obj)
{
	unsigned long at = (const u8 *)obj - world.arena;
	unsigned int i;

	for (i = 0; i < world.nr_objs; i++)
		if (world.obj[i].at == at)
			return i;
	return -1;
}

int ops_released(void *context)
{
	(void)context;
	if (world.released++)
		fail("the release callback runs a second time");
	return 0;
}

static void *object(unsigned int i)
{
	return world.arena + world.obj[i].at;
}

/* Is a pop that found nothing allowed to? */
static void check_miss(void)
{
	unsigned int gone;

	if (!current || current->window != WIN_OPEN || !algo->census || machine.no_census)
		return;
	/* The exact form of G2. */
	if (current->reach & current->known)
		fail("pop fails though object %d was reachable all along",
		     __builtin_ctzll(current->reach & current->known));
	/* As many as promised must have been out, if not at one instant. */
	gone = __builtin_popcountll(current->known & ~current->stay);
	if (gone < current->promised)
		fail("pop fails though only %u of %u promised objects were ever out",
		     gone, current->promised);
	if (!current->strict)
		machine.strict_misses++;
}

/* The object's index or -1. */
static int do_pop(void)
{
	void *obj;
	int i;

	if (current)
		current->window = WIN_ARMED;
	obj = algo->pop();
	if (machine.verbose)
		printf("  cpu%u pop gives object %d\n", krp_cpu, obj ? ops_object_index(obj) : -1);
	if (!obj)
		check_miss();
	if (current) {
		current->window = WIN_NONE;
		current->stay = 0;
		current->reach = 0;
		current->known = 0;
		current->promised = 0;
		current->strict = 0;
	}
	if (!obj)
		return -1;
	i = ops_object_index(obj);
	if (i < 0) {
		fail("pop returns %p, which is no object", obj);
		return -1;
	}
	if (world.obj[i].state == OBJ_HELD || world.obj[i].state == OBJ_DROPPED)
		fail("object %d has two holders", i);
	world.obj[i].state = OBJ_HELD;
	world.obj[i].mover = 0;
	return i;
}

static void do_push(unsigned int i)
{
	u8 me = current ? current - world.ctx + 1 : 255;
	int ret;

	world.obj[i].state = OBJ_MOVING;
	world.obj[i].mover = me;
	ret = algo->push(object(i));
	if (machine.verbose)
		printf("  cpu%u push of object %u gives %d\n", krp_cpu, i, ret);
	if (ret)
		fail("push of object %u is refused with %d", i, ret);
	/* It may have been popped again before push came to its end. */
	if (world.obj[i].state == OBJ_MOVING && world.obj[i].mover == me) {
		world.obj[i].state = OBJ_FREE;
		world.obj[i].mover = 0;
	}
}

static unsigned int hand_take(struct hand *hand, unsigned int pos)
{
	unsigned int obj = hand->obj[pos];

	hand->n--;
	memmove(hand->obj + pos, hand->obj + pos + 1, hand->n - pos);
	hand->obj[hand->n] = 0;
	return obj;
}

static void do_drop(unsigned int i)
{
	u8 released = world.released;
	int ret;

	world.obj[i].state = OBJ_DROPPED;
	ret = algo->drop(object(i));
	if (ret != 0 && ret != -EAGAIN)
		fail("drop of object %u gives %d", i, ret);
	if (!ret && world.released == released)
		fail("drop says that it was the last, but nothing is released");
}

static void do_double_push(void)
{
	int i = do_pop();

	if (i < 0)
		return;
	do_push(i);
	if (algo->push(object(i)) != -EINVAL)
		fail("a second push of object %d is not refused", i);
}

static void do_foreign_push(void)
{
	/* Nothing that stands before it looks like an object's header. */
	static unsigned long other[8];

	if (algo->push(other + 4) != -EINVAL)
		fail("a push of a foreign pointer is not refused");
}

void ops_now(struct hand *hand, char op)
{
	int i;

	switch (op) {
	case 'o':
		i = hand->n < MAX_HAND ? do_pop() : -1;
		if (i >= 0)
			hand->obj[hand->n++] = i;
		break;
	case 'u':
		if (hand->n)
			do_push(hand_take(hand, hand->n - 1));
		break;
	case 'v':
		if (hand->n)
			do_push(hand_take(hand, 0));
		break;
	case 's':
		i = world.bag_n < MAX_BAG ? do_pop() : -1;
		if (i >= 0)
			world.bag[world.bag_n++] = i;
		break;
	case 'r':
		if (!world.bag_n)
			break;
		i = world.bag[--world.bag_n];
		world.bag[world.bag_n] = 0;
		do_push(i);
		break;
	case 'd':
		if (hand->n)
			do_drop(hand_take(hand, hand->n - 1));
		break;
	case 'w':
		if (algo->grow())
			fail("grow fails");
		world.promised++;
		break;
	case 'f':
		world.finished = true;
		algo->fini();
		break;
	case 'D':
		do_double_push();
		break;
	case 'X':
		do_foreign_push();
		break;
	default:
		fail("'%c' is no operation", op);
	}
}

bool ops_awaited(const struct ctx *ctx, enum waiting waiting)
{
	const char *p = ctx->prog + ctx->seq;

	/* If that one waits too, somebody has to go on without. */
	if (waiting == WAIT_BAG)
		return !ctx->waiting && strchr(p, 's');
	return p[strspn(p, "d")] != '\0';
}

static void wait_for(struct ctx *ctx, enum waiting waiting)
{
	ctx->waiting = waiting;
	machine_yield();
	ctx->waiting = WAIT_NONE;
}

/* A task's hand stays its own, an NMI's is its CPU's. */
void ops_run(unsigned int nr, struct ctx *ctx)
{
	struct hand *hand = nr < world.cpus ? &world.task_hand[nr] :
			    &world.nmi_hand[(nr - world.cpus) / MAX_NMI_DEPTH];

	while (ctx->prog[ctx->seq]) {
		ctx->op = ctx->prog[ctx->seq];
		if (ctx->op == 'f')
			wait_for(ctx, WAIT_QUIET);
		if (ctx->op == 'r' && nr < world.cpus)
			wait_for(ctx, WAIT_BAG);
		ops_now(hand, ctx->op);
		ctx->op = 0;
		ctx->kind = 0;
		ctx->seq++;
		if (machine.solo || machine.failed)
			machine_yield();
	}
}

static unsigned int drop_all(struct hand *hand)
{
	unsigned int n = 0;

	for (; hand->n; n++)
		do_drop(hand_take(hand, 0));
	return n;
}

/* After fini: the last drop, wherever it was, must have released the pool. */
static bool finish_released(void)
{
	unsigned int i;

	for (i = 0; i < world.cpus; i++) {
		drop_all(&world.task_hand[i]);
		drop_all(&world.nmi_hand[i]);
	}
	if (world.bag_n)
		fail("the case is wrong: objects are left in the bag after fini");
	if (world.released != 1)
		fail("released %u times after fini and the last drop", world.released);
	/* The first three are the order of stealing, the workqueue and the pool. */
	for (i = 3; i < world.nr_allocs; i++)
		if (!world.alloc[i].freed)
			fail("allocation %u is leaked", i);
	return !machine.failed;
}

/*
 * Nothing runs any more. What nobody holds must be counted as free, and be
 * found by popping, each CPU in turn.
 */
bool ops_finish(void)
{
	struct census quiet = { .quiet = true };
	unsigned int i, free = 0, popped = 0;
	long counted;

	if (world.finished)
		return finish_released();
	for (i = 0; i < world.nr_objs; i++) {
		if (world.obj[i].state == OBJ_MOVING)
			fail("object %u is left in a push that has ended", i);
		free += world.obj[i].state == OBJ_FREE;
	}
	if (algo->census && !machine.no_census && !algo->census(&quiet))
		return false;
	if (algo->nr_free) {
		counted = algo->nr_free();
		if (counted != free)
			fail("%u objects are free, but the pool counts %ld", free, counted);
	}
	for (i = 0; i < world.cpus && !machine.failed; i++) {
		machine_on_cpu(i);
		while (!machine.failed && popped <= free && do_pop() >= 0)
			popped++;
	}
	if (popped != free)
		fail("%u objects are free, but pops find %u", free, popped);
	return !machine.failed;
}
