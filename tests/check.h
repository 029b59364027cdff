/* check: what the unit programs share: counted checks, a line for each that fails, and a last line that tests/run
 * reads. A program includes it in exactly one file. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static size_t checks_passed, checks_failed, checks_cases, checks_left_out;

/* Counts a check. If it failed, prints the formatted line. Returns ok. */
__attribute__((format(printf, 2, 3)))
static inline int check(int ok, const char *words, ...)
{
	va_list ap;

	*(ok ? &checks_passed : &checks_failed) += 1;
	if (ok)
		return 1;
	va_start(ap, words);
	vprintf(words, ap);
	va_end(ap);
	putchar('\n');
	return 0;
}

/* The same with a number that says where or which. */
static inline void check_at(int ok, const char *what, long long detail)
{
	check(ok, "failed: %s (%lld)", what, detail);
}

/* Prints what cannot be tested here, and why, for tests/run's list: "no ../shared/templates (342 cases)". */
__attribute__((format(printf, 1, 2)))
static inline void check_skip(const char *words, ...)
{
	va_list ap;

	fputs("skip ", stdout);
	va_start(ap, words);
	vprintf(words, ap);
	va_end(ap);
	putchar('\n');
}

/* Whether to run the next case: always or, with EVERY=n in the environment, one time in n; for emulators, which are
 * slow. */
static inline int check_takes(void)
{
	const char *every = getenv("EVERY");
	const size_t n = every ? strtoul(every, NULL, 10) : 1;
	const int taken = n < 2 || checks_cases++ % n == 0;

	checks_left_out += !taken;
	return taken;
}

/* Prints the last line. Returns main's status. */
static inline int check_end(const char *name)
{
	if (checks_left_out)
		check_skip("EVERY=%s (%zu cases)", getenv("EVERY"), checks_left_out);
	printf("%s: %zu passed, %zu failed\n", name, checks_passed, checks_failed);
	return checks_failed != 0;
}

#endif
