/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SRCU read sections that one context begins and another ends. 6.3 has
 * srcu_down_read() and srcu_up_read() for that; the functions beneath do the
 * same on all kernels, and leave lockdep, which goes by contexts, out of it.
 */
#ifndef KRP_COMPAT_SRCU_H
#define KRP_COMPAT_SRCU_H

#include <linux/srcu.h>

static inline int krp_srcu_begin(struct srcu_struct *srcu)
{
	int section = __srcu_read_lock(srcu);

	/* For sparse: what ends it is not to be found here. */
	__release(srcu);
	return section;
}

static inline void krp_srcu_end(struct srcu_struct *srcu, int section)
{
	__acquire(srcu);
	__srcu_read_unlock(srcu, section);
}

#endif /* KRP_COMPAT_SRCU_H */
