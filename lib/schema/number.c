/* Numbers between bounds, as grammars over their digits. */
#include "priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is written has 16 digits at most before the point. */
static const int64_t most = 9999999999999999;

/* Alternatives in the making. */
struct numbers {
	struct bytes *to;
	const char *sign;
	int any;
};

/* ---- digits ---- */

static int any_digits(struct schema *c, struct bytes *to, size_t n)
{
	return n == 0 ? 0 : schema_print(c, to, n == 1 ? " [0-9]" : " [0-9]{%zu}", n);
}

/* One digit from low to high, and n more of any kind. */
static int one_digit(struct schema *c, struct bytes *to, char low, char high, size_t n)
{
	return schema_print(c, to, low == high ? " \"%c\"" : " [%c-%c]", low, high) ? -1 : any_digits(c, to, n);
}

static int all(const char *s, size_t n, char digit)
{
	while (n && s[n - 1] == digit)
		n--;
	return n == 0;
}

/* As many digits as s has that make a number no less than it (end '9'), or no more (end '0'). */
static int from_digits(struct schema *c, struct bytes *to, const char *s, size_t n, char end)
{
	int up = end == '9';

	if (n && all(s, n, up ? '0' : '9'))
		return any_digits(c, to, n);
	if (n < 2)
		return n ? one_digit(c, to, up ? *s : '0', up ? '9' : *s, 0) : 0;
	if (schema_print(c, to, " (\"%c\"", *s) || from_digits(c, to, s + 1, n - 1, end))
		return -1;
	if (*s != end && (schema_put(c, to, " |") || one_digit(c, to, up ? (char)(*s + 1) : '0', up ? '9' : (char)(*s - 1), n - 1)))
		return -1;
	return schema_put(c, to, ")");
}

/* n digits each: the numbers from a to b. */
static int between(struct schema *c, struct bytes *to, const char *a, const char *b, size_t n)
{
	for (; n && *a == *b; a++, b++, n--)
		if (one_digit(c, to, *a, *a, 0))
			return -1;
	if (n < 2 || (all(a + 1, n - 1, '0') && all(b + 1, n - 1, '9')))
		return n ? one_digit(c, to, *a, *b, n - 1) : 0;
	if (schema_print(c, to, " (\"%c\"", *a) || from_digits(c, to, a + 1, n - 1, '9') || schema_print(c, to, " | \"%c\"", *b)
		|| from_digits(c, to, b + 1, n - 1, '0'))
		return -1;
	if (*b - *a > 1 && (schema_put(c, to, " |") || one_digit(c, to, (char)(*a + 1), (char)(*b - 1), n - 1)))
		return -1;
	return schema_put(c, to, ")");
}

/* The whole numbers from low to high, 0 <= low <= high <= most, in parentheses. */
static int whole(struct schema *c, struct bytes *to, int64_t low, int64_t high)
{
	char a[24], b[24];
	int64_t power = 10;

	if (schema_put(c, to, "("))
		return -1;
	for (;; power *= 10) {
		int64_t top = high < power ? high : power - 1;

		if (low >= power)
			continue;
		snprintf(a, sizeof a, "%" PRId64, low);
		snprintf(b, sizeof b, "%" PRId64, top);
		if (between(c, to, a, b, strlen(a)))
			return -1;
		if (top == high)
			return schema_put(c, to, ")");
		low = power;
		if (schema_put(c, to, " |"))
			return -1;
	}
}

/* ---- bounds ---- */

static int tighten(struct schema *c, const struct json *s, const char *keyword, int lower, int open, struct schema_range *r)
{
	const struct json *v = json_get(s, keyword);
	int64_t bound;

	if (!v)
		return 0;
	if ((v->type == JSON_TRUE || v->type == JSON_FALSE) && open)
		return schema_fail(c, "%s as a yes or no (draft 4) is not supported: give it the number", keyword);
	if ((v->type != JSON_INT && v->type != JSON_BIG && v->type != JSON_FLOAT) || !isfinite(v->d))
		return schema_fail(c, "%s wants a number", keyword);
	if (v->d != floor(v->d))
		return schema_fail(c, "%s %.40s: only whole numbers are supported as bounds", keyword, v->s);
	bound = v->d > 1e17 ? (int64_t)1e17 : v->d < -1e17 ? -(int64_t)1e17 : v->type == JSON_INT ? v->i : (int64_t)v->d;
	if (lower && bound >= r->low) {
		r->low_open = open || (bound == r->low && r->low_open);
		r->low = bound;
	} else if (!lower && bound <= r->high) {
		r->high_open = open || (bound == r->high && r->high_open);
		r->high = bound;
	}
	return 1;
}

int schema_range(struct schema *c, const struct json *s, struct schema_range *r)
{
	int a = tighten(c, s, "minimum", 1, 0, r), b = tighten(c, s, "exclusiveMinimum", 1, 1, r);
	int d = tighten(c, s, "maximum", 0, 0, r), e = tighten(c, s, "exclusiveMaximum", 0, 1, r);

	return a < 0 || b < 0 || d < 0 || e < 0 ? -1 : a || b || d || e;
}

/* ---- writing ---- */

static int write_integer(struct schema *c, struct schema_range r, struct bytes *to)
{
	int negative;

	r.low += r.low_open;
	r.high -= r.high_open;
	if (r.low < -most)
		r.low = -most;
	if (r.high > most)
		r.high = most;
	if (r.low > r.high)
		return SCHEMA_NEVER;
	negative = r.low < 0;
	if (schema_put(c, to, "("))
		return -1;
	if (negative && (schema_put(c, to, "\"-\" ") || whole(c, to, r.high < 0 ? -r.high : 1, -r.low)))
		return -1;
	if (r.high >= 0 && (schema_put(c, to, negative ? " | " : "") || whole(c, to, r.low > 0 ? r.low : 0, r.high)))
		return -1;
	return schema_put(c, to, ")");
}

/* How many digits may follow the point of a number next to a bound v that is excluded: 15 significant digits in all, as a
 * reader that takes numbers as doubles must not round it to the bound. */
static unsigned digits_beside(int64_t v)
{
	unsigned left = 15;

	for (; v && left; v /= 10)
		left--;
	return left;
}

/* One more alternative: a sign, the whole numbers from low to high, and a fraction. */
static int add_numbers(struct schema *c, struct numbers *n, int64_t low, int64_t high, const char *fraction)
{
	if (schema_print(c, n->to, "%s%s(", n->any ? " | " : "", n->sign) || whole(c, n->to, low, high)
		|| schema_print(c, n->to, "%s)", fraction))
		return -1;
	n->any = 1;
	return 0;
}

/* The numbers of one sign, by their magnitude from low to high: each is a whole part with any fraction, but for the ends. */
static int magnitudes(struct schema *c, struct numbers *n, struct schema_range r)
{
	int64_t first = r.low + r.low_open, last = r.high > most ? most : r.high - 1;
	unsigned digits = digits_beside(r.high);
	char fraction[40];

	if (r.low_open && r.low < r.high && digits_beside(r.low)) {
		snprintf(fraction, sizeof fraction, " \".\" [0-9]{0,%u} [1-9]", digits_beside(r.low) - 1);
		if (add_numbers(c, n, r.low, r.low, fraction))
			return -1;
	}
	if (r.high_open && first <= last) {
		snprintf(fraction, sizeof fraction, digits ? " (\".\" [0-9]{1,%u})?" : "", digits);
		if (add_numbers(c, n, last, last, fraction))
			return -1;
		last--;
	}
	if (first <= last && add_numbers(c, n, first, last, " (\".\" [0-9]{1,16})?"))
		return -1;
	if (!r.high_open && r.high <= most && (r.low < r.high || !r.low_open))
		return add_numbers(c, n, r.high, r.high, " (\".\" \"0\"{1,16})?");
	return 0;
}

static int write_fraction(struct schema *c, struct schema_range r, struct bytes *to)
{
	struct schema_range below = { r.high > 0 ? 0 : -r.high, -r.low, r.high <= 0 && r.high_open, r.low_open };
	struct schema_range above = { r.low < 0 ? 0 : r.low, r.high, r.low >= 0 && r.low_open, r.high_open };
	struct numbers n = { .to = to, .sign = "\"-\" " };

	if (schema_put(c, to, "("))
		return -1;
	if (r.low < 0 && below.low <= below.high && below.low <= most && magnitudes(c, &n, below))
		return -1;
	n.sign = "";
	if (r.high >= 0 && above.low <= above.high && above.low <= most && magnitudes(c, &n, above))
		return -1;
	return n.any ? schema_put(c, to, ")") : SCHEMA_NEVER;
}

int schema_write_number(struct schema *c, const struct json *s, int integer, struct bytes *to)
{
	struct schema_range r = { -most - 1, most + 1, 0, 0 };
	const struct json *multiple = json_get(s, "multipleOf"), *format = json_get(s, "format");
	int bounded = schema_range(c, s, &r);

	if (bounded < 0)
		return -1;
	if (multiple && !(multiple->type == JSON_INT && multiple->i == 1) && !(multiple->type == JSON_FLOAT && multiple->d == 1))
		return schema_fail(c, "multipleOf other than 1 is not supported");
	if (format && format->type == JSON_STRING && !strcmp(format->s, "int32")) {
		r.low = r.low < INT32_MIN ? INT32_MIN : r.low;
		r.high = r.high > INT32_MAX ? INT32_MAX : r.high;
		bounded = 1;
	}
	if (!bounded)
		return schema_primitive(c, to, integer || multiple ? SCHEMA_INTEGER : SCHEMA_NUMBER);
	return integer || multiple ? write_integer(c, r, to) : write_fraction(c, r, to);
}
