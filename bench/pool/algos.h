/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pools that krp_objpool is measured against. Each is what a careful
 * programmer would write: what one side writes stands on a cache line of its
 * own, operations are inlined, nothing is done that the algorithm does not
 * need. All objects are POOL_OBJECT_SIZE bytes and cache-line aligned.
 */
#ifndef BENCH_POOL_ALGOS_H
#define BENCH_POOL_ALGOS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define POOL_LINE		64
#define POOL_OBJECT_SIZE	64
#define pool_aligned		_Alignas(POOL_LINE)

static inline void *pool_alloc(size_t size)
{
	void *mem = aligned_alloc(POOL_LINE, (size + POOL_LINE - 1) / POOL_LINE * POOL_LINE);

	if (!mem) {
		perror("aligned_alloc");
		exit(1);
	}
	__builtin_memset(mem, 0, size);
	return mem;
}

/* mutex-list: a list under a mutex. */

struct mutex_list_object {
	struct mutex_list_object *next;
	char rest[POOL_OBJECT_SIZE - sizeof(void *)];
};

struct mutex_list {
	pool_aligned pthread_mutex_t lock;
	/* On the lock's line: who has taken the lock has this, too. */
	struct mutex_list_object *first;
	pool_aligned void *memory;
};

static inline void mutex_list_init(struct mutex_list *pool, unsigned int nr)
{
	struct mutex_list_object *objects = pool_alloc(nr * sizeof(*objects));

	pthread_mutex_init(&pool->lock, NULL);
	pool->first = NULL;
	pool->memory = objects;
	while (nr--) {
		objects[nr].next = pool->first;
		pool->first = &objects[nr];
	}
}

static inline void mutex_list_exit(struct mutex_list *pool)
{
	pthread_mutex_destroy(&pool->lock);
	free(pool->memory);
}

static inline void *mutex_list_pop(struct mutex_list *pool)
{
	struct mutex_list_object *obj;

	pthread_mutex_lock(&pool->lock);
	obj = pool->first;
	if (obj)
		pool->first = obj->next;
	pthread_mutex_unlock(&pool->lock);
	return obj;
}

static inline void mutex_list_push(struct mutex_list *pool, void *mem)
{
	struct mutex_list_object *obj = mem;

	pthread_mutex_lock(&pool->lock);
	obj->next = pool->first;
	pool->first = obj;
	pthread_mutex_unlock(&pool->lock);
}

/*
 * shared-lifo: a stack without a lock. Its head is one word: the first
 * object's number + 1 and a tag that every change increments, so that a head
 * that went and came back is not mistaken for one that stayed.
 */

struct shared_lifo_object {
	uint32_t next;
	char rest[POOL_OBJECT_SIZE - sizeof(uint32_t)];
};

struct shared_lifo {
	pool_aligned uint64_t head;
	pool_aligned struct shared_lifo_object *objects;
};

static inline uint64_t shared_lifo_head(uint64_t old, uint32_t first)
{
	return ((old >> 32) + 1) << 32 | first;
}

static inline void *shared_lifo_pop(struct shared_lifo *pool)
{
	uint64_t head = __atomic_load_n(&pool->head, __ATOMIC_ACQUIRE), new;
	uint32_t first, next;

	do {
		first = head;
		if (!first)
			return NULL;
		/* May be another holder's by now: then the tag has changed. */
		next = __atomic_load_n(&pool->objects[first - 1].next, __ATOMIC_RELAXED);
		new = shared_lifo_head(head, next);
	} while (!__atomic_compare_exchange_n(&pool->head, &head, new, true,
					      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return &pool->objects[first - 1];
}

static inline void shared_lifo_push(struct shared_lifo *pool, void *mem)
{
	struct shared_lifo_object *obj = mem;
	uint32_t number = obj - pool->objects + 1;
	uint64_t head = __atomic_load_n(&pool->head, __ATOMIC_RELAXED), new;

	do {
		__atomic_store_n(&obj->next, head, __ATOMIC_RELAXED);
		new = shared_lifo_head(head, number);
	} while (!__atomic_compare_exchange_n(&pool->head, &head, new, true,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static inline void shared_lifo_init(struct shared_lifo *pool, unsigned int nr)
{
	pool->objects = pool_alloc(nr * sizeof(*pool->objects));
	pool->head = 0;
	while (nr--)
		shared_lifo_push(pool, &pool->objects[nr]);
}

static inline void shared_lifo_exit(struct shared_lifo *pool)
{
	free(pool->objects);
}

/*
 * percpu-ring-locked: the shape of the kernel's objpool (Linux 6.7), without
 * its disabling of interrupts. A ring per CPU, each with room for all objects;
 * a push reserves at tail, fills, then publishes in last; a pop takes at head,
 * from its own ring first. Both ends are moved with locked instructions.
 */

struct percpu_ring {
	uint32_t head;
	uint32_t tail;
	uint32_t last;
	uint32_t mask;
	void *cells[];
};

struct percpu_rings {
	unsigned int nr_rings;
	unsigned int nr_objs;
	struct percpu_ring **rings;
	void *memory;
};

static inline void *percpu_ring_take(struct percpu_ring *ring, unsigned int nr_objs)
{
	uint32_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), last;
	void *obj;

	while (head != (last = __atomic_load_n(&ring->last, __ATOMIC_RELAXED))) {
		/* A last that lies behind head was read too early. */
		if (last - head - 1 >= nr_objs) {
			head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
			continue;
		}
		obj = __atomic_load_n(&ring->cells[head & ring->mask], __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&ring->head, &head, head + 1, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return obj;
	}
	return NULL;
}

static inline void *percpu_rings_pop(struct percpu_rings *pool, unsigned int cpu)
{
	unsigned int i;
	void *obj;

	for (i = 0; i < pool->nr_rings; i++) {
		obj = percpu_ring_take(pool->rings[cpu], pool->nr_objs);
		if (__builtin_expect(!!obj, 1))
			return obj;
		cpu = cpu + 1 == pool->nr_rings ? 0 : cpu + 1;
	}
	return NULL;
}

static inline void percpu_rings_push(struct percpu_rings *pool, unsigned int cpu, void *obj)
{
	struct percpu_ring *ring = pool->rings[cpu];
	uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&ring->tail, &tail, tail + 1, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		;
	__atomic_store_n(&ring->cells[tail & ring->mask], obj, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->last, tail + 1, __ATOMIC_RELEASE);
}

static inline void percpu_rings_init(struct percpu_rings *pool, unsigned int nr, unsigned int cpus)
{
	uint32_t cells = 1;
	unsigned int i;

	while (cells < nr)
		cells *= 2;
	pool->nr_rings = cpus;
	pool->nr_objs = nr;
	pool->memory = pool_alloc((size_t)nr * POOL_OBJECT_SIZE);
	pool->rings = pool_alloc(cpus * sizeof(*pool->rings));
	for (i = 0; i < cpus; i++) {
		pool->rings[i] = pool_alloc(sizeof(struct percpu_ring) + cells * sizeof(void *));
		pool->rings[i]->mask = cells - 1;
	}
	for (i = 0; i < nr; i++)
		percpu_rings_push(pool, i % cpus, pool->memory + (size_t)i * POOL_OBJECT_SIZE);
}

static inline void percpu_rings_exit(struct percpu_rings *pool)
{
	unsigned int i;

	for (i = 0; i < pool->nr_rings; i++)
		free(pool->rings[i]);
	free(pool->rings);
	free(pool->memory);
}

#endif /* BENCH_POOL_ALGOS_H */
