/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lib/test_fprobe.c is built into kernels, and asks kallsyms and ftrace where a
 * function's ftrace site is, to compare with it what handlers are told. Modules
 * may not ask that. kretpool tells handlers the function's address.
 */
#ifndef KRP_UPSTREAM_UNEXPORTED_H
#define KRP_UPSTREAM_UNEXPORTED_H

#include <linux/ftrace.h>
#include <linux/kallsyms.h>

#define kallsyms_lookup_size_offset(addr, size, offset)	(*(size) = 1)
#define ftrace_location_range(start, end)		(start)

#endif /* KRP_UPSTREAM_UNEXPORTED_H */
