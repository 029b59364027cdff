/* check: what the unit programs have in common: checks that are counted, a line for each that fails, and a last line
 * that tests/run reads. One program, one file that includes it. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>

static size_t checks_passed, checks_failed;

/* Counts it. Where it failed the words are printed as a line. Returns ok. */
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

/* The same with a number that tells where or which. */
static inline void check_at(int ok, const char *what, long long detail)
{
	check(ok, "failed: %s (%lld)", what, detail);
}

/* Says what cannot be tested here, and why, for tests/run's list: "no ../shared/templates (342 cases)". */
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

/* The last line; returns main's status. */
static inline int check_end(const char *name)
{
	printf("%s: %zu passed, %zu failed\n", name, checks_passed, checks_failed);
	return checks_failed != 0;
}

#endif
