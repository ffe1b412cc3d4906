// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leases: what keeps a probe alive for a call of a user-space function that is
 * in flight, without a write to anything that other calls write to.
 *
 *	            begin             expire
 *	CONSUMED ----------> LEASED ----------> COUNTED
 *	  ^  ^                |  |               |  |
 *	  |  |    consume     |  |    revoke     |  |
 *	  |  +----------------+  +----> GONE <---+  |
 *	  |                                         |
 *	  +-----------------------------------------+
 *	                  consume
 *
 * and consume takes GONE to CONSUMED, which means nothing but that the task knows.
 *
 * Who does what:
 *   begin      the task that makes the call, at entry (for a child, its parent)
 *   consume    the task that made the call, when the call has ended; it may use
 *              the object until finalize if the state was LEASED or COUNTED
 *   finalize   the same task, with the state that consume returned
 *   expire     a timer, 100 ms later at most, on any CPU
 *   revoke     removal of the object, for all calls that it still finds
 *
 * Each transition is one atomic operation on @word, and whoever makes it owns
 * what protected the object before: leaving LEASED is to end the SRCU section,
 * leaving COUNTED is to put the reference, either at once (expire, revoke) or
 * with finalize. So a section is ended once, a reference put once, and a call is
 * either consumed by its task or revoked, never both.
 *
 * A lease is used for one call after the other. @word has the number of the
 * call, so that whoever looked at one call cannot change the next: expire's
 * and revoke's exchanges fail. What expire read of @what and @section belongs to
 * the call of the @word that it read first if its exchange succeeds.
 *
 * The object is freed by its remover like this:
 *   1. it sees to it that nobody begins a lease any more,
 *   2. revokes those there are,
 *   3. puts its own reference and waits for @last: expire may hold one for the
 *      time of its exchange, a task that consumed a counted lease until finalize,
 *   4. krp_lease_synchronize(): tasks that consumed a lease that was LEASED are
 *      through (SRCU), and so is expire, which may have come upon the object
 *      through a lease that was LEASED before step 2 (RCU).
 * Step 4 also waits for the leases of other objects, and that is what expire is
 * for: a call that sleeps holds nobody up for longer than the timer lets it.
 *
 * sim/lease explores every interleaving of these, with this file as it is.
 */

#include "uret_lease.h"
#include "compat_srcu.h"

DEFINE_STATIC_SRCU(krp_lease_srcu);

static inline long krp_lease_word(long word, enum krp_lease_state state)
{
	return (word & ~(KRP_LEASE_ONE - 1)) | state;
}

/**
 * krp_leased_init() - make an object that can be leased
 * @what: the object; it has one reference then
 * @last: called when the last reference is gone, in the context of the put
 */
void krp_leased_init(struct krp_leased *what, void (*last)(struct krp_leased *what))
{
	atomic_long_set(&what->refs, 1);
	what->last = last;
}

/**
 * krp_leased_put() - put a reference
 * @what: the object
 *
 * Context: any but NMI, as far as its @last goes.
 */
void krp_leased_put(struct krp_leased *what)
{
	/* Fully ordered: what was done under the reference comes before. */
	if (atomic_long_dec_and_test(&what->refs))
		what->last(what);
}

/**
 * krp_lease_begin() - protect an object for a call
 * @lease: a lease that is CONSUMED or GONE
 * @what: the object; the caller knows that it is there
 *
 * Context: the lease's task, or nobody can see the lease yet; any but NMI.
 * Return: what names this use of the lease, for krp_lease_revoke().
 */
long krp_lease_begin(struct krp_lease *lease, struct krp_leased *what)
{
	long word = krp_lease_word(atomic_long_read(&lease->word) + KRP_LEASE_ONE,
				   KRP_LEASE_LEASED);

	/* Before @what can be seen: expire counts on the section. */
	WRITE_ONCE(lease->section, krp_srcu_begin(&krp_lease_srcu));
	WRITE_ONCE(lease->what, what);
	/* Pairs with the acquires in krp_lease_expire() and krp_lease_revoke(). */
	atomic_long_set_release(&lease->word, word);
	return word;
}

/**
 * krp_lease_expire() - end a lease's SRCU section, for a reference instead
 * @lease: a lease, in any state
 *
 * Context: under RCU; any but NMI.
 */
void krp_lease_expire(struct krp_lease *lease)
{
	/* Pairs with the release in krp_lease_begin(): @what and @section are there. */
	long word = atomic_long_read_acquire(&lease->word);
	struct krp_leased *what;
	int section;

	if (krp_lease_state(word) != KRP_LEASE_LEASED)
		return;
	what = READ_ONCE(lease->what);
	section = READ_ONCE(lease->section);
	/*
	 * It may have been removed, but is not freed: it was leased just now. If
	 * it has no reference the call has ended or is revoked meanwhile.
	 */
	if (!atomic_long_inc_not_zero(&what->refs))
		return;
	/* Fully ordered: the two reads above are of this call if it succeeds. */
	if (atomic_long_try_cmpxchg(&lease->word, &word,
				    krp_lease_word(word, KRP_LEASE_COUNTED)))
		krp_srcu_end(&krp_lease_srcu, section);
	else
		krp_leased_put(what);
}

/**
 * krp_lease_consume() - the call has ended
 * @lease: the call's lease
 *
 * Context: the lease's task; any but NMI.
 * Return: the state it was in. If that is LEASED or COUNTED the object may be
 * used until krp_lease_finalize(); if not it may be gone.
 */
enum krp_lease_state krp_lease_consume(struct krp_lease *lease)
{
	/* Nobody else begins: the number stays. */
	long word = krp_lease_word(atomic_long_read(&lease->word), KRP_LEASE_CONSUMED);

	/* Fully ordered: removal that comes too late has not freed anything. */
	return krp_lease_state(atomic_long_xchg(&lease->word, word));
}

/**
 * krp_lease_finalize() - done with what krp_lease_consume() gave
 * @lease: the lease
 * @was: what krp_lease_consume() returned
 *
 * Context: the lease's task; any but NMI.
 */
void krp_lease_finalize(struct krp_lease *lease, enum krp_lease_state was)
{
	if (was == KRP_LEASE_LEASED)
		krp_srcu_end(&krp_lease_srcu, lease->section);
	else if (was == KRP_LEASE_COUNTED)
		krp_leased_put(lease->what);
}

/**
 * krp_lease_revoke() - take a call from its task, as its object is being removed
 * @lease: the lease
 * @begun: what krp_lease_begin() has returned
 *
 * Context: under RCU; any but NMI. The object's remover, after the last begin.
 * Return: did it work? If not the task has consumed the lease before.
 */
bool krp_lease_revoke(struct krp_lease *lease, long begun)
{
	/* Pairs with the release in krp_lease_begin(): @what and @section are there. */
	long word = atomic_long_read_acquire(&lease->word);
	struct krp_leased *what;
	int section;

	do {
		if (word != begun && word != krp_lease_word(begun, KRP_LEASE_COUNTED))
			return false;
		what = READ_ONCE(lease->what);
		section = READ_ONCE(lease->section);
		/* Fully ordered: the two reads above are of this call if it succeeds. */
	} while (!atomic_long_try_cmpxchg(&lease->word, &word,
					  krp_lease_word(word, KRP_LEASE_GONE)));
	if (krp_lease_state(word) == KRP_LEASE_LEASED)
		krp_srcu_end(&krp_lease_srcu, section);
	else
		krp_leased_put(what);
	return true;
}

/**
 * krp_lease_synchronize() - wait for all who may look at a removed object
 *
 * Context: process; sleeps, for the time a lease can stay LEASED at most.
 */
void krp_lease_synchronize(void)
{
	synchronize_srcu_expedited(&krp_lease_srcu);
	synchronize_rcu_expedited();
}
