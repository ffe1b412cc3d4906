/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What thunk_macros.S takes from the kernel's headers, for a user-space program:
 * the layout of x86-64's struct pt_regs and the kernel's segments.
 */
#ifndef KRP_RETURNS_REGS_H
#define KRP_RETURNS_REGS_H

#define R15		0
#define R14		8
#define R13		16
#define R12		24
#define RBP		32
#define RBX		40
#define R11		48
#define R10		56
#define R9		64
#define R8		72
#define RAX		80
#define RCX		88
#define RDX		96
#define RSI		104
#define RDI		112
#define ORIG_RAX	120
#define RIP		128
#define CS		136
#define EFLAGS		144
#define RSP		152
#define SS		160

#define __KERNEL_CS	0x10
#define __KERNEL_DS	0x18

#endif /* KRP_RETURNS_REGS_H */
