// SPDX-License-Identifier: GPL-2.0-only
/*
 * A markdown table: bytes of a krp_objpool, as it counts them itself, against
 * a pool whose every CPU has a ring as large as the whole pool, which is what
 * the kernel's objpool (Linux 6.7) allocates.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/log2.h>

#include "objpool.h"
#include "sim.h"

enum { OBJECT_SIZE = 64 };

static unsigned long krp_bytes(unsigned int cpus, int nr)
{
	struct krp_objpool pool;
	unsigned long bytes;

	sim_set_cpus(cpus, 1);
	if (krp_objpool_setup() ||
	    krp_objpool_init(&pool, nr, OBJECT_SIZE, GFP_KERNEL, NULL, NULL, NULL)) {
		fprintf(stderr, "memory-table: no memory\n");
		exit(1);
	}
	bytes = pool.bytes;
	krp_objpool_free(&pool);
	krp_objpool_teardown();
	return bytes;
}

/*
 * Per CPU a pointer, four 32-bit words (head, tail, last, mask) and a cell for
 * every object, rounded up to a power of two; and the objects themselves.
 */
static unsigned long ring_bytes(unsigned long cpus, unsigned long nr)
{
	return cpus * (sizeof(void *) + 4 * sizeof(u32) + roundup_pow_of_two(nr) * sizeof(void *)) +
	       nr * ALIGN(OBJECT_SIZE, sizeof(long));
}

static const char *human(unsigned long bytes, char *text, size_t size)
{
	if (bytes >= 1UL << 20)
		snprintf(text, size, "%.1f MiB", bytes / 1048576.0);
	else
		snprintf(text, size, "%.1f KiB", bytes / 1024.0);
	return text;
}

int main(void)
{
	static const unsigned int cpus[] = { 4, 64, 128, 1024 };
	static const int nrs[] = { 64, 2048, 8192 };
	unsigned long ours, rings;
	char a[32], b[32];
	size_t c, n;

	printf("| CPUs | objects of %d bytes | krp_objpool | a ring per CPU for the whole pool | ratio |\n",
	       OBJECT_SIZE);
	printf("|---:|---:|---:|---:|---:|\n");
	for (c = 0; c < sizeof(cpus) / sizeof(*cpus); c++) {
		for (n = 0; n < sizeof(nrs) / sizeof(*nrs); n++) {
			ours = krp_bytes(cpus[c], nrs[n]);
			rings = ring_bytes(cpus[c], nrs[n]);
			printf("| %u | %d | %s | %s | %.2f |\n", cpus[c], nrs[n],
			       human(ours, a, sizeof(a)), human(rings, b, sizeof(b)),
			       (double)rings / ours);
		}
	}
	return 0;
}
