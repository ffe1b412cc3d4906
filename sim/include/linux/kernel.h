/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in; glibc's sysinfo.h also comes through here. */
#ifndef KRP_SIM_KERNEL_H
#define KRP_SIM_KERNEL_H

#include_next <linux/kernel.h>
#include <limits.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <string.h>

#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX

#define max(a, b)		({ typeof(a) __a = (a); typeof(b) __b = (b); __a > __b ? __a : __b; })
#define min(a, b)		({ typeof(a) __a = (a); typeof(b) __b = (b); __a < __b ? __a : __b; })
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define ALIGN(x, a)		(((x) + (typeof(x))(a) - 1) & ~((typeof(x))(a) - 1))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif
