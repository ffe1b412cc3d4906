/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that report in TAP: a list of functions that check things. */
#ifndef SIM_TEST_TAP_H
#define SIM_TEST_TAP_H

#include <stdbool.h>
#include <stddef.h>

struct tap_test {
	const char *name;
	void (*fn)(void);
};

#define TAP_TEST(fn)	{ #fn, test_##fn }

/* What the running test does from here on is said in its failures. */
[[gnu::format(printf, 1, 2)]] void tap_note(const char *format, ...);
/* A line of information, whatever the outcome. */
[[gnu::format(printf, 1, 2)]] void tap_say(const char *format, ...);
void tap_skip(const char *why);
bool tap_check(bool ok, const char *file, int line, const char *what);
bool tap_check_eq(long long a, long long b, const char *file, int line,
		  const char *what_a, const char *what_b);
int tap_run(const struct tap_test *tests, size_t nr);

/* Both tell whether it held, for tests that cannot go on otherwise. */
#define CHECK(cond)	tap_check(!!(cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b)	\
	tap_check_eq((long long)(a), (long long)(b), __FILE__, __LINE__, #a, #b)

#endif /* SIM_TEST_TAP_H */
