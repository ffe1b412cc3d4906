// SPDX-License-Identifier: GPL-2.0-only
/*
 * krp_objpool: a fixed-size object pool for any context, NMI included. Here is
 * what may run at any time; objpool_setup.c makes pools and frees them.
 *
 * Where a free object can be, in the order in which pop looks:
 *
 *  1. The *stash* of a CPU: one word that only this CPU reads and writes, with
 *     unlocked per-CPU instructions. Pop, then push on one CPU needs nothing
 *     else. What sits in other CPUs' stashes is out of reach, so a pool
 *     allocates one object per possible CPU more than it promises.
 *
 *  2. The *ring* of a CPU: filled by its owner alone, emptied by anyone. A
 *     cell is one word: the object's address and, in bit 0, the parity of the
 *     lap in which it was written. A position is 64 bits wide.
 *
 *     The cell of position p holds what was written at p or at p - cells, and
 *     nothing else, for as long as head == p: to fill p + cells the owner must
 *     first have seen head > p. Those two differ in the parity, so a cell
 *     shows by itself whether p has been filled; a position that is reserved
 *     but not yet filled (the owner was interrupted there) looks empty, never
 *     like an old object. A taker whose idea of head is stale may be misled
 *     by the parity, but then its cmpxchg on the 64-bit head fails.
 *
 *  3. *Home*: one bit per object beside the objects themselves. A push that
 *     finds its ring full sets the bit; a pop that clears it owns the object.
 *     There is always room, setting a bit cannot be half done, and pushes of
 *     different objects seldom meet in one word.
 *
 *  4. Other CPUs' rings and homes, that of the last success first, then
 *     nearest node first. CPUs that are possible but absent are looked at
 *     like any other.
 *
 * An object that stays in one ring or at home while a pop passes by is found:
 * the pop looks at every such place once before it gives up, and leaves a
 * place only when it has seen it empty (or a taker got ahead, so that others
 * made progress).
 *
 * Nothing here waits for another context, so any operation may be interrupted
 * anywhere by one that does the same.
 *
 * Sources: bounded rings whose cells say by themselves whether they are
 * filled are Dmitry Vyukov's MPMC queue (2010); the interface is that of the
 * kernel's objpool by wuqiang.matt (2023), whose two-counter slots
 * (`tail` reserved, `last` published) an NMI between the two defeats.
 */

#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "objpool_internal.h"

/* Takes the oldest object of @slot's ring; NULL if head's cell is not filled. */
static void *krp_ring_take(struct krp_objpool_slot *slot)
{
	s64 head = atomic64_read(&slot->head), now;
	unsigned long cell;

	for (;;) {
		/*
		 * Pairs with the release in krp_ring_put(): without it the
		 * caller could see what else the pusher wrote as it was before
		 * that push (the object it reaches through this word), and the
		 * cmpxchg below could still find the head that is older than
		 * this cell.
		 */
		cell = smp_load_acquire(&slot->cells[head & slot->mask]);
		if (likely((cell & 1) == krp_lap(head, slot->mask))) {
			/*
			 * Release: who sees this head, a taker or the owner, must
			 * also see what this one saw. Without it a taker could
			 * find the next cell as it was two laps ago.
			 */
			if (likely(atomic64_try_cmpxchg_release(&slot->head, &head, head + 1)))
				return (void *)(cell & ~1UL);
			continue;
		}
		/*
		 * Not filled, or filled again since head was read. The acquire
		 * above keeps this read behind the cell's; were it allowed
		 * before, an unchanged head would say nothing about the cell.
		 */
		now = atomic64_read(&slot->head);
		if (now == head)
			return NULL;
		head = now;
	}
}

/* Puts @obj into this CPU's ring; false if it is full. Preemption is off. */
static bool krp_ring_put(struct krp_objpool *pool, struct krp_objpool_slot *slot, void *obj)
{
	s64 cells = (s64)slot->put_mask + 1;
	s64 tail = READ_ONCE(slot->tail), was, head;

	for (;;) {
		if (tail - READ_ONCE(slot->head_seen) >= cells) {
			head = atomic64_read(&slot->head);
			/* Interrupted here, a newer value may be replaced: harmless. */
			WRITE_ONCE(slot->head_seen, head);
			if (tail - head >= cells)
				return false;
		}
		/* Against interrupts and NMIs; other CPUs do not write tail. */
		was = this_cpu_cmpxchg(pool->slots->tail, tail, tail + 1);
		if (likely(was == tail))
			break;
		tail = was;
	}

	/*
	 * Publishes; pairs with the acquire in krp_ring_take(). Without it a
	 * taker could see the object's old contents, or this cell before the
	 * head that made room for it, and take the position twice.
	 */
	smp_store_release(&slot->put_cells[tail & slot->put_mask],
			  (unsigned long)obj | krp_lap(tail, slot->put_mask));
	return true;
}

/* Takes any object that lies at home in @chunk; NULL if none does. */
static void *krp_home_take(struct krp_objpool *pool, struct krp_objpool_chunk *chunk)
{
	u32 words = BITS_TO_LONGS(chunk->nr), first, i, n;
	unsigned long word;

	/* It is counted before it is there, and until after it is gone. */
	if (!atomic_read(&chunk->at_home))
		return NULL;
	/* Beginning where one was found, so that taking all of them is cheap. */
	first = READ_ONCE(chunk->hint);
	for (n = 0; n < words; n++) {
		i = first + n < words ? first + n : first + n - words;
		while ((word = READ_ONCE(chunk->home[i]))) {
			u32 bit = i * BITS_PER_LONG + __ffs(word);

			/*
			 * Fully ordered; pairs with test_and_set_bit() in
			 * krp_home_put(): without it the caller could see the
			 * object's old contents.
			 */
			if (!test_and_clear_bit(bit, chunk->home))
				continue;
			atomic_dec(&chunk->at_home);
			if (i != first)
				WRITE_ONCE(chunk->hint, i);
			return krp_chunk_object(pool, chunk, bit);
		}
	}
	return NULL;
}

static struct krp_objpool_chunk *krp_find_chunk(struct krp_objpool *pool, unsigned int id)
{
	struct krp_objpool_grown *grown;

	if (id < nr_cpu_ids && cpu_possible(id))
		return &per_cpu_ptr(pool->slots, id)->chunk;
	/* Pairs with the release in krp_objpool_grow(): a chunk is seen whole. */
	for (grown = smp_load_acquire(&pool->grown); grown; grown = grown->next)
		if (grown->id == id)
			return &grown->chunk;
	return NULL;
}

static int krp_home_put(struct krp_objpool *pool, void *obj)
{
	struct krp_objpool_header *header = krp_objpool_header(obj);
	struct krp_objpool_chunk *chunk = krp_find_chunk(pool, header->chunk);

	if (!chunk || header->index >= chunk->nr ||
	    krp_chunk_object(pool, chunk, header->index) != obj)
		return -EINVAL;
	atomic_inc(&chunk->at_home);
	/*
	 * Fully ordered; pairs with test_and_clear_bit() in krp_home_take(),
	 * and keeps the count ahead: without it a pop that was told of this
	 * push could find the count still 0.
	 */
	if (test_and_set_bit(header->index, chunk->home)) {
		atomic_dec(&chunk->at_home);
		return -EINVAL;
	}
	return 0;
}

static void *krp_slot_take(struct krp_objpool *pool, struct krp_objpool_slot *slot)
{
	void *obj = krp_ring_take(slot);

	return obj ?: krp_home_take(pool, &slot->chunk);
}

/* CPUs that share @order[0]'s node, from @order on; @left of them are there. */
static unsigned int krp_order_group(const u16 *order, unsigned int left)
{
	int node = krp_cpu_node(order[0]);
	unsigned int size = 1;

	while (size < left && krp_cpu_node(order[size]) == node)
		size++;
	return size;
}

/*
 * Every other CPU's slot: the one that had something last time, then nearest
 * node first. Within a node each CPU begins elsewhere and goes on in leaps, or
 * all would crowd onto the first that has anything. Both numbers are prime to
 * any number of CPUs, so that each is visited once.
 */
static void *krp_steal(struct krp_objpool *pool, struct krp_objpool_slot *own, unsigned int cpu)
{
	const u16 *order = &krp_steal_order[krp_cpu_node(cpu) * krp_nr_cpus];
	unsigned int victim = READ_ONCE(own->victim), left, size, at, i;
	void *obj;

	if (victim != cpu) {
		obj = krp_slot_take(pool, per_cpu_ptr(pool->slots, victim));
		if (obj)
			return obj;
	}
	for (left = krp_nr_cpus; left; left -= size, order += size) {
		size = krp_order_group(order, left);
		at = cpu * 40503u % size;
		for (i = 0; i < size; i++, at = (at + 65537u) % size) {
			if (order[at] == cpu || order[at] == victim)
				continue;
			obj = krp_slot_take(pool, per_cpu_ptr(pool->slots, order[at]));
			if (obj) {
				WRITE_ONCE(own->victim, order[at]);
				return obj;
			}
		}
	}
	return NULL;
}

static void *krp_grown_take(struct krp_objpool *pool)
{
	struct krp_objpool_grown *grown;
	void *obj = NULL;

	/* Pairs with the release in krp_objpool_grow(): a chunk is seen whole. */
	for (grown = smp_load_acquire(&pool->grown); grown && !obj; grown = grown->next)
		obj = krp_home_take(pool, &grown->chunk);
	return obj;
}

/**
 * krp_objpool_pop_slow() - take an object that is not in this CPU's stash
 * @pool: an initialised pool
 *
 * Context: as krp_objpool_pop(), which calls this.
 * Return: as krp_objpool_pop().
 */
void *krp_objpool_pop_slow(struct krp_objpool *pool)
{
	struct krp_objpool_slot *own;
	unsigned int cpu;
	void *obj;

	preempt_disable_notrace();
	cpu = smp_processor_id();
	own = per_cpu_ptr(pool->slots, cpu);

	obj = krp_slot_take(pool, own) ?: krp_grown_take(pool);
	if (obj) {
		this_cpu_inc(pool->counts->local);
	} else {
		obj = krp_steal(pool, own, cpu);
		if (obj)
			this_cpu_inc(pool->counts->steals);
		else
			this_cpu_inc(pool->counts->misses);
	}
	preempt_enable_notrace();
	return obj;
}
EXPORT_SYMBOL_GPL(krp_objpool_pop_slow);

/**
 * krp_objpool_low() - has this CPU nothing left of its own?
 * @pool: an initialised pool
 *
 * A cheap sign that a pool may be running low, for those who would let it grow.
 *
 * Context: any, NMI included; preemption off.
 * Return: true if the next pop would have to look at other CPUs' slots.
 */
bool krp_objpool_low(struct krp_objpool *pool)
{
	struct krp_objpool_slot *own = per_cpu_ptr(pool->slots, smp_processor_id());

	return !READ_ONCE(own->stash) && !atomic_read(&own->chunk.at_home) &&
	       READ_ONCE(own->tail) - atomic64_read(&own->head) <= 0;
}
EXPORT_SYMBOL_GPL(krp_objpool_low);

/**
 * krp_objpool_push_slow() - put an object back beside a full stash
 * @obj: the object
 * @pool: the pool
 *
 * Context: as krp_objpool_push(), which calls this.
 * Return: as krp_objpool_push().
 */
int krp_objpool_push_slow(void *obj, struct krp_objpool *pool)
{
	struct krp_objpool_slot *own;
	int ret = 0;

	preempt_disable_notrace();
	/*
	 * From reading tail to reserving it this must stay on one CPU: the
	 * other CPU's tail could happen to have the same value.
	 */
	own = per_cpu_ptr(pool->slots, smp_processor_id());
	if (unlikely(READ_ONCE(own->stash) == obj)) {
		ret = -EINVAL;
	} else if (!krp_ring_put(pool, own, obj)) {
		ret = krp_home_put(pool, obj);
		this_cpu_inc(pool->counts->overflows);
	}
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(krp_objpool_push_slow);

static int krp_pool_drop_ref(void *obj, struct krp_objpool *pool)
{
	if (!obj || krp_objpool_header(obj)->cookie != pool->cookie)
		return -EINVAL;
	/*
	 * Fully ordered: what a holder did with its object comes before the
	 * memory is freed by whoever takes the count to zero.
	 */
	if (!atomic_long_dec_and_test(&pool->refs))
		return -EAGAIN;
	return 0;
}

/**
 * krp_objpool_drop() - give up an object of a pool that is being finished
 * @obj: an object that was popped
 * @pool: its pool
 *
 * Instead of krp_objpool_push(), once krp_objpool_fini() has been called or
 * is about to be. The last one home frees the pool.
 *
 * Context: any, NMI included.
 * Return: 0 if this was the last reference, -EAGAIN if there are others left,
 * -EINVAL if @obj is not one of @pool's.
 */
int krp_objpool_drop(void *obj, struct krp_objpool *pool)
{
	int ret = krp_pool_drop_ref(obj, pool);

	if (!ret)
		irq_work_queue(&pool->last_irq);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_objpool_drop);

/**
 * krp_objpool_drop_now() - give up an object, and free the pool if it was the last
 * @obj: an object that was popped
 * @pool: its pool, given up or to be given up by krp_objpool_fini_now()
 *
 * As krp_objpool_drop(), but if this was the last reference the memory has been
 * freed and the release callback called when this returns.
 *
 * Context: any but NMI.
 * Return: as krp_objpool_drop().
 */
int krp_objpool_drop_now(void *obj, struct krp_objpool *pool)
{
	int ret = krp_pool_drop_ref(obj, pool);

	if (!ret)
		krp_objpool_free(pool);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_objpool_drop_now);

/* Takes all free objects; how many references that is, the pool's included. */
static long krp_pool_take_all(struct krp_objpool *pool)
{
	long count = 1;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct krp_objpool_slot *slot = per_cpu_ptr(pool->slots, cpu);

		count += !!xchg(&slot->stash, NULL);
	}
	while (krp_objpool_pop_slow(pool))
		count++;
	return count;
}

/**
 * krp_objpool_fini() - give up a pool
 * @pool: the pool
 *
 * Takes back all free objects; those still out keep the memory until each has
 * been through krp_objpool_drop(). The caller sees to it that no pop and no
 * push is running on any CPU or will be started.
 *
 * When the last reference is gone, here or in krp_objpool_drop(), the memory
 * is freed and the release callback called from a work item, one RCU grace
 * period later: an RCU reader may go on looking at an object until then.
 *
 * Context: process.
 */
void krp_objpool_fini(struct krp_objpool *pool)
{
	long count = krp_pool_take_all(pool);

	/* Fully ordered, as in krp_pool_drop_ref(). */
	if (atomic_long_sub_and_test(count, &pool->refs))
		irq_work_queue(&pool->last_irq);
}
EXPORT_SYMBOL_GPL(krp_objpool_fini);

/**
 * krp_objpool_fini_now() - give up a pool, and free it here if it was the last
 * @pool: the pool
 *
 * As krp_objpool_fini(), but if no object is out the memory has been freed and
 * the release callback called when this returns. Nobody may be looking at an
 * object under RCU. For pools that krp_objpool_drop_now() is used on, too.
 *
 * Context: any but NMI.
 */
void krp_objpool_fini_now(struct krp_objpool *pool)
{
	long count = krp_pool_take_all(pool);

	if (atomic_long_sub_and_test(count, &pool->refs))
		krp_objpool_free(pool);
}
EXPORT_SYMBOL_GPL(krp_objpool_fini_now);

static unsigned long krp_home_nr(struct krp_objpool_chunk *chunk)
{
	unsigned long nr = 0;
	u32 i;

	for (i = 0; i < BITS_TO_LONGS(chunk->nr); i++)
		nr += hweight_long(READ_ONCE(chunk->home[i]));
	return nr;
}

/**
 * krp_objpool_stats() - where objects are and how pops were served
 * @pool: an initialised pool
 * @st: filled in; a snapshot, exact while nothing pops or pushes
 *
 * Pops and pushes through a stash are not counted: that would cost them.
 *
 * Context: any.
 */
void krp_objpool_stats(struct krp_objpool *pool, struct krp_objpool_stats *st)
{
	struct krp_objpool_grown *grown;
	unsigned int cpu;

	memset(st, 0, sizeof(*st));
	for_each_possible_cpu(cpu) {
		struct krp_objpool_counts *counts = per_cpu_ptr(pool->counts, cpu);
		struct krp_objpool_slot *slot = per_cpu_ptr(pool->slots, cpu);
		s64 queued = READ_ONCE(slot->tail) - atomic64_read(&slot->head);

		st->nr_free += !!READ_ONCE(slot->stash) + max_t(s64, queued, 0) +
			       krp_home_nr(&slot->chunk);
		st->counts.local += READ_ONCE(counts->local);
		st->counts.steals += READ_ONCE(counts->steals);
		st->counts.overflows += READ_ONCE(counts->overflows);
		st->counts.misses += READ_ONCE(counts->misses);
	}
	/* Pairs with the release in krp_objpool_grow(): a chunk is seen whole. */
	for (grown = smp_load_acquire(&pool->grown); grown; grown = grown->next)
		st->nr_free += krp_home_nr(&grown->chunk);
}
EXPORT_SYMBOL_GPL(krp_objpool_stats);

static void krp_chunk_for_each(struct krp_objpool *pool, struct krp_objpool_chunk *chunk,
			       krp_objpool_visit_cb fn, void *data)
{
	u32 i;

	for (i = 0; i < chunk->nr; i++)
		fn(krp_chunk_object(pool, chunk, i), data);
}

/**
 * krp_objpool_for_each() - visit every object, free or not
 * @pool: an initialised pool
 * @fn: called for each
 * @data: passed to @fn
 *
 * Context: any; the pool must not go away meanwhile.
 */
void krp_objpool_for_each(struct krp_objpool *pool, krp_objpool_visit_cb fn, void *data)
{
	struct krp_objpool_grown *grown;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		krp_chunk_for_each(pool, &per_cpu_ptr(pool->slots, cpu)->chunk, fn, data);
	/* Pairs with the release in krp_objpool_grow(): a chunk is seen whole. */
	for (grown = smp_load_acquire(&pool->grown); grown; grown = grown->next)
		krp_chunk_for_each(pool, &grown->chunk, fn, data);
}
EXPORT_SYMBOL_GPL(krp_objpool_for_each);
