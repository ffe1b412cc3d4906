// SPDX-License-Identifier: GPL-2.0-only
/* G5: memory is O(objects + CPUs), in bytes. */
#include "tap.h"
#include "world.h"

static struct krp_objpool pool;

/* (objects + CPUs) × (object size + 40) + CPUs × 256 + 4,096 */
static unsigned long budget(unsigned long cpus, unsigned long nr, unsigned long size)
{
	return (nr + cpus) * (size + 40) + cpus * 256 + 4096;
}

static void one_pool(unsigned int cpus, int nr, int size, double *worst)
{
	unsigned long most = budget(cpus, nr, size);

	tap_note("%u CPUs, %d objects of %d bytes", cpus, nr, size);
	if (!CHECK_EQ(krp_objpool_init(&pool, nr, size, GFP_KERNEL, NULL, NULL, NULL), 0))
		return;
	CHECK(pool.bytes <= most);
	if (*worst < (double)pool.bytes / most)
		*worst = (double)pool.bytes / most;
	krp_objpool_free(&pool);
}

static void test_within_budget(void)
{
	static const unsigned int cpus[] = {
		1, 2, 3, 4, 6, 8, 16, 24, 64, 96, 128, 255, 512, 1024, 2048, 4096
	};
	static const int nrs[] = {
		16, 17, 31, 32, 33, 64, 100, 128, 129, 171, 500, 512, 1024, 2048, 2731, 4096, 5462,
		8192
	};
	static const int sizes[] = { 1, 8, 9, 17, 56, 64, 200, 511, 1024 };
	double worst = 0;
	size_t c, n, s;

	for (c = 0; c < ARRAY_SIZE(cpus); c++) {
		world_begin(cpus[c]);
		for (n = 0; n < ARRAY_SIZE(nrs); n++)
			for (s = 0; s < ARRAY_SIZE(sizes); s++)
				one_pool(cpus[c], nrs[n], sizes[s], &worst);
		world_end();
	}
	tap_say("at most %.1f %% of the budget is used", 100 * worst);
}

/* Where a ring's size jumps, every number of objects of one CPU. */
static void test_every_share(void)
{
	double worst = 0;
	int nr;

	world_begin(1);
	for (nr = 16; nr <= 8192; nr++)
		one_pool(1, nr, 1, &worst);
	world_end();
	world_begin(256);
	for (nr = 16; nr <= 8192; nr += 19)
		one_pool(256, nr, 1, &worst);
	world_end();
	tap_say("at most %.1f %% of the budget is used", 100 * worst);
}

/* pool.bytes is what /proc shows: it must be what was allocated. */
static void test_bytes_are_what_was_allocated(void)
{
	static const unsigned int cpus[] = { 1, 4, 64 };
	unsigned long before, apart;
	size_t c;

	for (c = 0; c < ARRAY_SIZE(cpus); c++) {
		world_begin(cpus[c]);
		before = sim_live_bytes;
		CHECK_EQ(krp_objpool_init(&pool, 1000, 100, GFP_KERNEL, NULL, NULL, NULL), 0);
		/* The stand-in for per-CPU memory puts things farther apart. */
		apart = 2 * SIM_PERCPU_STRIDE - sizeof(*pool.slots) - sizeof(*pool.counts);
		CHECK_EQ(pool.bytes, sim_live_bytes - before - cpus[c] * apart);
		before = sim_live_bytes - pool.bytes;
		CHECK_EQ(krp_objpool_grow(&pool, 300, GFP_KERNEL, NULL), 0);
		CHECK_EQ(pool.bytes, sim_live_bytes - before);
		krp_objpool_free(&pool);
		world_end();
	}
}

static const struct tap_test tests[] = {
	TAP_TEST(within_budget),
	TAP_TEST(every_share),
	TAP_TEST(bytes_are_what_was_allocated),
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
