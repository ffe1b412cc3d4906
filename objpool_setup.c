// SPDX-License-Identifier: GPL-2.0-only
/* krp_objpool: making pools, letting them grow, and freeing them. */

#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "objpool_internal.h"

/* Fewer cells than this would send small bursts home. */
#define KRP_RING_MIN	4

/* Pools that are not freed yet, and who frees them. */
static atomic_t krp_nr_pools;
static struct workqueue_struct *krp_pool_wq;

/* Who to steal from: all possible CPUs, a row per node, nearest node first. */
u16 *krp_steal_order;
unsigned int krp_nr_cpus;

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
