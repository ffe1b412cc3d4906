/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For code written for the kernel's objpool: with this included first it
 * compiles against kretpool as it is, also on kernels that have no objpool.
 *
 * The kernel's header comes first, so that its declarations keep their names;
 * from here on the names mean ours. What differs is in
 * Documentation/migrating.md.
 */
#ifndef KRP_OBJPOOL_COMPAT_H
#define KRP_OBJPOOL_COMPAT_H

#include "compat/compat_objpool.h"
#include "objpool.h"

#undef OBJPOOL_NR_OBJECT_MAX
#undef OBJPOOL_OBJECT_SIZE_MAX
#define OBJPOOL_NR_OBJECT_MAX	KRP_OBJPOOL_NR_OBJECT_MAX
#define OBJPOOL_OBJECT_SIZE_MAX	KRP_OBJPOOL_OBJECT_SIZE_MAX

#define objpool_head		krp_objpool
#define objpool_init_obj_cb	krp_objpool_init_obj_cb
#define objpool_fini_cb		krp_objpool_fini_cb

#define objpool_init		krp_objpool_init
#define objpool_pop		krp_objpool_pop
#define objpool_push		krp_objpool_push
/* The kernel's have freed everything when they return: so do these. */
#define objpool_drop		krp_objpool_drop_now
#define objpool_free		krp_objpool_free
#define objpool_fini		krp_objpool_fini_now

#endif /* KRP_OBJPOOL_COMPAT_H */
