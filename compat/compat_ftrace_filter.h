/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in how an ftrace_ops gets many addresses. */
#ifndef KRP_COMPAT_FTRACE_FILTER_H
#define KRP_COMPAT_FTRACE_FILTER_H

#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/slab.h>

#include "krp_features.h"

/* So many addresses are better set together. */
#define KRP_FTRACE_MANY		64

#ifdef KRP_HAVE_FTRACE_SET_FILTER_IPS

/* 5.19: of a registered ops as well. */
#define KRP_FTRACE_ADDS_MANY	1

#define krp_ftrace_set_filter_ips	ftrace_set_filter_ips

#else

#define KRP_FTRACE_ADDS_MANY	0

/*
 * Before, there was one address at a time, and the kernel copied all there were
 * for each more: hours, for all of its functions. While an ops is not registered
 * its filter is a hash that nobody looks at: most addresses are put into it
 * here. What these structures look like is private to the kernel, so it is
 * checked on what the kernel itself has made of the first addresses.
 */
struct krp_ftrace_entry {
	struct hlist_node hlist;
	unsigned long ip;
	unsigned long direct;
};

struct krp_ftrace_hash {
	unsigned long size_bits;
	struct hlist_head *buckets;
	unsigned long count;
};

/* As many buckets as the kernel takes at most. */
#define KRP_FTRACE_HASH_BITS	12

/* Is this what a hash of these looks like? */
static inline bool krp_ftrace_hash_known(const struct krp_ftrace_hash *hash, unsigned long *ips,
					 unsigned int nr)
{
	struct krp_ftrace_entry *entry;
	unsigned int i;

	if (hash->count != nr || !hash->size_bits || hash->size_bits > KRP_FTRACE_HASH_BITS)
		return false;
	for (i = 0; i < nr; i++) {
		bool found = false;

		hlist_for_each_entry(entry, &hash->buckets[hash_long(ips[i], hash->size_bits)], hlist)
			found |= entry->ip == ips[i];
		if (!found)
			return false;
	}
	return true;
}

static inline int krp_ftrace_hash_add(struct hlist_head *buckets, unsigned long ip)
{
	struct krp_ftrace_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->ip = ip;
	hlist_add_head(&entry->hlist, &buckets[hash_long(ip, KRP_FTRACE_HASH_BITS)]);
	return 0;
}

/* Adds @ips from the @known-th on; -EOPNOTSUPP if that is not possible. */
static inline int krp_ftrace_hash_fill(struct ftrace_ops *ops, unsigned long *ips,
				       unsigned int known, unsigned int nr)
{
	struct krp_ftrace_hash *hash = (void *)rcu_access_pointer(ops->func_hash->filter_hash);
	struct hlist_head *buckets, *old = hash->buckets;
	struct krp_ftrace_entry *entry;
	struct hlist_node *next;
	unsigned int i;
	int ret = 0;

	if (!krp_ftrace_hash_known(hash, ips, known))
		return -EOPNOTSUPP;
	buckets = kcalloc(1 << KRP_FTRACE_HASH_BITS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets)
		return -ENOMEM;
	for (i = 0; i < 1U << hash->size_bits; i++) {
		hlist_for_each_entry_safe(entry, next, &old[i], hlist) {
			hlist_del(&entry->hlist);
			hlist_add_head(&entry->hlist,
				       &buckets[hash_long(entry->ip, KRP_FTRACE_HASH_BITS)]);
		}
	}
	hash->buckets = buckets;
	hash->size_bits = KRP_FTRACE_HASH_BITS;
	kfree(old);
	for (i = known; i < nr && !ret; i++) {
		ret = krp_ftrace_hash_add(buckets, ips[i]);
		if (!ret)
			hash->count++;
	}
	return ret;
}

static inline int krp_ftrace_set_filter_ips(struct ftrace_ops *ops, unsigned long *ips,
					    unsigned int nr, int remove, int reset)
{
	bool many = nr >= KRP_FTRACE_MANY && reset && !(ops->flags & FTRACE_OPS_FL_ENABLED);
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		if (many && i == KRP_FTRACE_MANY / 2) {
			ret = krp_ftrace_hash_fill(ops, ips, i, nr);
			if (ret != -EOPNOTSUPP)
				break;
		}
		ret = ftrace_set_filter_ip(ops, ips[i], remove, reset && !i);
	}
	if (ret && reset)
		ftrace_set_filter(ops, NULL, 0, 1);
	else if (ret)
		while (--i)
			ftrace_set_filter_ip(ops, ips[i - 1], !remove, 0);
	return ret;
}

#endif /* KRP_HAVE_FTRACE_SET_FILTER_IPS */
#endif /* KRP_COMPAT_FTRACE_FILTER_H */
