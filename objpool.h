/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * krp_objpool: a fixed-size object pool for any context, NMI included.
 *
 * The verbs, the argument order and the meaning are those of the kernel's own
 * objpool (lib/objpool.c, Linux 6.7): code moves from one to the other by
 * renaming. What is promised beyond it stands in objpool.c.
 */
#ifndef KRP_OBJPOOL_H
#define KRP_OBJPOOL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* Limits on what krp_objpool_init() and krp_objpool_grow() accept. */
#define KRP_OBJPOOL_NR_OBJECT_MAX	(1 << 22)
#define KRP_OBJPOOL_OBJECT_SIZE_MAX	(64 * 1024)

struct krp_objpool;

typedef int (*krp_objpool_init_obj_cb)(void *obj, void *context);
typedef int (*krp_objpool_fini_cb)(struct krp_objpool *pool, void *context);
typedef void (*krp_objpool_visit_cb)(void *obj, void *data);

/**
 * struct krp_objpool_chunk - objects that were allocated together
 * @home: one bit per object, set while the object lies free *at home*, that
 *        is neither in a stash nor in a ring
 * @base: header of the first object
 * @nr: number of objects
 * @at_home: no fewer than there are bits set, so that 0 means none
 * @hint: the word of @home in which the last object was found
 */
struct krp_objpool_chunk {
	unsigned long *home;
	void *base;
	u32 nr;
	atomic_t at_home;
	u32 hint;
};

/**
 * struct krp_objpool_grown - a chunk that krp_objpool_grow() has added
 * @chunk: the objects
 * @id: what their headers call the chunk
 * @next: the one before it
 */
struct krp_objpool_grown {
	struct krp_objpool_chunk chunk;
	u32 id;
	struct krp_objpool_grown *next;
};

/**
 * struct krp_objpool_counts - what one CPU's pops and pushes met with
 * @local: pops served from this CPU's own ring, home or a grown chunk
 * @steals: pops served from another CPU's slot
 * @overflows: pushes that found the ring full and went home
 * @misses: pops that returned NULL
 */
struct krp_objpool_counts {
	unsigned long local;
	unsigned long steals;
	unsigned long overflows;
	unsigned long misses;
};

/**
 * struct krp_objpool_slot - one possible CPU's part of a pool
 * @stash: the one object that only this CPU reaches, or NULL
 * @tail: position of the next ring cell to fill; only this CPU writes it
 * @head_seen: a value that @head had; saves reading @head on most pushes
 * @put_cells: as @cells, for the owner
 * @put_mask: as @mask, for the owner
 * @victim: the CPU whose slot the last successful steal took from
 * @head: position of the next ring cell to take; every CPU may take
 * @cells: the ring, see objpool.c
 * @mask: number of ring cells - 1
 * @word: the home bits themselves while one word holds them
 * @chunk: the objects allocated for this CPU
 *
 * The first cache line is the owner's alone, no other CPU so much as reads it;
 * the second is written by whoever takes from it.
 */
struct krp_objpool_slot {
	void *stash;
	s64 tail;
	s64 head_seen;
	unsigned long *put_cells;
	u32 put_mask;
	u32 victim;

	atomic64_t head ____cacheline_aligned;
	unsigned long *cells;
	unsigned long word;
	struct krp_objpool_chunk chunk;
	u32 mask;
} ____cacheline_aligned;

/**
 * struct krp_objpool - an object pool; all members are private
 * @slots: per-CPU part
 * @counts: per-CPU counts
 * @object_size: what the caller asked for, in bytes
 * @stride: distance between two objects of a chunk, in bytes
 * @nr_objs: objects that can be out at once, guaranteed
 * @nr_total: objects allocated; more than @nr_objs by one per possible CPU,
 *            as each CPU's stash may keep one from all others
 * @bytes: memory allocated, in bytes
 * @cookie: stands in every object's header, to catch foreign pointers
 * @next_id: what the next grown chunk will be called
 * @grown: chunks added by krp_objpool_grow()
 * @refs: objects not yet given up, and one for the pool
 * @context: passed to the callbacks
 * @release: called when the last reference is gone
 * @last_irq: takes the last drop out of NMI context
 * @last_work: and on, after a grace period, into process context
 */
struct krp_objpool {
	struct krp_objpool_slot __percpu *slots;
	struct krp_objpool_counts __percpu *counts;
	u32 object_size;
	u32 stride;
	u32 nr_objs;
	u32 nr_total;
	size_t bytes;
	u16 cookie;
	atomic_t next_id;
	struct krp_objpool_grown *grown;
	atomic_long_t refs;
	void *context;
	krp_objpool_fini_cb release;
	struct irq_work last_irq;
	struct rcu_work last_work;
};

/**
 * struct krp_objpool_header - stands right before every object
 * @chunk: the CPU whose slot has the chunk, or &krp_objpool_grown.id
 * @cookie: &krp_objpool.cookie
 * @index: position in the chunk
 */
struct krp_objpool_header {
	u16 chunk;
	u16 cookie;
	u32 index;
};

/**
 * struct krp_objpool_stats - where a pool's objects are and where pops went
 * @nr_free: objects in stashes, rings and at home; exact while nothing runs
 * @counts: of all CPUs
 */
struct krp_objpool_stats {
	unsigned long nr_free;
	struct krp_objpool_counts counts;
};

int krp_objpool_setup(void);
void krp_objpool_teardown(void);

int krp_objpool_init(struct krp_objpool *pool, int nr_objs, int object_size,
		     gfp_t gfp, void *context, krp_objpool_init_obj_cb objinit,
		     krp_objpool_fini_cb release);
int krp_objpool_grow(struct krp_objpool *pool, int nr_objs, gfp_t gfp,
		     krp_objpool_init_obj_cb objinit);
bool krp_objpool_low(struct krp_objpool *pool);
int krp_objpool_drop(void *obj, struct krp_objpool *pool);
void krp_objpool_free(struct krp_objpool *pool);
int krp_objpool_drop_now(void *obj, struct krp_objpool *pool);
void krp_objpool_fini(struct krp_objpool *pool);
void krp_objpool_fini_now(struct krp_objpool *pool);
void krp_objpool_stats(struct krp_objpool *pool, struct krp_objpool_stats *st);
void krp_objpool_for_each(struct krp_objpool *pool, krp_objpool_visit_cb fn, void *data);

/* The slow halves of pop and push; call those instead. */
void *krp_objpool_pop_slow(struct krp_objpool *pool);
int krp_objpool_push_slow(void *obj, struct krp_objpool *pool);

static __always_inline struct krp_objpool_header *krp_objpool_header(void *obj)
{
	return (struct krp_objpool_header *)obj - 1;
}

/**
 * krp_objpool_pop() - take an object
 * @pool: an initialised pool
 *
 * The common case is one unlocked exchange on a line that no other CPU
 * touches.
 *
 * Context: any, NMI included; never waits, takes no lock, leaves interrupts
 * as they are.
 * Return: the object; or NULL, if during this call at least
 * &krp_objpool.nr_objs different objects were out or on their way back. An
 * object that lies in one place all the while is found.
 */
static __always_inline void *krp_objpool_pop(struct krp_objpool *pool)
{
	/*
	 * Atomic against interrupts and NMIs of this CPU, and against being
	 * moved to another: that is all it takes, no other CPU looks here.
	 */
	void *obj = this_cpu_xchg(pool->slots->stash, NULL);

	if (likely(obj))
		return obj;
	return krp_objpool_pop_slow(pool);
}

/**
 * __krp_objpool_push() - put an object back, known to be one of this pool
 * @obj: what krp_objpool_pop() on @pool returned
 * @pool: the pool
 *
 * Context: as krp_objpool_pop().
 * Return: as krp_objpool_push(), but nothing is checked on the fast path.
 */
static __always_inline int __krp_objpool_push(void *obj, struct krp_objpool *pool)
{
	if (likely(!this_cpu_cmpxchg(pool->slots->stash, NULL, obj)))
		return 0;
	return krp_objpool_push_slow(obj, pool);
}

/**
 * krp_objpool_push() - put an object back
 * @obj: what krp_objpool_pop() on @pool returned
 * @pool: the pool
 *
 * May be called on another CPU, and in another context, than the pop was.
 *
 * Context: as krp_objpool_pop().
 * Return: 0, or -EINVAL if @obj is NULL, not one of @pool's, or seen to be
 * free already; the pool is as before then.
 */
static __always_inline int krp_objpool_push(void *obj, struct krp_objpool *pool)
{
	if (unlikely(!obj || krp_objpool_header(obj)->cookie != pool->cookie))
		return -EINVAL;
	return __krp_objpool_push(obj, pool);
}

#endif /* KRP_OBJPOOL_H */
