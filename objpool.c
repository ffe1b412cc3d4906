// SPDX-License-Identifier: GPL-2.0-only
/*
 * krp_objpool: a fixed-size object pool for any context, NMI included.
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

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "objpool.h"

/* Fewer cells than this would send small bursts home. */
#define KRP_RING_MIN	4

/* Pools that are not freed yet, and who frees them. */
static atomic_t krp_nr_pools;
static struct workqueue_struct *krp_pool_wq;

/* Who to steal from: all possible CPUs, a row per node, nearest node first. */
static u16 *krp_steal_order;
static unsigned int krp_nr_cpus;

/* A CPU that was never there may have no node: it counts as the first's. */
static int krp_cpu_node(unsigned int cpu)
{
	return max(cpu_to_node(cpu), 0);
}

/* What a lap's cells carry in bit 0; the first lap's differs from no object. */
static __always_inline unsigned long krp_lap(s64 pos, u32 mask)
{
	return !(pos & ((s64)mask + 1));
}

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

static __always_inline void *krp_chunk_object(struct krp_objpool *pool,
					      struct krp_objpool_chunk *chunk, u32 index)
{
	return chunk->base + (size_t)index * pool->stride + sizeof(struct krp_objpool_header);
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

/* What of a caller's flags is passed on; the others make kmalloc() complain. */
#define KRP_GFP_MASK	(GFP_KERNEL | GFP_ATOMIC | __GFP_NORETRY | __GFP_ACCOUNT)

/* Falls back to vmalloc() where the flags allow that. */
static void *krp_zalloc_node(size_t size, gfp_t gfp, int node)
{
	gfp_t flags = (gfp & KRP_GFP_MASK) | __GFP_NOWARN;

	if ((gfp & GFP_KERNEL) == GFP_KERNEL)
		return kvzalloc_node(size, flags, node);
	return kzalloc_node(size, flags, node);
}

/* Lays out @nr objects from @chunk->base on and lets the owner set them up. */
static int krp_chunk_init(struct krp_objpool *pool, struct krp_objpool_chunk *chunk, u32 id,
			  void *context, krp_objpool_init_obj_cb objinit)
{
	u32 i;

	for (i = 0; i < chunk->nr; i++) {
		void *obj = krp_chunk_object(pool, chunk, i);
		struct krp_objpool_header *header = krp_objpool_header(obj);
		int ret;

		header->chunk = id;
		header->cookie = pool->cookie;
		header->index = i;
		ret = objinit ? objinit(obj, context) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * One allocation on the CPU's node holds the ring, the home bits (unless they
 * fit into the slot) and, from the next cache line on, the objects.
 */
static int krp_slot_init(struct krp_objpool *pool, unsigned int cpu, u32 nr, gfp_t gfp,
			 void *context, krp_objpool_init_obj_cb objinit)
{
	struct krp_objpool_slot *slot = per_cpu_ptr(pool->slots, cpu);
	u32 cells = max_t(u32, roundup_pow_of_two(nr + nr / 2), KRP_RING_MIN);
	size_t words = nr > BITS_PER_LONG ? BITS_TO_LONGS(nr) : 0;
	size_t front = ALIGN((cells + words) * sizeof(long), SMP_CACHE_BYTES);
	size_t size = ALIGN(front + (size_t)nr * pool->stride, SMP_CACHE_BYTES);
	void *mem = krp_zalloc_node(size, gfp, cpu_to_node(cpu));
	u32 i;
	int ret;

	if (!mem)
		return -ENOMEM;
	pool->bytes += size;

	slot->cells = mem;
	slot->mask = cells - 1;
	slot->put_cells = slot->cells;
	slot->put_mask = slot->mask;
	slot->victim = cpu;
	slot->chunk.home = words ? slot->cells + cells : &slot->word;
	slot->chunk.base = mem + front;
	slot->chunk.nr = nr;
	ret = krp_chunk_init(pool, &slot->chunk, cpu, context, objinit);
	if (ret)
		return ret;

	/* Nobody else knows the pool yet: plain stores. */
	slot->stash = krp_chunk_object(pool, &slot->chunk, 0);
	for (i = 1; i < nr; i++)
		slot->cells[i - 1] = (unsigned long)krp_chunk_object(pool, &slot->chunk, i) |
				     krp_lap(i - 1, slot->mask);
	slot->tail = nr - 1;
	return 0;
}

/* Gives the memory back; the pool has no users, or never had one. */
static void krp_pool_release(struct krp_objpool *pool)
{
	struct krp_objpool_grown *grown, *next;
	unsigned int cpu;

	for (grown = pool->grown; grown; grown = next) {
		next = grown->next;
		kvfree(grown);
	}
	pool->grown = NULL;
	if (pool->slots)
		for_each_possible_cpu(cpu)
			kvfree(per_cpu_ptr(pool->slots, cpu)->cells);
	free_percpu(pool->slots);
	free_percpu(pool->counts);
	pool->slots = NULL;
	pool->counts = NULL;
}

static void krp_pool_last_work(struct work_struct *work)
{
	struct krp_objpool *pool = container_of(to_rcu_work(work), struct krp_objpool, last_work);

	/* irq_work touches its own flags once more after it has run. */
	irq_work_sync(&pool->last_irq);
	krp_objpool_free(pool);
}

static void krp_pool_last_irq(struct irq_work *irq)
{
	struct krp_objpool *pool = container_of(irq, struct krp_objpool, last_irq);

	queue_rcu_work(krp_pool_wq, &pool->last_work);
}

/**
 * krp_objpool_init() - set up a pool and allocate its objects
 * @pool: the pool, owned by the caller
 * @nr_objs: objects that must be there at once, 1 … KRP_OBJPOOL_NR_OBJECT_MAX
 * @object_size: bytes, 1 … KRP_OBJPOOL_OBJECT_SIZE_MAX; objects are aligned
 *               to 8 bytes and cleared
 * @gfp: allocation flags; with anything less than GFP_KERNEL a CPU's share
 *       must fit into one kmalloc()
 * @context: passed to @objinit and @release
 * @objinit: called for every object, may fail; or NULL
 * @release: called in process context when the last object and the pool
 *           itself have been given up and the memory is gone; may free @pool;
 *           or NULL
 *
 * Each possible CPU's objects are allocated on its node, one object per
 * possible CPU more than asked for. Memory is O(@nr_objs + CPUs).
 *
 * Context: process, or atomic if @gfp says so.
 * Return: 0, -EINVAL for a number outside its limits, -ENOMEM, or what
 * @objinit returned; nothing is held on failure.
 */
int krp_objpool_init(struct krp_objpool *pool, int nr_objs, int object_size,
		     gfp_t gfp, void *context, krp_objpool_init_obj_cb objinit,
		     krp_objpool_fini_cb release)
{
	static atomic_t cookies;
	unsigned int cpu, nth = 0, cpus = num_possible_cpus();
	int ret = 0;

	if (nr_objs <= 0 || nr_objs > KRP_OBJPOOL_NR_OBJECT_MAX ||
	    object_size <= 0 || object_size > KRP_OBJPOOL_OBJECT_SIZE_MAX)
		return -EINVAL;

	memset(pool, 0, sizeof(*pool));
	pool->object_size = object_size;
	pool->stride = ALIGN(object_size, sizeof(long)) + sizeof(struct krp_objpool_header);
	pool->nr_objs = nr_objs;
	pool->nr_total = nr_objs + cpus;
	pool->cookie = atomic_inc_return(&cookies) ^ 0x6b70;
	atomic_set(&pool->next_id, nr_cpu_ids);
	atomic_long_set(&pool->refs, pool->nr_total + 1L);
	pool->context = context;
	pool->release = release;
	init_irq_work(&pool->last_irq, krp_pool_last_irq);
	INIT_RCU_WORK(&pool->last_work, krp_pool_last_work);

	pool->slots = alloc_percpu_gfp(struct krp_objpool_slot, gfp | __GFP_ZERO);
	pool->counts = alloc_percpu_gfp(struct krp_objpool_counts, gfp | __GFP_ZERO);
	if (!pool->slots || !pool->counts) {
		krp_pool_release(pool);
		return -ENOMEM;
	}
	pool->bytes = cpus * (sizeof(*pool->slots) + sizeof(*pool->counts));

	for_each_possible_cpu(cpu) {
		u32 share = pool->nr_total / cpus + (nth++ < pool->nr_total % cpus);

		ret = krp_slot_init(pool, cpu, share, gfp, context, objinit);
		if (ret) {
			krp_pool_release(pool);
			break;
		}
	}
	if (!ret)
		atomic_inc(&krp_nr_pools);
	return ret;
}
EXPORT_SYMBOL_GPL(krp_objpool_init);

/**
 * krp_objpool_grow() - add objects to a pool in use
 * @pool: an initialised pool; not one that krp_objpool_fini() was called on
 * @nr_objs: how many to add; the sum stays within KRP_OBJPOOL_NR_OBJECT_MAX
 * @gfp: allocation flags, as krp_objpool_init()
 * @objinit: as krp_objpool_init()
 *
 * Rings keep their size: objects that do not fit lie at home, and the new
 * ones bring their homes along.
 *
 * Context: process; calls for one pool must not overlap. Pops and pushes may
 * go on meanwhile.
 * Return: 0, -EINVAL for a number outside the limits, -ENOMEM, or what
 * @objinit returned; the pool is as before on failure.
 */
int krp_objpool_grow(struct krp_objpool *pool, int nr_objs, gfp_t gfp,
		     krp_objpool_init_obj_cb objinit)
{
	struct krp_objpool_grown *grown;
	size_t front, size;
	int ret;

	if (nr_objs <= 0 || nr_objs > KRP_OBJPOOL_NR_OBJECT_MAX - (int)pool->nr_objs ||
	    atomic_read(&pool->next_id) > U16_MAX)
		return -EINVAL;

	front = ALIGN(sizeof(*grown) + BITS_TO_LONGS(nr_objs) * sizeof(long), SMP_CACHE_BYTES);
	size = ALIGN(front + (size_t)nr_objs * pool->stride, SMP_CACHE_BYTES);
	grown = krp_zalloc_node(size, gfp, numa_mem_id());
	if (!grown)
		return -ENOMEM;

	grown->chunk.home = (unsigned long *)(grown + 1);
	grown->chunk.base = (void *)grown + front;
	grown->chunk.nr = nr_objs;
	grown->id = atomic_fetch_inc(&pool->next_id);
	ret = krp_chunk_init(pool, &grown->chunk, grown->id, pool->context, objinit);
	if (ret) {
		kvfree(grown);
		return ret;
	}
	bitmap_set(grown->chunk.home, 0, nr_objs);
	atomic_set(&grown->chunk.at_home, nr_objs);

	pool->bytes += size;
	pool->nr_objs += nr_objs;
	pool->nr_total += nr_objs;
	atomic_long_add(nr_objs, &pool->refs);
	grown->next = pool->grown;
	/*
	 * Pairs with the acquires of those who walk the list: without it a
	 * chunk could be walked before it is filled in.
	 */
	smp_store_release(&pool->grown, grown);
	return 0;
}
EXPORT_SYMBOL_GPL(krp_objpool_grow);

/**
 * krp_objpool_free() - free a pool with all its objects, whoever holds them
 * @pool: the pool
 *
 * For pools whose users are known to be gone; krp_objpool_fini() is the one
 * that waits for holders. Calls the release callback.
 *
 * Context: process.
 */
void krp_objpool_free(struct krp_objpool *pool)
{
	krp_pool_release(pool);
	if (pool->release)
		pool->release(pool, pool->context);
	if (atomic_dec_and_test(&krp_nr_pools))
		wake_up_var(&krp_nr_pools);
}
EXPORT_SYMBOL_GPL(krp_objpool_free);

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
	if (!obj || krp_objpool_header(obj)->cookie != pool->cookie)
		return -EINVAL;
	/*
	 * Fully ordered: what a holder did with its object comes before the
	 * memory is freed by whoever takes the count to zero.
	 */
	if (!atomic_long_dec_and_test(&pool->refs))
		return -EAGAIN;
	irq_work_queue(&pool->last_irq);
	return 0;
}
EXPORT_SYMBOL_GPL(krp_objpool_drop);

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
	long count = 1;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct krp_objpool_slot *slot = per_cpu_ptr(pool->slots, cpu);

		count += !!xchg(&slot->stash, NULL);
	}
	while (krp_objpool_pop_slow(pool))
		count++;
	/* Fully ordered, as in krp_objpool_drop(). */
	if (atomic_long_sub_and_test(count, &pool->refs))
		irq_work_queue(&pool->last_irq);
}
EXPORT_SYMBOL_GPL(krp_objpool_fini);

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

/**
 * krp_objpool_teardown() - undo krp_objpool_setup()
 *
 * Waits for the pools that are being freed.
 *
 * Context: process; krp_objpool_fini() has been called on all pools.
 */
void krp_objpool_teardown(void)
{
	wait_var_event(&krp_nr_pools, !atomic_read(&krp_nr_pools));
	/* And for the work items themselves to return. */
	if (krp_pool_wq)
		destroy_workqueue(krp_pool_wq);
	krp_pool_wq = NULL;
	kvfree(krp_steal_order);
	krp_steal_order = NULL;
}

/* How far @to is from @from, each node with a rank of its own. */
static int krp_node_rank(int from, int to)
{
	return from == to ? 0 : (node_distance(from, to) << 16) + to + 1;
}

/**
 * krp_objpool_setup() - get ready for pools
 *
 * Once, before the first: notes the order in which CPUs steal.
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int krp_objpool_setup(void)
{
	int node, other, rank, next;
	unsigned int cpu;
	u16 *row;

	krp_nr_cpus = num_possible_cpus();
	krp_steal_order = kvcalloc((size_t)nr_node_ids * krp_nr_cpus, sizeof(u16), GFP_KERNEL);
	krp_pool_wq = alloc_workqueue("krp_objpool", WQ_UNBOUND, 0);
	if (!krp_steal_order || !krp_pool_wq) {
		krp_objpool_teardown();
		return -ENOMEM;
	}

	row = krp_steal_order;
	for (node = 0; node < nr_node_ids; node++) {
		for (rank = 0; rank < INT_MAX; rank = next) {
			next = INT_MAX;
			for_each_possible_cpu(cpu) {
				other = krp_node_rank(node, krp_cpu_node(cpu));
				if (other == rank)
					*row++ = cpu;
				else if (other > rank && other < next)
					next = other;
			}
		}
	}
	return 0;
}
