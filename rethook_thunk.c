// SPDX-License-Identifier: GPL-2.0-only
/* Which instance owns which thunk. */

#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>

#include "rethook_internal.h"

struct krp_instance *krp_thunk_owner[KRP_NR_THUNKS];

static DECLARE_BITMAP(krp_thunk_used, KRP_NR_THUNKS);

/* krp_mutex: where the next search begins. */
static unsigned int krp_thunk_next;

/**
 * krp_thunk_alloc() - give an instance a thunk for its life
 * @inst: the instance
 *
 * The caller has seen to it that there is one, see krp_thunks_used().
 *
 * Context: process, krp_mutex held.
 */
void krp_thunk_alloc(struct krp_instance *inst)
{
	/* Others can only clear bits meanwhile: one that is found clear stays so. */
	unsigned int nr = data_race(find_next_zero_bit(krp_thunk_used, KRP_NR_THUNKS,
						       krp_thunk_next));

	if (nr == KRP_NR_THUNKS)
		/* As above. */
		nr = data_race(find_first_zero_bit(krp_thunk_used, KRP_NR_THUNKS));
	/* Atomic, as others may give theirs back meanwhile. */
	set_bit(nr, krp_thunk_used);
	krp_thunk_next = nr + 1;
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
 */
unsigned int krp_thunks_used(void)
{
	/* Some may be given back meanwhile. */
	return data_race(bitmap_weight(krp_thunk_used, KRP_NR_THUNKS));
}
