// SPDX-License-Identifier: GPL-2.0-only
/* What init and grow accept, refuse and survive (CASES C1, C2, C6). */
#include <limits.h>
#include <string.h>

#include "tap.h"
#include <linux/kernel.h>
#include "world.h"

/* The stand-ins know only the flags that objpool.c names. */
#define GFP_NOIO		(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM)
#define GFP_NOFS		(GFP_NOIO | __GFP_IO)
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
#define __GFP_HIGHMEM		0x02u
#define __GFP_HARDWALL		0x100000u
#define GFP_USER		(GFP_KERNEL | __GFP_HARDWALL)
#define GFP_HIGHUSER		(GFP_USER | __GFP_HIGHMEM)

static struct krp_objpool pool;

/* No number outside the limits may so much as allocate. */
static void test_bad_numbers(void)
{
	static const int bad_nr[] = { 0, -1, INT_MIN, KRP_OBJPOOL_NR_OBJECT_MAX + 1, INT_MAX };
	static const int bad_size[] = { 0, -1, INT_MIN, KRP_OBJPOOL_OBJECT_SIZE_MAX + 1, INT_MAX };
	long before;
	size_t i;

	world_begin(4);
	before = world_allocations_made();
	for (i = 0; i < ARRAY_SIZE(bad_nr); i++)
		CHECK_EQ(krp_objpool_init(&pool, bad_nr[i], 64, GFP_KERNEL, NULL, NULL, NULL),
			 -EINVAL);
	for (i = 0; i < ARRAY_SIZE(bad_size); i++)
		CHECK_EQ(krp_objpool_init(&pool, 16, bad_size[i], GFP_KERNEL, NULL, NULL, NULL),
			 -EINVAL);
	CHECK_EQ(world_allocations_made(), before);

	CHECK_EQ(krp_objpool_init(&pool, 16, 64, GFP_KERNEL, NULL, NULL, NULL), 0);
	before = world_allocations_made();
	for (i = 0; i < ARRAY_SIZE(bad_nr); i++)
		CHECK_EQ(krp_objpool_grow(&pool, bad_nr[i], GFP_KERNEL, NULL), -EINVAL);
	/* The sum counts. */
	CHECK_EQ(krp_objpool_grow(&pool, KRP_OBJPOOL_NR_OBJECT_MAX - 15, GFP_KERNEL, NULL),
		 -EINVAL);
	CHECK_EQ(world_allocations_made(), before);
	CHECK_EQ(pool.nr_objs, 16);
	krp_objpool_free(&pool);
	world_end();
}

/* Smallest, largest, and the large pools of C1: every object can be had. */
static void test_good_numbers(void)
{
	static const struct {
		int nr, size;
	} good[] = {
		{ 1, 1 }, { 1, KRP_OBJPOOL_OBJECT_SIZE_MAX }, { 3, 7 },
		{ 65536, 64 }, { 131072, 64 }, { 262144, 64 }, { 262144, 1 },
		{ KRP_OBJPOOL_NR_OBJECT_MAX, 1 },
	};
	struct krp_objpool_stats st;
	long nr, most;
	size_t i;

	world_begin(64);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		tap_note("%d objects of %d bytes", good[i].nr, good[i].size);
		if (!CHECK_EQ(krp_objpool_init(&pool, good[i].nr, good[i].size, GFP_KERNEL,
					       NULL, NULL, NULL), 0))
			continue;
		krp_objpool_stats(&pool, &st);
		CHECK_EQ(st.nr_free, good[i].nr + 64);
		/* All but what lies in other CPUs' stashes; of 4 million a part. */
		most = min(good[i].nr + 1, 300000);
		for (nr = 0; nr < most && krp_objpool_pop(&pool); nr++)
			;
		CHECK_EQ(nr, most);
		krp_objpool_free(&pool);
		CHECK_EQ(world_allocations_live(), 0);
	}
	world_end();
}

static void test_grow_to_the_limit(void)
{
	world_begin(2);
	if (CHECK_EQ(krp_objpool_init(&pool, 8, 1, GFP_KERNEL, NULL, NULL, NULL), 0)) {
		CHECK_EQ(krp_objpool_grow(&pool, KRP_OBJPOOL_NR_OBJECT_MAX - 8, GFP_KERNEL, NULL),
			 0);
		CHECK_EQ(krp_objpool_grow(&pool, 1, GFP_KERNEL, NULL), -EINVAL);
		CHECK_EQ(pool.nr_objs, KRP_OBJPOOL_NR_OBJECT_MAX);
		krp_objpool_free(&pool);
	}
	world_end();
}

/* A header names its chunk in 16 bits: no chunk may get a number above. */
static void test_grow_out_of_names(void)
{
	world_begin(2);
	if (CHECK_EQ(krp_objpool_init(&pool, 8, 8, GFP_KERNEL, NULL, NULL, NULL), 0)) {
		atomic_set(&pool.next_id, U16_MAX);
		CHECK_EQ(krp_objpool_grow(&pool, 1, GFP_KERNEL, NULL), 0);
		CHECK_EQ(krp_objpool_grow(&pool, 1, GFP_KERNEL, NULL), -EINVAL);
		krp_objpool_free(&pool);
	}
	world_end();
}

static void test_gfp_flags(void)
{
	static const gfp_t flags[] = {
		GFP_KERNEL, GFP_ATOMIC, GFP_NOWAIT, GFP_NOIO, GFP_NOFS, GFP_KERNEL_ACCOUNT,
		GFP_USER, GFP_HIGHUSER, GFP_KERNEL | __GFP_ZERO, GFP_ATOMIC | __GFP_NOWARN,
		GFP_KERNEL | __GFP_NORETRY, GFP_KERNEL | __GFP_HIGHMEM, 0,
	};
	size_t i;
	int *obj;

	world_begin(4);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		tap_note("flags %#x", (unsigned int)flags[i]);
		if (!CHECK_EQ(krp_objpool_init(&pool, 16, sizeof(*obj), flags[i],
					       NULL, NULL, NULL), 0))
			continue;
		CHECK_EQ(krp_objpool_grow(&pool, 16, flags[i], NULL), 0);
		while ((obj = krp_objpool_pop(&pool)))
			CHECK_EQ(*obj, 0);
		krp_objpool_free(&pool);
	}
	CHECK_EQ(world_allocations_live(), 0);
	world_end();
}

/* C2: whichever allocation fails, nothing stays behind and the next try works. */
static void test_allocation_faults(void)
{
	static const int cpus[] = { 1, 2, 5, 64 };
	long n, live;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		world_begin(cpus[i]);
		for (n = 1; ; n++) {
			tap_note("%d CPUs, allocation %ld fails", cpus[i], n);
			sim_fail_alloc(n);
			ret = krp_objpool_init(&pool, 100, 24, GFP_KERNEL, NULL, NULL, NULL);
			sim_fail_alloc(0);
			if (!ret)
				break;
			CHECK_EQ(ret, -ENOMEM);
			CHECK_EQ(world_allocations_live(), 0);
			CHECK_EQ(krp_objpool_init(&pool, 100, 24, GFP_KERNEL, NULL, NULL, NULL), 0);
			krp_objpool_free(&pool);
			CHECK_EQ(world_allocations_live(), 0);
		}
		/* The slots, the counts, each CPU's share: every one had its turn. */
		CHECK_EQ(n, cpus[i] + 3);

		live = world_allocations_live();
		sim_fail_alloc(1);
		CHECK_EQ(krp_objpool_grow(&pool, 10, GFP_KERNEL, NULL), -ENOMEM);
		sim_fail_alloc(0);
		CHECK_EQ(world_allocations_live(), live);
		CHECK_EQ(pool.nr_objs, 100);
		CHECK_EQ(krp_objpool_grow(&pool, 10, GFP_KERNEL, NULL), 0);
		krp_objpool_free(&pool);
		CHECK_EQ(world_allocations_live(), 0);
		world_end();
	}
}

static void test_setup_fault(void)
{
	int nth;

	world_begin(4);
	krp_objpool_teardown();
	/* The order of stealing, then the workqueue. */
	for (nth = 1; nth <= 2; nth++) {
		sim_fail_alloc(nth);
		CHECK_EQ(krp_objpool_setup(), -ENOMEM);
		sim_fail_alloc(0);
		CHECK_EQ(sim_live_allocs, 0);
		/* To tear down after a failed setup is allowed. */
		krp_objpool_teardown();
	}
	CHECK_EQ(krp_objpool_setup(), 0);
	world_end();
}

static long objinit_calls, objinit_fails_at;

static int failing_objinit(void *obj, void *context)
{
	memset(obj, 0x5a, 24);
	CHECK(context == &objinit_calls);
	return objinit_calls++ == objinit_fails_at ? -EBUSY : 0;
}

static int never_release(struct krp_objpool *released, void *context)
{
	CHECK(!"release called for a pool that was never there");
	return 0;
}

static void test_objinit_fails(void)
{
	long k, live;

	world_begin(4);
	for (k = 0; k < 20 + 4; k++) {
		tap_note("object %ld", k);
		objinit_calls = 0;
		objinit_fails_at = k;
		CHECK_EQ(krp_objpool_init(&pool, 20, 24, GFP_KERNEL, &objinit_calls,
					  failing_objinit, never_release), -EBUSY);
		CHECK_EQ(objinit_calls, k + 1);
		CHECK_EQ(world_allocations_live(), 0);
	}
	objinit_calls = 0;
	objinit_fails_at = -1;
	CHECK_EQ(krp_objpool_init(&pool, 20, 24, GFP_KERNEL, &objinit_calls, failing_objinit,
				  NULL), 0);
	CHECK_EQ(objinit_calls, 20 + 4);

	live = world_allocations_live();
	for (k = 0; k < 10; k++) {
		tap_note("grown object %ld", k);
		objinit_calls = 0;
		objinit_fails_at = k;
		CHECK_EQ(krp_objpool_grow(&pool, 10, GFP_KERNEL, failing_objinit), -EBUSY);
		CHECK_EQ(objinit_calls, k + 1);
		CHECK_EQ(world_allocations_live(), live);
		CHECK_EQ(pool.nr_objs, 20);
		CHECK_EQ(pool.nr_total, 24);
	}
	krp_objpool_free(&pool);
	world_end();
}

static const struct tap_test tests[] = {
	TAP_TEST(bad_numbers),
	TAP_TEST(good_numbers),
	TAP_TEST(grow_to_the_limit),
	TAP_TEST(grow_out_of_names),
	TAP_TEST(gfp_flags),
	TAP_TEST(allocation_faults),
	TAP_TEST(setup_fault),
	TAP_TEST(objinit_fails),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
