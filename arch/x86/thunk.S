/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The return thunks and the code they share, x86-64.
 *
 * A hooked call returns into its thunk with the stack pointer just above the
 * slot that held the return address. The thunk's call pushes the thunk's own
 * address into that very slot, where krp_return() finds it and replaces it by
 * the real one: calls and returns stay paired, and the processor's return
 * predictor with them.
 *
 * Everything lies in .kprobes.text, where the kernel puts no kprobes.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>

#include "compat_asm.S"
#include "thunk_macros.S"

	.section .kprobes.text, "ax"

SYM_CODE_START(krp_thunk_table)
	KRP_UNWIND_UNDEFINED
	/* Unwinders look at the return address - 1: not another function's. */
	.fill KRP_THUNK_SIZE, 1, 0xcc
SYM_INNER_LABEL(krp_thunks, SYM_L_GLOBAL)
	KRP_NOENDBR
	.rept KRP_NR_THUNKS - KRP_NR_LIGHT
	KRP_THUNK krp_common
	.endr
	.rept KRP_NR_LIGHT
	KRP_THUNK krp_common_light
	.endr
SYM_INNER_LABEL(krp_thunks_end, SYM_L_GLOBAL)
	KRP_NOENDBR
	ud2
SYM_CODE_END(krp_thunk_table)

/* What the first of them pushes: a symbol, so that C can subtract it at once. */
	.globl	krp_thunk_returns
	.set	krp_thunk_returns, krp_thunks + KRP_THUNK_RETURN

/*
 * An ordinary function as far as unwinders and objtool are concerned; its
 * return address is the slot. Caller-saved registers are restored although
 * the ABI does not ask for it: functions that ftrace does not reach (notrace
 * files) may have been compiled with -fipa-ra, whose callers know better.
 */
SYM_FUNC_START(krp_common)
	KRP_SAVE_REGS
	call	krp_return
	KRP_RESTORE_REGS
	RET
SYM_FUNC_END(krp_common)

/* The same for KRP_RETHOOK_LIGHT. */
SYM_FUNC_START(krp_common_light)
	KRP_SAVE_RETURNED
	call	krp_return_light
	KRP_RESTORE_RETURNED
	RET
SYM_FUNC_END(krp_common_light)

/*
 * unsigned long krp_arch_call(fn, a, b, c, d)
 *
 * As a retpoline does it, by a return: that needs no ENDBR at the target, which
 * the kernel takes away from functions whose address it never uses itself.
 */
SYM_FUNC_START(krp_arch_call)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %rcx
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lkrp_call
	int3
.Lkrp_call:
	movq	%rax, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(krp_arch_call)
