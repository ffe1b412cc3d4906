/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * krp_uretprobe: hooking returns of user-space functions, with data of a call
 * kept from its entry to its return.
 */
#ifndef KRP_URETPROBE_H
#define KRP_URETPROBE_H

#include <linux/sched.h>
#include <linux/types.h>

#include "rethook_pool.h"
#include "uret_lease.h"

struct inode;
struct pt_regs;
struct krp_uretprobe;

/**
 * struct krp_uret_call - a call in flight
 * @up: the probe, for krp_uretprobe_owner()
 * @func: the function's address in this process
 * @frame: the user's stack pointer at entry
 * @task: who made the call; NULL while it is not in flight
 * @pid: its id
 * @since: jiffies at entry
 * @lease: private: what keeps the probe alive
 * @begun: private: which use of that
 * @data: &krp_uretprobe_desc.data_size bytes for the handlers, kept from entry
 *        to return; holds what the last user of it left at entry. A child that
 *        is forked within the call returns from it, too, and has a copy
 */
struct krp_uret_call {
	struct krp_uretprobe *up;
	unsigned long func;
	unsigned long frame;
	struct task_struct *task;
	pid_t pid;
	unsigned long since;
	struct krp_lease *lease;
	long begun;
	char data[] __aligned(8);
};

/*
 * Handlers run in the context of the task, which is on its way to or from the
 * function; they may sleep. The registers are the user's.
 */
typedef int (*krp_uret_handler_t)(struct krp_uret_call *call, struct pt_regs *regs);

/**
 * struct krp_uretprobe_desc - what to hook and how
 * @path: of the file; or NULL
 * @inode: the file, if @path is NULL; its file system must stay mounted
 * @offset: of the function's first instruction in the file
 * @ref_ctr_offset: of a counter in the file that the kernel keeps above 0 while
 *                  there is a probe, as SDT semaphores are; 0 if there is none
 * @entry: called at entry; if it returns non-zero the return is not hooked and
 *         the call counts as skipped. May be NULL
 * @handler: called at return. If this is NULL and @entry is not, calls take no
 *           instance, and @entry's call has no data
 * @owner: for krp_uretprobe_owner()
 * @nr_instances: calls that can be in flight at once; 0 for the default: the
 *                larger of 64 and four times the possible CPUs, and more when
 *                they run out, up to the module's parameter max_instances
 * @data_size: bytes of &krp_uret_call.data, up to KRP_DATA_SIZE_MAX
 */
struct krp_uretprobe_desc {
	const char *path;
	struct inode *inode;
	loff_t offset;
	loff_t ref_ctr_offset;
	krp_uret_handler_t entry;
	krp_uret_handler_t handler;
	void *owner;
	int nr_instances;
	size_t data_size;
};

/**
 * struct krp_uretprobe_counts - what became of the calls
 * @calls: entries, and calls that a forked child has got from its parent
 * @hits: handler run (entry-only probes: entry handler run)
 * @skipped: the entry handler returned non-zero
 * @missed: by cause. KRP_MISS_RECURSION: the kernel follows no more than 64
 *          nested calls of a task. KRP_MISS_EXITED: never returned, as the
 *          task has exited, replaced its program or jumped out of the call.
 *          KRP_MISS_UNWATCHED: does not happen
 * @inflight: entered, neither returned nor given up
 *
 * Once quiet, calls == hits + skipped + all of missed + inflight.
 */
struct krp_uretprobe_counts {
	unsigned long calls;
	unsigned long hits;
	unsigned long skipped;
	unsigned long missed[KRP_NR_MISSES];
	unsigned long inflight;
};

struct krp_uretprobe *krp_uretprobe_register(const struct krp_uretprobe_desc *desc);
void krp_uretprobe_unregister(struct krp_uretprobe *up, struct krp_uretprobe_counts *last);
void krp_uretprobe_unregister_batch(struct krp_uretprobe **ups,
				    struct krp_uretprobe_counts *last, int num);
void krp_uretprobe_counts(struct krp_uretprobe *up, struct krp_uretprobe_counts *counts);
void *krp_uretprobe_owner(const struct krp_uret_call *call);

#endif /* KRP_URETPROBE_H */
