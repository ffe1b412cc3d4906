/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The return thunks and the code they share, arm64.
 *
 * A hooked call returns into its thunk. That is a single bl, which leaves the
 * address of the next thunk in x30: calls and returns stay paired, and the
 * processor's return predictor with them. krp_return() finds the thunk by it
 * and puts the real return address in its place.
 *
 * Nothing here is reached by an indirect branch other than ret: no landing
 * pads are needed. x30 never carries a signature here, the function that
 * returned has authenticated it. A shadow call stack holds only what compiled
 * functions push and pop.
 *
 * Everything lies in .kprobes.text, where the kernel puts no kprobes.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/ptrace.h>

	.section .kprobes.text, "ax"

SYM_CODE_START(krp_thunk_table)
	/* Unwinders look at the return address - 1: not another function's. */
	.inst	0
SYM_INNER_LABEL(krp_thunks, SYM_L_GLOBAL)
	.rept	KRP_NR_THUNKS
	bl	krp_common
	.endr
SYM_INNER_LABEL(krp_thunks_end, SYM_L_GLOBAL)
	.inst	0
SYM_CODE_END(krp_thunk_table)

/*
 * Makes a struct pt_regs: of the callee-saved registers copies, to be read, as
 * C code keeps these, and of the flags those that are live. The others are
 * restored although the ABI asks only for what returns a value: functions that
 * ftrace does not reach may have been compiled with -fipa-ra, whose callers
 * know better.
 *
 * A frame record makes traces go on in the caller; krp_return() fills in its
 * second word.
 */
SYM_CODE_START(krp_common)
	sub	sp, sp, #PT_REGS_SIZE
	stp	x0, x1, [sp, #S_X0]
	stp	x2, x3, [sp, #S_X2]
	stp	x4, x5, [sp, #S_X4]
	stp	x6, x7, [sp, #S_X6]
	stp	x8, x9, [sp, #S_X8]
	stp	x10, x11, [sp, #S_X10]
	stp	x12, x13, [sp, #S_X12]
	stp	x14, x15, [sp, #S_X14]
	stp	x16, x17, [sp, #S_X16]
	stp	x18, x19, [sp, #S_X18]
	stp	x20, x21, [sp, #S_X20]
	stp	x22, x23, [sp, #S_X22]
	stp	x24, x25, [sp, #S_X24]
	stp	x26, x27, [sp, #S_X26]
	stp	x28, x29, [sp, #S_X28]
	add	x10, sp, #PT_REGS_SIZE
	stp	x30, x10, [sp, #S_LR]
	mrs	x9, daif
	add	x9, x9, #PSR_MODE_EL1h
	str	x9, [sp, #S_PSTATE]
	stp	x29, x30, [sp, #S_STACKFRAME]
	add	x29, sp, #S_STACKFRAME

	mov	x0, sp
	bl	krp_return

	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x4, x5, [sp, #S_X4]
	ldp	x6, x7, [sp, #S_X6]
	ldp	x8, x9, [sp, #S_X8]
	ldp	x10, x11, [sp, #S_X10]
	ldp	x12, x13, [sp, #S_X12]
	ldp	x14, x15, [sp, #S_X14]
	ldp	x16, x17, [sp, #S_X16]
	ldr	x18, [sp, #S_X18]
	ldp	x29, x30, [sp, #S_FP]
	add	sp, sp, #PT_REGS_SIZE
	ret
SYM_CODE_END(krp_common)
