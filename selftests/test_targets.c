// SPDX-License-Identifier: GPL-2.0-only
/* Functions to probe. noipa: the compiler must not see that nothing happens. */

#include <linux/compiler.h>

#include "test.h"

noinline krp_noipa unsigned long krp_target_add(unsigned long a, unsigned long b)
{
	return a + b;
}

noinline krp_noipa unsigned long krp_target_nine(unsigned long a, unsigned long b, unsigned long c,
					 unsigned long d, unsigned long e, unsigned long f,
					 unsigned long g, unsigned long h, unsigned long i)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

noinline krp_noipa struct krp_pair krp_target_pair(unsigned long a, unsigned long b)
{
	return (struct krp_pair){ .a = b, .b = a };
}

noinline krp_noipa struct krp_large krp_target_large(unsigned long seed)
{
	struct krp_large large;
	int i;

	for (i = 0; i < ARRAY_SIZE(large.word); i++)
		large.word[i] = seed + i;
	return large;
}

noinline krp_noipa unsigned long krp_target_depth(unsigned int depth)
{
	unsigned long below;

	if (!depth)
		return 1;
	below = krp_target_depth(depth - 1);
	/* Not a loop. */
	barrier();
	return below + 1;
}

/* The call is a jump: krp_target_add() returns to this function's caller. */
noinline krp_noipa unsigned long krp_target_tail(unsigned long a)
{
	return krp_target_add(a, 1000);
}

/* Out of ftrace's reach. */
noinline krp_noipa notrace unsigned long krp_target_notrace(unsigned long a)
{
	return a ^ 0x55;
}

/* Not a tail call: its name must be on the stack. */
noinline krp_noipa unsigned long krp_caller_of_add(unsigned long a, unsigned long b)
{
	unsigned long sum = krp_target_add(a, b);

	barrier();
	return sum + 1;
}

/* There is another one of this name in test_multi.c. */
static noinline krp_noipa __used unsigned long krp_twin(unsigned long a)
{
	return a + 2;
}
