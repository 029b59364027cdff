/* Numbers between bounds, as expressions over their digits. */
#include "converter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The largest magnitude before the point: 16 digits. */
static const int64_t most = 9999999999999999;

/* ---- digits ---- */

static struct gbnf_expr *any_digits(struct gbnf *g, size_t low, size_t high)
{
	return gbnf_repeat(g, gbnf_class(g, "0-9", 3), (uint32_t)low, (uint32_t)high);
}

/* One digit from low to high, and n more of any kind. */
static struct gbnf_expr *one_digit(struct gbnf *g, char low, char high, size_t n)
{
	char range[] = { low, '-', high };

	return gbnf_join(g, "%%", low == high ? gbnf_text(g, &low, 1) : gbnf_class(g, range, 3), any_digits(g, n, n));
}

static int all(const char *s, size_t n, char digit)
{
	while (n && s[n - 1] == digit)
		n--;
	return n == 0;
}

/* The numbers of n digits from a to b. a NULL: from all zeroes; b NULL: to all nines. */
static struct gbnf_expr *between(struct gbnf *g, const char *a, const char *b, size_t n)
{
	char low = a ? *a : '0', high = b ? *b : '9';
	struct gbnf_expr *out, *first = gbnf_text(g, &low, 1), *last = gbnf_text(g, &high, 1);

	if (!n)
		return gbnf_sequence(g);
	if (a && b && low == high)
		return gbnf_join(g, "%%", first, between(g, a + 1, b + 1, n - 1));
	if (n == 1 || (a && b && all(a + 1, n - 1, '0') && all(b + 1, n - 1, '9')))
		return one_digit(g, low, high, n - 1);
	if ((!a || all(a, n, '0')) && (!b || all(b, n, '9')))
		return any_digits(g, n, n);
	out = gbnf_alternatives(g);
	if (a)
		gbnf_add(g, out, gbnf_join(g, "%%", first, between(g, a + 1, NULL, n - 1)));
	if (b)
		gbnf_add(g, out, gbnf_join(g, "%%", last, between(g, NULL, b + 1, n - 1)));
	low += a != NULL;
	high -= b != NULL;
	if (low <= high)
		gbnf_add(g, out, one_digit(g, low, high, n - 1));
	return out;
}

/* The whole numbers from low to high, 0 <= low <= high <= most, each followed by the fraction. */
static struct gbnf_expr *whole(struct gbnf *g, int64_t low, int64_t high, struct gbnf_expr *fraction)
{
	struct gbnf_expr *out = gbnf_alternatives(g);

	for (int64_t power = 10; low <= high; power *= 10) {
		int64_t top = high < power ? high : power - 1;
		char a[24], b[24];

		if (low >= power)
			continue;
		snprintf(a, sizeof a, "%" PRId64, low);
		snprintf(b, sizeof b, "%" PRId64, top);
		gbnf_add(g, out, between(g, a, b, strlen(a)));
		low = power;
	}
	return gbnf_join(g, "%%", out, fraction);
}

/* ---- bounds ---- */

static int tighten(struct converter *c, const struct json *s, const char *keyword, int lower, int open,
	struct schema_range *r)
{
	const struct json *v = json_get(s, keyword);
	int64_t bound;

	if (!v)
		return 0;
	if ((v->type == JSON_TRUE || v->type == JSON_FALSE) && open)
		return schema_fail(c, "%s as true or false (draft 4) is not supported: give the bound itself", keyword);
	if (!schema_is_number(v) || !isfinite(v->d))
		return schema_fail(c, "%s must be a number", keyword);
	if (v->d != floor(v->d))
		return schema_fail(c, "%s %.40s: only whole numbers are supported as bounds", keyword, v->s);
	bound = v->d > 1e17 ? (int64_t)1e17 : v->d < -1e17 ? -(int64_t)1e17
		: v->type == JSON_INT ? v->i : (int64_t)v->d;
	if (lower && bound >= r->low) {
		r->low_open = open || (bound == r->low && r->low_open);
		r->low = bound;
	} else if (!lower && bound <= r->high) {
		r->high_open = open || (bound == r->high && r->high_open);
		r->high = bound;
	}
	return 1;
}

int schema_range(struct converter *c, const struct json *s, struct schema_range *r)
{
	int low = tighten(c, s, "minimum", 1, 0, r), low_open = tighten(c, s, "exclusiveMinimum", 1, 1, r);
	int high = tighten(c, s, "maximum", 0, 0, r), high_open = tighten(c, s, "exclusiveMaximum", 0, 1, r);

	return low || low_open || high || high_open;
}

/* ---- writing ---- */

/* How many digits may follow the point next to an excluded bound v: 15 significant digits in all, so that a reader
 * who uses doubles does not round the number to the bound. */
static size_t digits_beside(int64_t v)
{
	size_t left = 15;

	for (; v && left; v /= 10)
		left--;
	return left;
}

/* A fraction of up to n digits, or none. */
static struct gbnf_expr *fraction(struct gbnf *g, size_t n)
{
	return gbnf_repeat(g, n ? gbnf_join(g, ".%", any_digits(g, 1, n)) : gbnf_never(), 0, 1);
}

/* Integers, or else numbers, from r.low, at least 0, to r.high: whole numbers with any fraction, and the two ends by
 * themselves. */
static struct gbnf_expr *magnitudes(struct gbnf *g, struct schema_range r, int integer)
{
	int64_t first = r.low + r.low_open, last = r.high > most ? most : r.high - 1;
	size_t below = digits_beside(r.low), above = digits_beside(r.high);
	struct gbnf_expr *out = gbnf_alternatives(g);

	if (r.low > most || r.low > r.high)
		return out;
	if (integer)
		return whole(g, r.low, r.high, gbnf_sequence(g));
	if (r.low_open && r.low < r.high && below)
		gbnf_add(g, out, whole(g, r.low, r.low, gbnf_join(g, ".%%", any_digits(g, 0, below - 1),
			gbnf_class(g, "1-9", 3))));
	if (r.high_open && first <= last) {
		gbnf_add(g, out, whole(g, last, last, fraction(g, above)));
		last--;
	}
	if (first <= last)
		gbnf_add(g, out, whole(g, first, last, fraction(g, 16)));
	if (!r.high_open && r.high <= most && (r.low < r.high || !r.low_open))
		gbnf_add(g, out, whole(g, r.high, r.high, gbnf_repeat(g, gbnf_join(g, ".%",
			gbnf_repeat(g, gbnf_text(g, "0", 1), 1, 16)), 0, 1)));
	return out;
}

static struct gbnf_expr *write_bounded(struct gbnf *g, struct schema_range r, int integer)
{
	struct gbnf_expr *out = gbnf_alternatives(g);
	struct schema_range below, above;

	if (integer) {
		r.low = r.low + r.low_open < -most ? -most : r.low + r.low_open;
		r.high = r.high - r.high_open > most ? most : r.high - r.high_open;
		r.low_open = r.high_open = 0;
	}
	below = (struct schema_range){ r.high > 0 ? 0 : -r.high, -r.low, r.high <= 0 && r.high_open, r.low_open };
	above = (struct schema_range){ r.low < 0 ? 0 : r.low, r.high, r.low >= 0 && r.low_open, r.high_open };
	below.low += integer && !below.low;     /* no -0 */
	if (r.low < 0)
		gbnf_add(g, out, gbnf_join(g, "-%", magnitudes(g, below, integer)));
	if (r.high >= 0)
		gbnf_add(g, out, magnitudes(g, above, integer));
	return out;
}

struct gbnf_expr *schema_write_number(struct converter *c, const struct json *s, int integer)
{
	struct schema_range r = { -most - 1, most + 1, 0, 0 };
	const struct json *multiple = json_get(s, "multipleOf"), *format = json_get(s, "format");
	int bounded = schema_range(c, s, &r);

	if (multiple && !(schema_is_number(multiple) && multiple->d == 1))
		schema_fail(c, "multipleOf other than 1 is not supported");
	if (format && format->type == JSON_STRING && !strcmp(format->s, "int32")) {
		r.low = r.low < INT32_MIN ? INT32_MIN : r.low;
		r.high = r.high > INT32_MAX ? INT32_MAX : r.high;
		bounded = 1;
	}
	integer |= multiple != NULL;
	if (r.low > most || r.high < -most)
		schema_fail(c, "numbers of more than 16 digits before the point are not supported");
	if (!bounded)
		return gbnf_primitive(&c->g, integer ? GBNF_INTEGER : GBNF_NUMBER);
	return write_bounded(&c->g, r, integer);
}
