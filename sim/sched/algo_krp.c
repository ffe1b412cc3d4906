// SPDX-License-Identifier: GPL-2.0-only
/* krp_objpool under the scheduler, and where its objects are. */

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <stdio.h>

#include "objpool.h"
#include "ops.h"

static struct krp_objpool *pool;

static int released(struct krp_objpool *which, void *context)
{
	if (which != pool)
		fail("release is called for another pool");
	return ops_released(context);
}

static int init(unsigned int nr_objs)
{
	int ret = krp_objpool_setup();

	if (ret)
		return ret;
	pool = arena_alloc(sizeof(*pool), 64);
	return krp_objpool_init(pool, nr_objs, 8, GFP_KERNEL, NULL, ops_new_object, released);
}

static void *pop(void)
{
	return krp_objpool_pop(pool);
}

static int push(void *obj)
{
	return krp_objpool_push(obj, pool);
}

static int drop(void *obj)
{
	return krp_objpool_drop(obj, pool);
}

static int grow(void)
{
	return krp_objpool_grow(pool, 1, GFP_KERNEL, ops_new_object);
}

static void fini(void)
{
	krp_objpool_fini(pool);
}

static long nr_free(void)
{
	struct krp_objpool_stats st;

	krp_objpool_stats(pool, &st);
	return st.nr_free;
}

static bool seen(struct census *c, u64 *where, const void *obj)
{
	int i = ops_object_index(obj);

	if (i < 0) {
		fail("%p lies in the pool, and is no object", obj);
		return false;
	}
	if ((c->stash | c->reach | c->blocked) >> i & 1) {
		fail("object %d is in two places", i);
		return false;
	}
	*where |= 1ULL << i;
	return true;
}

static bool ring_census(struct census *c, const struct krp_objpool_slot *slot)
{
	s64 cells = (s64)slot->mask + 1, pos = slot->head.counter;
	bool blocked = false;

	if (slot->tail < pos || slot->tail - pos > cells) {
		fail("a ring of %lld has its tail at %lld, its head at %lld", cells, slot->tail,
		     pos);
		return false;
	}
	for (; pos < slot->tail; pos++) {
		unsigned long cell = slot->cells[pos & slot->mask];

		if ((cell & 1) != !(pos & cells))
			blocked = true;
		else if (!seen(c, blocked ? &c->blocked : &c->reach, (void *)(cell & ~1UL)))
			return false;
	}
	return true;
}

static void *chunk_object(const struct krp_objpool_chunk *chunk, unsigned int i)
{
	return (char *)chunk->base + (size_t)i * pool->stride + sizeof(struct krp_objpool_header);
}

/* What lies at home is counted before it does; c->quiet: exactly. */
static bool home_census(struct census *c, const struct krp_objpool_chunk *chunk)
{
	int bits = 0;
	u32 i;

	for (i = 0; i < chunk->nr; i++) {
		if (!(chunk->home[i / BITS_PER_LONG] >> i % BITS_PER_LONG & 1))
			continue;
		bits++;
		if (!seen(c, &c->reach, chunk_object(chunk, i)))
			return false;
	}
	if (chunk->at_home.counter < bits || (c->quiet && chunk->at_home.counter != bits)) {
		fail("%d objects are at home in a chunk that counts %d", bits,
		     chunk->at_home.counter);
		return false;
	}
	return true;
}

static bool census(struct census *c)
{
	const struct krp_objpool_grown *grown;
	unsigned int cpu;

	for (cpu = 0; cpu < world.cpus; cpu++) {
		const struct krp_objpool_slot *slot = per_cpu_ptr(pool->slots, cpu);

		if (slot->stash && !seen(c, &c->stash, slot->stash))
			return false;
		if (!ring_census(c, slot) || !home_census(c, &slot->chunk))
			return false;
	}
	for (grown = pool->grown; grown; grown = grown->next)
		if (!home_census(c, &grown->chunk))
			return false;
	return true;
}

static void describe(const void *p, char *buf, size_t size)
{
	static const struct field {
		size_t at;
		const char *name;
	} fields[] = {
		{ offsetof(struct krp_objpool_slot, stash), "stash" },
		{ offsetof(struct krp_objpool_slot, tail), "tail" },
		{ offsetof(struct krp_objpool_slot, head_seen), "head_seen" },
		{ offsetof(struct krp_objpool_slot, victim), "victim" },
		{ offsetof(struct krp_objpool_slot, head), "head" },
		{ offsetof(struct krp_objpool_slot, chunk.at_home), "at_home" },
		{ offsetof(struct krp_objpool_slot, chunk.hint), "hint" },
		{ }
	};
	const struct field *f;
	unsigned int cpu;

	for (cpu = 0; cpu < world.cpus; cpu++) {
		const struct krp_objpool_slot *slot = per_cpu_ptr(pool->slots, cpu);
		size_t at = (const char *)p - (const char *)slot;
		size_t cell = (const unsigned long *)p - slot->cells;
		size_t word = (const unsigned long *)p - slot->chunk.home;

		for (f = fields; f->name; f++) {
			if (at == f->at) {
				snprintf(buf, size, "cpu%u.%s", cpu, f->name);
				return;
			}
		}
		if (cell <= slot->mask) {
			snprintf(buf, size, "cpu%u.cells[%zu]", cpu, cell);
			return;
		}
		if (word < BITS_TO_LONGS(slot->chunk.nr)) {
			snprintf(buf, size, "cpu%u.home[%zu]", cpu, word);
			return;
		}
	}
	if (p == &pool->refs.counter)
		snprintf(buf, size, "refs");
	else if (p == (void *)&pool->grown)
		snprintf(buf, size, "grown");
	else
		snprintf(buf, size, "%p", p);
}

const struct algo algo_krp = {
	.name = "krp_objpool",
	.init = init,
	.pop = pop,
	.push = push,
	.drop = drop,
	.grow = grow,
	.fini = fini,
	.nr_free = nr_free,
	.census = census,
	.describe = describe,
};
