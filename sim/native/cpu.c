// SPDX-License-Identifier: GPL-2.0-only
/* Which CPU each thread is. */

#include "krp_access.h"

__thread unsigned int krp_cpu;
__thread unsigned long krp_cpu_offset;
