/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: the kernel's short type names. */
#ifndef KRP_SIM_TYPES_H
#define KRP_SIM_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
/* The kernel's 64-bit types are long long everywhere; on 64-bit, so is long. */
typedef unsigned long long u64;
typedef int32_t s32;
typedef long long s64;
#define __bitwise
typedef unsigned int __bitwise gfp_t;

#endif
