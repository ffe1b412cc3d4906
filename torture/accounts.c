// SPDX-License-Identifier: GPL-2.0-only
/* What /proc says about thunks, pools and calls in flight, as people read it. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "torture.h"

#define TEXT_MAX	(256 * 1024)

/* The whole file as one string, to be kvfree()d; or NULL. */
static char *torture_read(const char *path)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	char *text = NULL;
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return NULL;
	text = kvmalloc(TEXT_MAX, GFP_KERNEL);
	if (text) {
		do {
			n = kernel_read(file, text + pos, TEXT_MAX - 1 - pos, &pos);
		} while (n > 0);
		text[pos] = '\0';
	}
	filp_close(file, NULL);
	return text;
}

/**
 * torture_thunks_used() - how many return thunks have an owner
 *
 * Context: process.
 * Return: the number, or -1 if there is no saying.
 */
long torture_thunks_used(void)
{
	char *text = torture_read("/proc/kretpool/pools"), *line;
	long used = -1;

	line = text ? strstr(text, "# return thunks: ") : NULL;
	if (!line || sscanf(line, "# return thunks: %ld of", &used) != 1)
		used = -1;
	kvfree(text);
	return used;
}

/**
 * torture_newest() - which probe was registered last
 *
 * Context: process.
 * Return: the greatest id listed, 0 if there is none.
 */
unsigned int torture_newest(void)
{
	char *text = torture_read("/proc/kretpool/probes"), *next = text, *line;
	unsigned int id, newest = 0;

	while ((line = strsep(&next, "\n")))
		if (sscanf(line, "%u ", &id) == 1)
			newest = max(newest, id);
	kvfree(text);
	return newest;
}

/**
 * torture_sleepers() - calls that hold thunks since their tasks sleep in them
 * @older: probes up to this id are others'
 * @others: how many calls of those that are gone are in flight
 *
 * A task that sleeps may do so for as long as it likes: its calls are no leak,
 * as long as the task is there. Its stack is not for modules to read; who runs
 * the test looks whether it leads through a thunk.
 *
 * Context: process; exact while none of them wakes up.
 * Return: their number, or -1 if a call is in flight whose task is gone.
 */
long torture_sleepers(unsigned int older, long *others)
{
	char *text = torture_read("/proc/kretpool/inflight"), *next = text, *line;
	char *probes = torture_read("/proc/kretpool/probes");
	char name[KSYM_NAME_LEN], draining[KSYM_NAME_LEN + 32];
	unsigned int id;
	long calls = 0;
	int pid;

	*others = 0;
	while (probes && (line = strsep(&next, "\n"))) {
		if (sscanf(line, "%u %127s %d", &id, name, &pid) != 3)
			continue;
		snprintf(draining, sizeof(draining), "\n%u %s draining ", id, name);
		/* The thunks of others' live pools are in use anyway. */
		if (!strstr(probes, draining))
			continue;
		if (id <= older)
			(*others)++;
		else if (!pid)
			calls = -1;
		else if (calls >= 0)
			calls++;
	}
	kvfree(text);
	kvfree(probes);
	return calls;
}

/**
 * torture_pools_full() - is every object of these pools free?
 * @prefix: how the functions' names begin
 * @what: filled with the first that is not full
 * @size: of @what
 *
 * Context: process.
 * Return: how many pools there are, -1 if one is not full.
 */
int torture_pools_full(const char *prefix, char *what, size_t size)
{
	char *text = torture_read("/proc/kretpool/pools"), *next = text, *line;
	int pools = 0;

	while (pools >= 0 && (line = strsep(&next, "\n"))) {
		unsigned long objects, allocated, nr_free;
		char name[KSYM_NAME_LEN];

		if (sscanf(line, "%*u %127s %lu %lu %lu", name, &objects, &allocated,
			   &nr_free) != 4 || strncmp(name, prefix, strlen(prefix)))
			continue;
		pools++;
		if (allocated != nr_free) {
			snprintf(what, size, "%s has %lu of %lu objects free", name, nr_free,
				 allocated);
			pools = -1;
		}
	}
	kvfree(text);
	return pools;
}
