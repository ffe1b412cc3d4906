/* SPDX-License-Identifier: GPL-2.0-only */
/* The measures of a return thunk. Its instructions are in thunk_macros.S. */
#ifndef KRP_X86_THUNK_H
#define KRP_X86_THUNK_H

/* Bytes from one thunk to the next, and to the return address it pushes. */
#define KRP_THUNK_SIZE		8
#define KRP_THUNK_RETURN	5

#endif /* KRP_X86_THUNK_H */
