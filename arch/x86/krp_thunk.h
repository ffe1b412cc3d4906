/* SPDX-License-Identifier: GPL-2.0-only */
/* The measures of a return thunk. Its instructions are in thunk_macros.S. */
#ifndef KRP_X86_THUNK_H
#define KRP_X86_THUNK_H

/* Bytes from one thunk to the next, and to the return address it pushes. */
#define KRP_THUNK_SIZE		8
#define KRP_THUNK_RETURN	5

/* As many of them, at the end of the table, save only what a function returns. */
#define KRP_NR_LIGHT		(KRP_NR_THUNKS / 8)

#endif /* KRP_X86_THUNK_H */
