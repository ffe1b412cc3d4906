/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in uprobes. */
#ifndef KRP_COMPAT_UPROBE_H
#define KRP_COMPAT_UPROBE_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/uprobes.h>

#include "krp_features.h"

/**
 * struct krp_uprobe - a place in a file, and the kernel's hold on it
 * @consumer: what the kernel calls
 * @inode: the file
 * @offset: the place
 * @handle: what the kernel calls it, where it tells
 */
struct krp_uprobe {
	struct uprobe_consumer consumer;
	struct inode *inode;
	loff_t offset;
	struct uprobe *handle;
};

/*
 * What the user of this header has: the first is told of entries and says
 * whether it wants to be told of the return; @cookie comes back to the second
 * where krp_uprobe_sessions is true, and is 0 elsewhere.
 */
bool krp_uprobe_entered(struct krp_uprobe *up, struct pt_regs *regs, u64 *cookie);
void krp_uprobe_returned(struct krp_uprobe *up, struct pt_regs *regs, u64 cookie);

/*
 * 6.13: a handler may leave a word for the return handler of the same call, and
 * say that it does not want the return at all. Before, all returns are taken.
 */
#ifdef KRP_HAVE_UPROBE_SESSION
#define krp_uprobe_sessions	true

static inline int krp_uprobe_on_entry(struct uprobe_consumer *consumer, struct pt_regs *regs,
				      __u64 *data)
{
	u64 cookie = 0;

	if (!krp_uprobe_entered(container_of(consumer, struct krp_uprobe, consumer), regs,
				&cookie))
		return UPROBE_HANDLER_IGNORE;
	*data = cookie;
	return 0;
}

static inline int krp_uprobe_on_return(struct uprobe_consumer *consumer, unsigned long func,
				       struct pt_regs *regs, __u64 *data)
{
	krp_uprobe_returned(container_of(consumer, struct krp_uprobe, consumer), regs,
			    data ? *data : 0);
	return 0;
}
#else
#define krp_uprobe_sessions	false

static inline int krp_uprobe_on_entry(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	u64 cookie;

	krp_uprobe_entered(container_of(consumer, struct krp_uprobe, consumer), regs, &cookie);
	return 0;
}

static inline int krp_uprobe_on_return(struct uprobe_consumer *consumer, unsigned long func,
				       struct pt_regs *regs)
{
	krp_uprobe_returned(container_of(consumer, struct krp_uprobe, consumer), regs, 0);
	return 0;
}
#endif

/* 6.12: a handle, and unregistering in two halves; before, by place, and at once. */
#ifdef KRP_HAVE_UPROBE_HANDLE
static inline int krp_uprobe_insert(struct krp_uprobe *up, loff_t ref_ctr_offset)
{
	struct uprobe *handle = uprobe_register(up->inode, up->offset, ref_ctr_offset,
						&up->consumer);

	if (IS_ERR(handle))
		return PTR_ERR(handle);
	up->handle = handle;
	return 0;
}

static inline void krp_uprobe_remove(struct krp_uprobe *up)
{
	uprobe_unregister_nosync(up->handle, &up->consumer);
}

static inline void krp_uprobe_remove_sync(void)
{
	uprobe_unregister_sync();
}
#else
static inline int krp_uprobe_insert(struct krp_uprobe *up, loff_t ref_ctr_offset)
{
	return uprobe_register_refctr(up->inode, up->offset, ref_ctr_offset, &up->consumer);
}

static inline void krp_uprobe_remove(struct krp_uprobe *up)
{
	uprobe_unregister(up->inode, up->offset, &up->consumer);
}

static inline void krp_uprobe_remove_sync(void)
{
}
#endif

/**
 * krp_uprobe_register() - have entries, and returns, told
 * @up: @inode and @offset are set
 * @ref_ctr_offset: of a counter in the file that the kernel keeps, or 0
 * @returns: returns, too
 *
 * Return: 0, or what the kernel said.
 */
static inline int krp_uprobe_register(struct krp_uprobe *up, loff_t ref_ctr_offset, bool returns)
{
	up->consumer.handler = krp_uprobe_on_entry;
	up->consumer.ret_handler = returns ? krp_uprobe_on_return : NULL;
	return krp_uprobe_insert(up, ref_ctr_offset);
}

/*
 * What the kernel itself keeps of a task's calls. The list is the current
 * task's own; while a return is being handled it is not whole.
 */
#ifdef CONFIG_UPROBES
static inline const struct return_instance *krp_uprobe_calls(void)
{
	return current->utask ? current->utask->return_instances : NULL;
}

/* Are there so many that the kernel will leave the next one out? */
static inline bool krp_uprobe_too_deep(void)
{
	return current->utask && current->utask->depth >= MAX_URETPROBE_DEPTH;
}

/* @child has not run yet: has it got its parent's calls to return from? */
static inline bool krp_uprobe_inherits(const struct task_struct *child)
{
	return child->utask && child->utask->return_instances;
}
#else
struct return_instance {
	struct return_instance *next;
	unsigned long func, stack;
};

static inline const struct return_instance *krp_uprobe_calls(void)
{
	return NULL;
}

static inline bool krp_uprobe_too_deep(void)
{
	return false;
}

static inline bool krp_uprobe_inherits(const struct task_struct *child)
{
	return false;
}
#endif

#endif /* KRP_COMPAT_UPROBE_H */
