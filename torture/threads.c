// SPDX-License-Identifier: GPL-2.0-only
/* Kernel threads, all of which do the same. */

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "torture.h"

/**
 * torture_threads_start() - have a function run by several threads
 * @threads: filled in
 * @nr: how many
 * @fn: the function; its argument is the number of its thread, from 0 on
 * @name: of the threads, their numbers follow
 *
 * Context: process.
 * Return: 0 or -ENOMEM and the like; none runs then.
 */
int torture_threads_start(struct torture_threads *threads, int nr, int (*fn)(void *data),
			  const char *name)
{
	unsigned long i;

	threads->tasks = kcalloc(nr, sizeof(*threads->tasks), GFP_KERNEL);
	if (!threads->tasks)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct task_struct *task = kthread_run(fn, (void *)i, "%s/%lu", name, i);

		if (IS_ERR(task)) {
			torture_threads_stop(threads);
			return PTR_ERR(task);
		}
		threads->tasks[threads->nr++] = task;
	}
	return 0;
}

/**
 * torture_threads_stop() - all have ended when this returns
 * @threads: they; none is fine
 *
 * Context: process.
 */
void torture_threads_stop(struct torture_threads *threads)
{
	while (threads->nr)
		kthread_stop(threads->tasks[--threads->nr]);
	kfree(threads->tasks);
	threads->tasks = NULL;
}
