/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chains of calls, and two ways of taking over the innermost call's return.
 *
 * The kernel's way is that of its arch_rethook_trampoline(), and of its
 * kretprobe trampoline before 5.18: entered by the function's ret and left by
 * a ret of its own. That is one ret more than there are calls, so the
 * processor, which guesses by a stack of return addresses, is wrong about
 * every further return of the chain.
 */
#include "regs.h"
#include "thunk_macros.S"
#include "returns.h"

.macro FUNC name
	.globl	\name
	.type	\name, @function
	.balign	64
\name:
.endm

	.text

/* void returns_run(returns_chain_t chain, unsigned long times) */
FUNC returns_run
	pushq	%rbx
	pushq	%rbp
	subq	$8, %rsp
	movq	%rdi, %rbx
	movq	%rsi, %rbp
	.balign	64
1:	call	*%rbx
	decq	%rbp
	jnz	1b
	addq	$8, %rsp
	popq	%rbp
	popq	%rbx
	ret

/*
 * The innermost functions. What hooks a function has replaced its return
 * address before the body runs.
 */
FUNC plain_1
	xorl	%eax, %eax
	ret

.macro INNERMOST name
FUNC \name\()_1
	movq	(%rsp), %rax
	movq	%rax, \name\()_instance(%rip)
	movq	\name\()_instance + 8(%rip), %rax
	movq	%rax, (%rsp)
	xorl	%eax, %eax
	ret
.endm

	INNERMOST kernel
	INNERMOST thunk

/*
 * NAME_16 calls NAME_15 and so on, NAME_chains has them all. Each return goes
 * to a place of its own: one function that calls itself would return to the
 * same place every time, and a wrong guess would be right by accident.
 */
	.altmacro

.macro LINK name, n, next
	.balign	16
\name\()_\n:
	subq	$8, %rsp
	call	\name\()_\next
	addq	$8, %rsp
	ret
.endm

.macro ENTRY name, n
	.quad	\name\()_\n
.endm

.macro CHAINS name
	.set	depth, 1
	.rept	RETURNS_DEPTH_MAX - 1
	LINK	\name, %(depth + 1), %depth
	.set	depth, depth + 1
	.endr
	.pushsection .rodata
	.balign	8
	.globl	\name\()_chains
\name\()_chains:
	.set	depth, 1
	.rept	RETURNS_DEPTH_MAX
	ENTRY	\name, %depth
	.set	depth, depth + 1
	.endr
	.popsection
.endm

	CHAINS	plain
	CHAINS	kernel
	CHAINS	thunk

	.noaltmacro

/* The kernel's way. */
FUNC kernel_trampoline
	pushq	$kernel_trampoline
	pushq	$__KERNEL_DS
	pushq	%rsp
	pushfq
	subq	$24, %rsp
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, %rdi
	call	kernel_handler
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	addq	$24, %rsp
	/* Over flags and sp; the handler has copied the flags into ss. */
	addq	$16, %rsp
	popfq
	ret

/* Ours, as in arch/x86/thunk.S. */
	.balign	64
	.globl	thunks
thunks:
	.rept	RETURNS_THUNKS
	KRP_THUNK thunk_common
	.endr

FUNC thunk_common
	KRP_SAVE_REGS
	call	thunk_handler
	KRP_RESTORE_REGS
	ret

	.section .note.GNU-stack, "", @progbits
