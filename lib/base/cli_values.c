/* The values of options: choices and numbers. */
#include "cli_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The length of the next of the choices "a|b|c", or "[a|b|c]" of an option whose value may be left out; *s moves to it.
 * 0: there are no more. */
static size_t next_choice(const char **s)
{
	*s += **s == '[' || **s == '|';
	return strcspn(*s, "|]");
}

int cli_row_choice(const struct opt *o, const char *word)
{
	size_t n;
	int i = 0;

	for (const char *s = o->arg; (n = next_choice(&s)); s += n, i++)
		if (strlen(word) == n && !memcmp(s, word, n))
			return i;
	return -1;
}

/* The choices "a|b|c" as "a, b or c". */
struct words {
	char s[256];
};

static struct words in_words(const char *choices)
{
	struct words words = { "" };
	size_t at = 0, n;

	for (const char *s = choices; (n = next_choice(&s)); s += n)
		at += (size_t)snprintf(words.s + at, sizeof words.s - at, "%s%.*s",
			!at ? "" : s[n] == '|' ? ", " : " or ", (int)n, s);
	return words;
}

int cli_choice(const struct cli *c, const struct opt *o)
{
	int i = cli_row_choice(o, c->value);

	if (i < 0)
		cli_usage(c, "%s: \"%s\" is not %s", cli_row_spell(o).s, c->value, in_words(o->arg).s);
	return i;
}

const char *cli_word(const struct cli *c, const struct opt *o)
{
	cli_choice(c, o);
	return c->value;
}

long long cli_integer(const struct cli *c, const struct opt *o, long long low, long long high)
{
	const char *s = c->value, *digits = s + (*s == '-');
	long long n;

	errno = 0;
	n = strtoll(s, NULL, 10);
	if (!*digits || digits[strspn(digits, "0123456789")] || errno || n < low || n > high)
		cli_usage(c, "%s: \"%s\" is not an integer from %lld to %lld", cli_row_spell(o).s, s, low, high);
	return n;
}

/* [-]digits[.digits][e[±]digits], with at least one digit before or after the point */
static int is_real(const char *s)
{
	size_t whole, part = 0;

	s += *s == '-';
	s += whole = strspn(s, "0123456789");
	if (*s == '.')
		s += 1 + (part = strspn(s + 1, "0123456789"));
	if (!whole && !part)
		return 0;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		if (!*s)
			return 0;
		s += strspn(s, "0123456789");
	}
	return !*s;
}

double cli_real(const struct cli *c, const struct opt *o, double low, double high)
{
	/* no program here calls setlocale(), so the decimal point is a point */
	double x = is_real(c->value) ? strtod(c->value, NULL) : NAN;

	if (!(x >= low && x <= high))
		cli_usage(c, "%s: \"%s\" is not a number from %.7g to %.7g", cli_row_spell(o).s, c->value, low, high);
	return x;
}

size_t cli_scaled(const char *text, double *scale)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL;

	*scale = equals ? strtod(equals + 1, &end) : 1;
	if (equals && end > equals + 1 && !*end)
		return (size_t)(equals - text);
	*scale = 1;
	return strlen(text);
}
