/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of a return thunk and of what all thunks share, as macros:
 * thunk.S makes the module's table of them, bench/returns measures them on the
 * processor at hand.
 */
#include "krp_thunk.h"

.macro KRP_THUNK target
	call	\target
	.fill	KRP_THUNK_SIZE - KRP_THUNK_RETURN, 1, 0xcc
.endm

/*
 * Makes a struct pt_regs right below the slot and leaves its address in rdi.
 * krp_return() fills in ip. Flags are not live across a return; they are there
 * to be read.
 */
.macro KRP_SAVE_REGS
	pushq	$__KERNEL_DS
	pushq	%rsp
	pushfq
	pushq	$__KERNEL_CS
	subq	$CS, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdi, RDI(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	movq	%r10, R10(%rsp)
	movq	%r11, R11(%rsp)
	movq	$-1, ORIG_RAX(%rsp)
	/* As it is in the caller: above the slot. */
	addq	$16, RSP(%rsp)
	/*
	 * Copies, to be read: C code keeps these registers. Not stored through
	 * rsp, which would tell objtool that they are saved and change.
	 */
	movq	%rsp, %rdi
	movq	%rbx, RBX(%rdi)
	movq	%rbp, RBP(%rdi)
	movq	%r12, R12(%rdi)
	movq	%r13, R13(%rdi)
	movq	%r14, R14(%rdi)
	movq	%r15, R15(%rdi)
.endm

/*
 * The same, with no more in it than what a function returns: for functions that
 * have been compiled for ftrace, whose callers expect no other registers kept.
 * Its address goes to rcx, where krp_return_light() hands it on.
 */
.macro KRP_SAVE_RETURNED
	subq	$(SS + 8), %rsp
	movq	%rax, RAX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rsp, %rcx
.endm

.macro KRP_RESTORE_RETURNED
	movq	RAX(%rsp), %rax
	movq	RDX(%rsp), %rdx
	addq	$(SS + 8), %rsp
.endm

.macro KRP_RESTORE_REGS
	movq	RAX(%rsp), %rax
	movq	RDX(%rsp), %rdx
	movq	RCX(%rsp), %rcx
	movq	RSI(%rsp), %rsi
	movq	RDI(%rsp), %rdi
	movq	R8(%rsp), %r8
	movq	R9(%rsp), %r9
	movq	R10(%rsp), %r10
	movq	R11(%rsp), %r11
	addq	$(SS + 8), %rsp
.endm
