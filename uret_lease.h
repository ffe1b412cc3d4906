/* SPDX-License-Identifier: GPL-2.0-only */
/* Leases: what keeps a probe alive for a call in flight. See uret_lease.c. */
#ifndef KRP_URET_LEASE_H
#define KRP_URET_LEASE_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * enum krp_lease_state - what protects a lease's object
 * @KRP_LEASE_CONSUMED: nothing, the lease is over; also before the first
 * @KRP_LEASE_LEASED: an SRCU read section
 * @KRP_LEASE_COUNTED: a reference
 * @KRP_LEASE_GONE: nothing, removal has taken the call over
 */
enum krp_lease_state {
	KRP_LEASE_CONSUMED,
	KRP_LEASE_LEASED,
	KRP_LEASE_COUNTED,
	KRP_LEASE_GONE,
};

/**
 * struct krp_leased - what leases protect
 * @refs: one of its owner, one for each lease that is counted
 * @last: called when the last is gone
 */
struct krp_leased {
	atomic_long_t refs;
	void (*last)(struct krp_leased *what);
};

/**
 * struct krp_lease - a lease; all zeroes before its first use
 * @word: how often it has been begun, times 4, and a krp_lease_state
 * @what: the object
 * @section: the SRCU read section, while it is leased
 *
 * Reused again and again, but not freed before a grace period of RCU is over.
 */
struct krp_lease {
	atomic_long_t word;
	struct krp_leased *what;
	int section;
};

#define KRP_LEASE_ONE	4L	/* one use, in @word */

static inline enum krp_lease_state krp_lease_state(long word)
{
	return word & 3;
}

void krp_leased_init(struct krp_leased *what, void (*last)(struct krp_leased *what));
void krp_leased_put(struct krp_leased *what);
long krp_lease_begin(struct krp_lease *lease, struct krp_leased *what);
void krp_lease_expire(struct krp_lease *lease);
enum krp_lease_state krp_lease_consume(struct krp_lease *lease);
void krp_lease_finalize(struct krp_lease *lease, enum krp_lease_state was);
bool krp_lease_revoke(struct krp_lease *lease, long begun);
void krp_lease_synchronize(void);

#endif /* KRP_URET_LEASE_H */
