/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the chains, in assembly, what they call, and what times them. */
#ifndef KRP_RETURNS_H
#define KRP_RETURNS_H

/* The length of the longest chain of calls. */
#define RETURNS_DEPTH_MAX	16

/* Thunks there are, and the one that is used. */
#define RETURNS_THUNKS		16
#define RETURNS_THUNK		3

#ifndef __ASSEMBLY__

/* The kernel's struct pt_regs; regs.h has its offsets. */
struct regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp, ss;
};

/**
 * struct instance - a call whose return is taken over
 * @ret_addr: where it returns to in truth
 * @thunk: where it is made to return to
 */
struct instance {
	unsigned long ret_addr;
	const char *thunk;
};

/* chain.S */

typedef void (*returns_chain_t)(void);

void returns_run(returns_chain_t chain, unsigned long times);

extern const returns_chain_t plain_chains[RETURNS_DEPTH_MAX];
extern const returns_chain_t kernel_chains[RETURNS_DEPTH_MAX];
extern const returns_chain_t thunk_chains[RETURNS_DEPTH_MAX];
extern const char kernel_trampoline[];
extern const char thunks[];

/* handlers.c */

extern struct instance kernel_instance, thunk_instance;
extern struct instance *kernel_newest, *thunk_owner[RETURNS_THUNKS];
extern unsigned long returns_hits;

void kernel_handler(struct regs *regs);
void thunk_handler(struct regs *regs);

#endif /* __ASSEMBLY__ */
#endif /* KRP_RETURNS_H */
