// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which calls of probed user-space functions a task has in flight.
 *
 * Each task that has ever made such a call has a stack of notes. A return is
 * paired with a note by the probe and the stack pointer, the newest first, which
 * is right for recursion, for tail calls (same stack pointer, several functions)
 * and for one function that calls itself last (same in both). Where the kernel
 * hands back a word that was left at entry, that word names the note, and
 * nothing is searched for.
 *
 * Calls that are jumped out of, by longjmp() or an exception, are told by
 * nobody. The kernel has its own list of the calls whose returns it has taken
 * over, throws out what the stack pointer shows to be over, and tells of the
 * returns of what is left and of no others. So, at each entry, notes that have no
 * counterpart in that list are given up. That also is the end of calls whose
 * return the kernel could not take over.
 *
 * Calls that are missed have notes, too, or else their returns could be taken
 * for those of older calls with the same stack pointer that were jumped out of.
 */

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "uret_internal.h"
#include "compat_timer.h"
#include "krp_arch.h"

#define KRP_URET_HASH_BITS	8
/* How long removal of other probes may have to wait for a call that sleeps. */
#define KRP_URET_LEASE_MS	100

static struct krp_uret_bucket {
	raw_spinlock_t lock;
	struct hlist_head tasks;
} krp_uret_tasks[1 << KRP_URET_HASH_BITS];

static struct krp_uret_bucket *krp_uret_bucket(const struct task_struct *task)
{
	return &krp_uret_tasks[hash_ptr(task, KRP_URET_HASH_BITS)];
}

/**
 * krp_uret_task_find() - the current task's notes
 *
 * Context: any but NMI.
 * Return: them, or NULL; they stay while the task runs.
 */
struct krp_uret_task *krp_uret_task_find(void)
{
	struct krp_uret_task *t;

	rcu_read_lock();
	hlist_for_each_entry_rcu(t, &krp_uret_bucket(current)->tasks, hash)
		if (t->task == current)
			break;
	rcu_read_unlock();
	return t;
}

/* A call that has slept for so long no longer holds up removal. */
static void krp_uret_timer(struct timer_list *timer)
{
	struct krp_uret_task *t = container_of(timer, struct krp_uret_task, timer);
	unsigned int depth, i;

	rcu_read_lock();
	/*
	 * Pairs with the smp_mb() in krp_uret_task_leased(): either that sees
	 * that this timer is no longer pending, or this sees the lease.
	 */
	smp_mb();
	/* Pairs with the release in krp_uret_slot_push(): the blocks are there. */
	depth = smp_load_acquire(&t->depth);
	for (i = 0; i < depth; i++)
		krp_lease_expire(&krp_uret_slot(t, i)->lease);
	rcu_read_unlock();
}

static bool krp_uret_block_add(struct krp_uret_task *t, unsigned int block, gfp_t gfp)
{
	struct krp_uret_slot *slots = t->first;
	unsigned int i;

	if (block) {
		slots = kcalloc(KRP_URET_BLOCK, sizeof(*slots), gfp);
		if (!slots)
			return false;
	}
	for (i = 0; i < KRP_URET_BLOCK; i++)
		slots[i].index = block * KRP_URET_BLOCK + i;
	t->blocks[block] = slots;
	return true;
}

static void krp_uret_task_free(struct krp_uret_task *t)
{
	unsigned int block;

	for (block = 1; block < KRP_URET_BLOCKS; block++)
		kfree(t->blocks[block]);
	kfree(t);
}

static void krp_uret_task_free_rcu(struct rcu_head *rcu)
{
	krp_uret_task_free(container_of(rcu, struct krp_uret_task, rcu));
}

/**
 * krp_uret_task_alloc() - make a task's notes
 * @task: the task
 * @slots: room for so many, at least
 * @gfp: how to allocate
 *
 * Context: as @gfp allows.
 * Return: them, not to be found yet; NULL if there is no memory.
 */
struct krp_uret_task *krp_uret_task_alloc(struct task_struct *task, unsigned int slots, gfp_t gfp)
{
	struct krp_uret_task *t = kzalloc(sizeof(*t), gfp);
	unsigned int block;

	if (!t)
		return NULL;
	t->task = task;
	timer_setup(&t->timer, krp_uret_timer, 0);
	for (block = 0; !block || block * KRP_URET_BLOCK < slots; block++) {
		if (!krp_uret_block_add(t, block, gfp)) {
			krp_uret_task_free(t);
			return NULL;
		}
	}
	return t;
}

/**
 * krp_uret_task_insert() - let a task find its notes
 * @t: the notes
 *
 * Context: the task's, or its parent's before it has run.
 */
void krp_uret_task_insert(struct krp_uret_task *t)
{
	struct krp_uret_bucket *bucket = krp_uret_bucket(t->task);
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_add_head_rcu(&t->hash, &bucket->tasks);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
}

/**
 * krp_uret_task_get() - the current task's notes, made if there are none
 *
 * Context: process; may sleep.
 * Return: them, or NULL if there is no memory.
 */
struct krp_uret_task *krp_uret_task_get(void)
{
	struct krp_uret_task *t = krp_uret_task_find();

	if (likely(t))
		return t;
	t = krp_uret_task_alloc(current, 1, GFP_KERNEL);
	if (t)
		krp_uret_task_insert(t);
	return t;
}

/**
 * krp_uret_task_remove() - the end of a task's notes
 * @t: the current task's, all given up
 *
 * Context: the task's; does not sleep.
 */
void krp_uret_task_remove(struct krp_uret_task *t)
{
	struct krp_uret_bucket *bucket = krp_uret_bucket(t->task);
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	hlist_del_rcu(&t->hash);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	/* Nobody arms it any more; if it runs right now it does so under RCU. */
	timer_delete(&t->timer);
	call_rcu(&t->rcu, krp_uret_task_free_rcu);
}

/**
 * krp_uret_task_leased() - a lease of a task's has begun
 * @t: the task's notes
 *
 * Context: the task's, or its parent's before it has run.
 */
void krp_uret_task_leased(struct krp_uret_task *t)
{
	/* Pairs with the smp_mb() in krp_uret_timer(). */
	smp_mb();
	if (!timer_pending(&t->timer))
		mod_timer(&t->timer, jiffies + msecs_to_jiffies(KRP_URET_LEASE_MS));
}

/**
 * krp_uret_slot_push() - room for one more note
 * @t: the current task's notes
 *
 * Context: process; may sleep.
 * Return: the note, without a call, on top; NULL if there are too many.
 */
struct krp_uret_slot *krp_uret_slot_push(struct krp_uret_task *t)
{
	unsigned int i = t->depth;
	struct krp_uret_slot *slot;

	if (i == KRP_URET_SLOTS || (!t->blocks[i / KRP_URET_BLOCK] &&
				    !krp_uret_block_add(t, i / KRP_URET_BLOCK, GFP_KERNEL)))
		return NULL;
	slot = krp_uret_slot(t, i);
	slot->call = NULL;
	/* Pairs with the acquire in krp_uret_timer(): the block is there. */
	smp_store_release(&t->depth, i + 1);
	return slot;
}

/**
 * krp_uret_slot_pop() - done with a note
 * @t: the current task's notes
 * @slot: one of them; its lease is consumed, or it has none
 *
 * Context: the task's.
 */
void krp_uret_slot_pop(struct krp_uret_task *t, struct krp_uret_slot *slot)
{
	unsigned int depth = t->depth;

	slot->up = NULL;
	while (depth && !krp_uret_slot(t, depth - 1)->up)
		depth--;
	WRITE_ONCE(t->depth, depth);
}

/* Is there a call in the kernel's list for a note that has @newer twins above it? */
static bool krp_uret_known(const struct return_instance *ri, const struct krp_uret_slot *slot,
			   unsigned int newer)
{
	for (; ri && ri->stack == slot->frame; ri = ri->next)
		if (ri->func == slot->func && !newer--)
			return true;
	return false;
}

/* How many notes above number @i and below @top are of the same probe and frame? */
static unsigned int krp_uret_twins(struct krp_uret_task *t, unsigned int i, unsigned int top)
{
	struct krp_uret_slot *slot = krp_uret_slot(t, i), *other;
	unsigned int n = 0;

	while (++i < top) {
		other = krp_uret_slot(t, i);
		if (other->up && other->frame != slot->frame)
			break;
		n += other->up == slot->up;
	}
	return n;
}

/**
 * krp_uret_prune() - give up calls that the kernel knows to be over
 * @t: the current task's notes
 * @up: the probe whose function is being entered; NULL if none is
 * @func: the function
 * @frame: the user's stack pointer
 *
 * The kernel lists what is entered now only after all of its probes have been
 * told: the notes that others of them have made just now are left alone.
 *
 * Context: the task's, not while a return is being handled; does not sleep.
 */
void krp_uret_prune(struct krp_uret_task *t, const struct krp_uretprobe *up,
		    unsigned long func, unsigned long frame)
{
	const struct return_instance *ri = krp_uprobe_calls();
	unsigned int top = t->depth, i;
	struct krp_uret_slot *slot;
	unsigned long lowest = 0;

	for (; top; top--) {
		slot = krp_uret_slot(t, top - 1);
		if (!up || slot->up == up || slot->func != func || slot->frame != frame)
			break;
	}
	for (i = top; i--;) {
		slot = krp_uret_slot(t, i);
		if (!slot->up)
			continue;
		/* Stacks grow down: the kernel's list goes up. */
		while (ri && ri->stack < slot->frame)
			ri = ri->next;
		if (slot->frame >= lowest &&
		    krp_uret_known(ri, slot, krp_uret_twins(t, i, top))) {
			lowest = slot->frame;
			continue;
		}
		krp_uret_slot_give_up(slot);
		krp_uret_slot_pop(t, slot);
	}
}

/**
 * krp_uret_slot_cookie() - a word that names a note
 * @slot: a note with a lease
 *
 * Context: any.
 * Return: the word, not 0; no other note of the task ever has it.
 */
u64 krp_uret_slot_cookie(const struct krp_uret_slot *slot)
{
	/* The number of the lease's use: only the task changes it. */
	return (u64)atomic_long_read(&slot->lease.word) >> 2 << 8 | slot->index;
}

static struct krp_uret_slot *krp_uret_slot_named(struct krp_uret_task *t,
						 const struct krp_uretprobe *up, u64 cookie)
{
	struct krp_uret_slot *slot;
	unsigned int i = cookie & (KRP_URET_SLOTS - 1);

	if (!cookie || i >= t->depth)
		return NULL;
	slot = krp_uret_slot(t, i);
	if (slot->up != up || !slot->call || krp_uret_slot_cookie(slot) != cookie)
		return NULL;
	return slot;
}

/**
 * krp_uret_slot_returned() - which call has returned
 * @t: the current task's notes
 * @up: the probe that is told
 * @regs: the user's registers
 * @cookie: what krp_uret_slot_cookie() gave, where krp_uprobe_sessions is true
 *
 * Context: the task's.
 * Return: its note, or NULL if the call was made before there was the probe.
 */
struct krp_uret_slot *krp_uret_slot_returned(struct krp_uret_task *t,
					     const struct krp_uretprobe *up,
					     struct pt_regs *regs, u64 cookie)
{
	unsigned int i;

	if (krp_uprobe_sessions)
		return krp_uret_slot_named(t, up, cookie);
	for (i = t->depth; i--;) {
		struct krp_uret_slot *slot = krp_uret_slot(t, i);

		if (slot->up == up && krp_arch_user_returned(regs, slot->frame))
			return slot;
	}
	return NULL;
}

/**
 * krp_uret_give_up_above() - give up calls that a returning one has made
 * @t: the current task's notes
 * @slot: the returning call's
 *
 * Those with the same stack pointer are of the same call, seen by another
 * probe, or tail calls, whose returns are being told, too.
 *
 * Context: the task's.
 */
void krp_uret_give_up_above(struct krp_uret_task *t, const struct krp_uret_slot *slot)
{
	unsigned int i;

	for (i = t->depth; --i > slot->index;) {
		struct krp_uret_slot *above = krp_uret_slot(t, i);

		if (!above->up || above->frame >= slot->frame)
			continue;
		krp_uret_slot_give_up(above);
		krp_uret_slot_pop(t, above);
	}
}

/**
 * krp_uret_give_up_all() - give up all of a task's calls
 * @t: the current task's notes
 *
 * Context: the task's; does not sleep.
 */
void krp_uret_give_up_all(struct krp_uret_task *t)
{
	while (t->depth) {
		struct krp_uret_slot *slot = krp_uret_slot(t, t->depth - 1);

		if (slot->up)
			krp_uret_slot_give_up(slot);
		krp_uret_slot_pop(t, slot);
	}
}

/**
 * krp_uret_tasks_init() - get ready for notes
 *
 * Context: process.
 */
void krp_uret_tasks_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(krp_uret_tasks); i++)
		raw_spin_lock_init(&krp_uret_tasks[i].lock);
}

/**
 * krp_uret_tasks_exit() - free the notes of tasks that are still there
 *
 * Context: process; there are no probes, and no task is watched, any more.
 */
void krp_uret_tasks_exit(void)
{
	struct krp_uret_task *t;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(krp_uret_tasks); i++) {
		hlist_for_each_entry_safe(t, next, &krp_uret_tasks[i].tasks, hash) {
			timer_delete_sync(&t->timer);
			krp_uret_task_free(t);
		}
	}
	/* For krp_uret_task_free_rcu(). */
	rcu_barrier();
}
