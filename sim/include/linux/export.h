/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: nothing is exported. */
#ifndef KRP_SIM_EXPORT_H
#define KRP_SIM_EXPORT_H

/* Something has to stand before the semicolon. */
#define EXPORT_SYMBOL_GPL(sym)	_Static_assert(1, #sym)

#endif
