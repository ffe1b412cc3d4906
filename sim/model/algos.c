// SPDX-License-Identifier: GPL-2.0-only
/* What is compared: three pools behind one interface. */

#include <errno.h>
#include <linux/smp.h>

#include "../algos/kernel_objpool.h"
#include "../algos/shared_lifo.h"
#include "model.h"
#include "objpool.h"

/* Objects fill a line each, as instances with their data do. */
#define OBJECT_SIZE	64

static struct lifo *lifo;
static struct kernel_objpool *kernel_pool;
static struct krp_objpool *krp_pool;

static int lifo_init(unsigned int nr_objs, unsigned int cpus)
{
	unsigned int i;

	(void)cpus;
	lifo = model_alloc(64, 64);
	for (i = 0; i < nr_objs; i++) {
		struct lifo_node *node = model_alloc(OBJECT_SIZE, 64);

		if (!node)
			return -ENOMEM;
		lifo_push(lifo, node);
	}
	return 0;
}

static void *lifo_pop_one(void)
{
	return lifo_pop(lifo);
}

static void lifo_push_one(void *obj)
{
	lifo_push(lifo, obj);
}

static int kernel_init(unsigned int nr_objs, unsigned int cpus)
{
	kernel_pool = model_alloc(sizeof(*kernel_pool), 64);
	return kernel_objpool_init(kernel_pool, nr_objs, OBJECT_SIZE, cpus, NULL, NULL);
}

static void *kernel_pop(void)
{
	return kernel_objpool_pop(kernel_pool, smp_processor_id());
}

static void kernel_push(void *obj)
{
	kernel_objpool_push(kernel_pool, obj, smp_processor_id());
}

static int krp_init(unsigned int nr_objs, unsigned int cpus)
{
	int ret = krp_objpool_setup();

	(void)cpus;
	if (ret)
		return ret;
	krp_pool = model_alloc(sizeof(*krp_pool), 64);
	return krp_objpool_init(krp_pool, nr_objs,
				OBJECT_SIZE - sizeof(struct krp_objpool_header), GFP_KERNEL,
				NULL, NULL, NULL);
}

static void *krp_pop(void)
{
	return krp_objpool_pop(krp_pool);
}

static void krp_push(void *obj)
{
	krp_objpool_push(obj, krp_pool);
}

const struct model_algo model_algos[] = {
	{ "shared-lifo", 0, lifo_init, lifo_pop_one, lifo_push_one },
	{ "kernel-objpool", 0, kernel_init, kernel_pop, kernel_push },
	{ "krp_objpool", 1, krp_init, krp_pop, krp_push },
	{ }
};
