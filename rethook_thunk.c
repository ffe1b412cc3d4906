// SPDX-License-Identifier: GPL-2.0-only
/* Which instance owns which thunk. */

#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>

#include "rethook_internal.h"

struct krp_instance *krp_thunk_owner[KRP_NR_THUNKS];

static DECLARE_BITMAP(krp_thunk_used, KRP_NR_THUNKS);

/* krp_mutex: where the next search begins, of those that are light, too. */
static unsigned int krp_thunk_next[2];

/* The first of one kind, and the first behind them. */
static unsigned int krp_thunks_first(bool light)
{
	return light ? KRP_NR_THUNKS - KRP_NR_LIGHT : 0;
}

static unsigned int krp_thunks_end_of(bool light)
{
	return light ? KRP_NR_THUNKS : KRP_NR_THUNKS - KRP_NR_LIGHT;
}

/**
 * krp_thunk_alloc() - give an instance a thunk for its life
 * @inst: the instance
 *
 * The caller has seen to it that there is one, see krp_thunks_left().
 *
 * Context: process, krp_mutex held.
 */
void krp_thunk_alloc(struct krp_instance *inst)
{
	bool light = inst->rh->light;
	unsigned int end = krp_thunks_end_of(light);
	unsigned int next = max(krp_thunk_next[light], krp_thunks_first(light));
	/* Others can only clear bits meanwhile: one that is found clear stays so. */
	unsigned int nr = data_race(find_next_zero_bit(krp_thunk_used, end, next));

	if (nr == end)
		/* As above. */
		nr = data_race(find_next_zero_bit(krp_thunk_used, end, krp_thunks_first(light)));
	/* Atomic, as others may give theirs back meanwhile. */
	set_bit(nr, krp_thunk_used);
	krp_thunk_next[light] = nr + 1;
	inst->thunk = krp_arch_thunk_addr(nr);
	krp_arch_trace_init_instance(inst);
	/* Pairs with the dependent reads of those who find it on a stack. */
	smp_store_release(&krp_thunk_owner[nr], inst);
}

/**
 * krp_thunk_free() - take an instance's thunk back
 * @inst: an instance that is not in flight and will not be again
 *
 * RCU readers that found @inst through its thunk may go on looking at it until
 * a grace period has passed.
 *
 * Context: any.
 */
void krp_thunk_free(struct krp_instance *inst)
{
	unsigned long nr = krp_arch_thunk_nr(inst->thunk);

	WRITE_ONCE(krp_thunk_owner[nr], NULL);
	/* The bit goes last: a new owner's entry must not be cleared. */
	smp_mb__before_atomic();
	clear_bit(nr, krp_thunk_used);
}

/**
 * krp_thunks_used() - how many thunks have an owner
 *
 * Context: any.
 * Return: their number.
 */
unsigned int krp_thunks_used(void)
{
	/* Some may be given back meanwhile. */
	return data_race(bitmap_weight(krp_thunk_used, KRP_NR_THUNKS));
}

/**
 * krp_thunks_left() - how many thunks have no owner
 * @light: of those for KRP_RETHOOK_LIGHT
 *
 * Context: process, krp_mutex held.
 * Return: their number.
 */
unsigned int krp_thunks_left(bool light)
{
	unsigned int nr, left = 0;

	for (nr = krp_thunks_first(light); nr < krp_thunks_end_of(light); nr++)
		/* Some may be given back meanwhile. */
		left += !data_race(test_bit(nr, krp_thunk_used));
	return left;
}
