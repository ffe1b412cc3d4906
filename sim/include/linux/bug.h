/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in: warnings end the program. */
#ifndef KRP_SIM_BUG_H
#define KRP_SIM_BUG_H

#include <stdlib.h>

#define WARN_ON_ONCE(cond)	({ bool __c = (cond); if (__c) abort(); __c; })

#endif
