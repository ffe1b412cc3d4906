// SPDX-License-Identifier: GPL-2.0-only
/* Tests that report in TAP. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* More lines than this about one test help nobody. */
#define TAP_LINES	8

static char tap_context[256];
static const char *tap_skipped;
static unsigned int tap_failures;

void tap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tap_context, sizeof(tap_context), format, args);
	va_end(args);
}

void tap_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# ", stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

void tap_skip(const char *why)
{
	tap_skipped = why;
}

/* Threads check as well, hence the atomic count. */
static bool tap_failed(const char *file, int line)
{
	const char *base = strrchr(file, '/');

	if (__atomic_fetch_add(&tap_failures, 1, __ATOMIC_RELAXED) >= TAP_LINES)
		return false;
	printf("# %s:%d: %s%s", base ? base + 1 : file, line, tap_context, *tap_context ? ": " : "");
	return true;
}

bool tap_check(bool ok, const char *file, int line, const char *what)
{
	if (!ok && tap_failed(file, line))
		printf("not true: %s\n", what);
	return ok;
}

bool tap_check_eq(long long a, long long b, const char *file, int line,
		  const char *what_a, const char *what_b)
{
	if (a != b && tap_failed(file, line))
		printf("%s is %lld, %s is %lld\n", what_a, a, what_b, b);
	return a == b;
}

int tap_run(const struct tap_test *tests, size_t nr)
{
	size_t i, failed = 0;

	/* A test that crashes must not take the lines before it along. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", nr);
	for (i = 0; i < nr; i++) {
		tap_context[0] = '\0';
		tap_skipped = NULL;
		tap_failures = 0;
		tests[i].fn();
		if (tap_failures) {
			failed++;
			printf("not ok %zu - %s\n", i + 1, tests[i].name);
		} else if (tap_skipped) {
			printf("ok %zu - %s # SKIP %s\n", i + 1, tests[i].name, tap_skipped);
		} else {
			printf("ok %zu - %s\n", i + 1, tests[i].name);
		}
	}
	return failed ? 1 : 0;
}
