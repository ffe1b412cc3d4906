/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupting one's own code at a chosen instruction, as an NMI could: by
 * single steps to see which instructions there are, by breakpoint to come in
 * before one of them, which is much faster.
 */
#ifndef SIM_TEST_TRAP_H
#define SIM_TEST_TRAP_H

#include <stdbool.h>

#include "world.h"

#if defined(__x86_64__) && !WORLD_TSAN
#define TRAP_MISSING	NULL
#elif WORLD_TSAN
#define TRAP_MISSING	"ThreadSanitizer delays signals"
#else
#define TRAP_MISSING	"traps are written for x86_64"
#endif

/* The linker's: the program from its first byte to its last instruction. */
extern unsigned char __executable_start[], etext[];

/* Runs @op and calls @each before each of its instructions. */
void trap_steps(void (*op)(void), void (*each)(unsigned char *ip));

/*
 * Runs @op and calls @fn once, before the instruction at @ip is executed for
 * the @visit'th time, counted from 1. @fn may call trap_before() in turn.
 * Only for instructions of the program itself. Tells whether @fn was called.
 */
bool trap_before(void (*op)(void), unsigned char *ip, unsigned int visit, void (*fn)(void));

/* Whether trap_before() can be asked for this address. */
bool trap_can_stop_at(const unsigned char *ip);

#endif /* SIM_TEST_TRAP_H */
