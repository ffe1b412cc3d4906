// SPDX-License-Identifier: GPL-2.0-only
/* Interrupting one's own code at a chosen instruction. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "trap.h"

#if defined(__x86_64__)

#define TRAP_FLAG	0x100UL
#define TRAP_INT3	0xcc

static void (*trap_each)(unsigned char *ip);

struct trap_point {
	unsigned char *ip;
	unsigned char was;
	unsigned int visits_left;
	/* An earlier visit: one step past the instruction, then planted anew. */
	bool stepping_over;
	bool done;
	void (*fn)(void);
};

static struct trap_point *trap_point;

static void trap_plant(struct trap_point *point)
{
	point->was = *point->ip;
	WRITE_ONCE(*point->ip, TRAP_INT3);
}

static void trap_remove(struct trap_point *point)
{
	WRITE_ONCE(*point->ip, point->was);
}

static void trap_handler(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct trap_point *point = trap_point;

	if (trap_each) {
		trap_each((unsigned char *)regs[REG_RIP]);
		return;
	}
	if (point->stepping_over) {
		point->stepping_over = false;
		regs[REG_EFL] &= ~TRAP_FLAG;
		trap_plant(point);
		return;
	}
	if (regs[REG_RIP] != (greg_t)point->ip + 1)
		abort();
	trap_remove(point);
	regs[REG_RIP]--;
	if (--point->visits_left) {
		point->stepping_over = true;
		regs[REG_EFL] |= TRAP_FLAG;
		return;
	}
	point->done = true;
	point->fn();
}

static void trap_init(void)
{
	static bool done;
	struct sigaction action = { .sa_sigaction = trap_handler,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned long page = sysconf(_SC_PAGESIZE);
	unsigned long start = (unsigned long)__executable_start & -page;
	unsigned long end = ((unsigned long)etext + page - 1) & -page;

	if (done)
		return;
	if (sigaction(SIGTRAP, &action, NULL) ||
	    mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC))
		abort();
	done = true;
}

void trap_steps(void (*op)(void), void (*each)(unsigned char *ip))
{
	trap_init();
	trap_each = each;
	/* The compiler does not know what the flag does. */
	barrier();
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
	op();
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
	barrier();
	trap_each = NULL;
}

bool trap_before(void (*op)(void), unsigned char *ip, unsigned int visit, void (*fn)(void))
{
	struct trap_point point = { .ip = ip, .visits_left = visit, .fn = fn };
	struct trap_point *outer = trap_point;

	trap_init();
	trap_point = &point;
	trap_plant(&point);
	barrier();
	op();
	barrier();
	if (!point.done)
		trap_remove(&point);
	trap_point = outer;
	return point.done;
}

bool trap_can_stop_at(const unsigned char *ip)
{
	return ip >= __executable_start && ip < etext;
}

#else

void trap_steps(void (*op)(void), void (*each)(unsigned char *ip))
{
	abort();
}

bool trap_before(void (*op)(void), unsigned char *ip, unsigned int visit, void (*fn)(void))
{
	abort();
}

bool trap_can_stop_at(const unsigned char *ip)
{
	return false;
}

#endif
