/* Filters on numbers, and the tests. */
#include "builtin.h"
#include "text.h"

#include "lib/base/space.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 4300, LIMB = 1000000000 };         /* of an integer in text, as in Python */

static int digit_value(char c)
{
	int low = c | 32;

	return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
}

/* s without the white space around it and the underscores between digits, terminated; NULL where an underscore stands
 * elsewhere or a NUL is in it. */
static char *plain_digits(struct env *e, struct jv s)
{
	size_t n = 0, at = space_leading(s.s, s.n), stop = space_trimmed(s.s, s.n);
	char *text = env_text(e, (size_t)s.n + 1), last = '_';

	env_tick(e, s.n / 8);
	for (; at < stop; last = s.s[at++]) {
		if (!s.s[at] || (s.s[at] == '_' && strchr("+-._", last)) || (s.s[at] != '_' && n && last == '_' &&
				digit_value(s.s[at]) > 35))
			return NULL;
		if (s.s[at] != '_')
			text[n++] = s.s[at];
	}
	text[n] = '\0';
	return n && last != '_' ? text : NULL;
}

/* The integer of any size with these digits; JV_ABSENT where they are not digits of the base. */
static struct jv integer_of(struct env *e, const char *s, int base, bool negative)
{
	size_t n = strlen(s), used = 1;
	uint32_t *limbs;
	char *out, *p;
	int64_t small;

	if (!n || n > MOST_DIGITS)
		return jv_absent();
	env_tick(e, n * n / 64);
	limbs = env_array(e, n / 5 + 2, sizeof *limbs);
	p = out = env_text(e, n * 2 + 16);
	for (; *s; s++) {
		uint64_t carry = (uint64_t)digit_value(*s);

		if (carry >= (uint64_t)base)
			return jv_absent();
		for (size_t i = 0; i < used; i++, carry /= LIMB) {
			carry += (uint64_t)limbs[i] * (uint64_t)base;
			limbs[i] = (uint32_t)(carry % LIMB);
		}
		if (carry)
			limbs[used++] = (uint32_t)carry;
	}
	p += sprintf(p, "%s%" PRIu32, negative ? "-" : "", limbs[used - 1]);
	while (--used)
		p += sprintf(p, "%09" PRIu32, limbs[used - 1]);
	errno = 0;
	small = strtoll(out, NULL, 10);
	return errno ? (struct jv){ .kind = JV_BIG, .n = (uint32_t)(p - out), .s = out } : jv_int(small);
}

/* Python's int(s, base); JV_ABSENT where it raises ValueError. */
static struct jv read_integer(struct env *e, struct jv s, int64_t base)
{
	static const char letters[] = "bBoOxX";
	static const int bases[] = { 2, 8, 16 };
	const char *text = plain_digits(e, s), *hit;
	bool negative = text && *text == '-';

	if (!text || base < 0 || base == 1 || base > 36)
		return jv_absent();
	text += *text == '-' || *text == '+';
	hit = *text == '0' && text[1] ? strchr(letters, text[1]) : NULL;
	if (hit && (!base || base == bases[(hit - letters) / 2])) {
		base = bases[(hit - letters) / 2];
		text += 2;
	} else if (!base) {
		base = *text == '0' && strspn(text, "0") != strlen(text) ? 1 : 10;
	}
	return integer_of(e, text, (int)base, negative);
}

/* Python's float(s); JV_ABSENT where it raises ValueError. */
static struct jv read_float(struct env *e, struct jv s)
{
	char *text = plain_digits(e, s), *end;
	double d;

	if (!text || strpbrk(text, "xX(pP"))
		return jv_absent();
	d = strtod(text, &end);
	return *end ? jv_absent() : jv_float(d);
}

struct jv number_truncated(struct env *e, double d)
{
	char text[400];
	struct jv out;

	if (!isfinite(d))
		env_fail(e, "cannot convert float %s to integer", isnan(d) ? "NaN" : "infinity");
	if (d > -9.2e18 && d < 9.2e18)
		return jv_int((int64_t)d);
	snprintf(text, sizeof text, "%.0f", d);
	out = jv_text(e, text, strlen(text) + 1);
	return (struct jv){ .kind = JV_BIG, .n = out.n - 1, .s = out.s };
}

/* What is no number becomes the default. "42.7" and "1e3" are read as floats. */
struct jv number_int(struct env *e, struct call *c)
{
	struct jv v = c->self;
	int64_t base = arg_int(e, c, 1, 10);

	jv_defined(e, v);
	if (v.kind == JV_STR) {
		v = read_integer(e, c->self, base);
		if (v.kind == JV_ABSENT)
			v = read_float(e, c->self);
		if (v.kind == JV_FLOAT && isinf(v.d))
			v = jv_absent();
	}
	if (v.kind == JV_FLOAT && !isnan(v.d))
		return number_truncated(e, v.d);
	if (v.kind == JV_BIG)
		return v;
	return jv_in(v, JV_INTEGERS) ? jv_int(jv_integer(v)) : arg_or(c, 0, jv_int(0));
}

struct jv number_float(struct env *e, struct call *c)
{
	struct jv v = c->self;

	jv_defined(e, v);
	if (v.kind == JV_STR)
		v = read_float(e, v);
	return jv_in(v, JV_NUMBERS) ? jv_float(jv_number(v)) : arg_or(c, 0, jv_float(0));
}

struct jv number_abs(struct env *e, struct call *c)
{
	struct jv v = c->self;

	jv_defined(e, v);
	if (!jv_in(v, JV_NUMBERS))
		env_fail(e, "bad operand type for abs(): '%s'", jv_type(v));
	if (v.kind == JV_FLOAT)
		return jv_float(fabs(v.d));
	return jv_integer(v) < 0 ? eval_binary(e, '-', jv_int(0), v) : jv_int(jv_integer(v));
}

struct jv number_round(struct env *e, struct call *c)
{
	char text[400];
	struct jv v = c->self, method = arg_str(e, c, 1, jv_str("common", 6));
	int64_t precision = arg_int(e, c, 0, 0);
	double scale;

	jv_defined(e, v);
	if (!jv_in(v, JV_NUMBERS))
		env_fail(e, "round: expected a number, not %s", jv_type(v));
	if (precision < -300 || precision > 300)
		env_fail(e, "round: the precision must be -300 to 300");
	scale = pow(10, (double)precision);
	if (jv_is(method, "ceil"))
		return jv_float(ceil(jv_number(v) * scale) / scale);
	if (jv_is(method, "floor"))
		return jv_float(floor(jv_number(v) * scale) / scale);
	if (!jv_is(method, "common"))
		env_fail(e, "method must be common, ceil or floor");
	if (jv_in(v, JV_INTEGERS) && precision >= 0)
		return jv_int(jv_integer(v));
	if (precision >= 0 && fabs(v.d) < 1e60) {
		snprintf(text, sizeof text, "%.*f", (int)precision, v.d);
		return jv_float(strtod(text, NULL));
	}
	scale = nearbyint(jv_number(v) * scale) / scale;
	return jv_in(v, JV_INTEGERS) && fabs(scale) < 9e18 ? jv_int((int64_t)scale) : jv_float(scale);
}

/* what: a set of kinds */
struct jv test_kind(struct env *e, struct call *c)
{
	return jv_bool(jv_in(c->self, (unsigned)c->b->what));
}

struct jv test_bool(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_BOOL && c->self.b == c->b->what);
}

struct jv test_escaped(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_STR && c->self.markup);
}

/* what: the operator */
struct jv test_compare(struct env *e, struct call *c)
{
	return jv_bool(eval_comparison(e, c->b->what, c->self, c->arg[0]));
}

/* what: 1 odd, 0 even, 2 divisible by the argument */
struct jv test_remainder(struct env *e, struct call *c)
{
	struct jv rest = eval_binary(e, '%', c->self, c->b->what == 2 ? c->arg[0] : jv_int(2));

	return jv_bool(jv_equal(e, rest, jv_int(c->b->what & 1)));
}

/* Python's `is`: the same object; small values are compared. */
struct jv test_sameas(struct env *e, struct call *c)
{
	struct jv a = c->self, b = c->arg[0];

	return jv_bool(a.kind == b.kind && (a.kind < JV_LIST ? jv_equal(e, a, b) : a.list == b.list));
}

/* what: IS_FILTER or IS_TEST */
struct jv test_builtin(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_STR && builtin_find(c->self.s, c->self.n, (unsigned)c->b->what));
}
