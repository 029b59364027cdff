/* Filters on numbers, and the tests. */
#include "builtin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jv number_truncated(struct env *e, double d)
{
	char text[400];
	struct jv out;

	if (!isfinite(d))
		env_fail(e, "cannot convert float %s to integer", isnan(d) ? "NaN" : "infinity");
	if (d >= -0x1p63 && d < 0x1p63)
		return jv_int((int64_t)d);
	snprintf(text, sizeof text, "%.0f", d);
	out = jv_text(e, text, strlen(text) + 1);
	return (struct jv){ .kind = JV_BIG, .n = out.n - 1, .s = out.s };
}

static double big_as_float(struct env *e, struct jv big)
{
	double d = strtod(big.s, NULL);

	if (isinf(d))
		env_fail(e, "int too large to convert to float");
	return d;
}

/* What is no number becomes the default. "42.7" and "1e3" are read as floats. */
struct jv number_int(struct env *e, struct call *c)
{
	struct jv v = c->self;
	int64_t base = arg_int(e, c, 1, 10);

	jv_defined(e, v);
	if (v.kind == JV_STR) {
		v = number_integer(e, c->self, base);
		if (v.kind == JV_ABSENT)
			v = number_real(e, c->self);
		if (v.kind == JV_FLOAT && isinf(v.d))
			v = jv_absent;
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
		v = number_real(e, v);
	if (v.kind == JV_BIG)
		return jv_float(big_as_float(e, v));
	return jv_in(v, JV_NUMBERS) ? jv_float(jv_number(v)) : arg_or(c, 0, jv_float(0));
}

struct jv number_abs(struct env *e, struct call *c)
{
	struct jv v = c->self;

	jv_defined(e, v);
	if (v.kind == JV_BIG)
		number_overflow(e);
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
	if (v.kind == JV_BIG)
		number_overflow(e);
	if (!jv_in(v, JV_NUMBERS))
		env_fail(e, "round: expected a number, not %s", jv_type(v));
	if (precision < -300 || precision > 300)
		env_fail(e, "round: the precision must be -300 to 300");
	scale = pow(10, (double)precision);
	if (jv_is(method, "ceil"))
		return jv_float((ceil(jv_number(v) * scale) + 0.0) / scale);
	if (jv_is(method, "floor"))
		return jv_float((floor(jv_number(v) * scale) + 0.0) / scale);
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

struct jv number_filesizeformat(struct env *e, struct call *c)
{
	bool binary = jv_true(c->arg[0]);
	double base = binary ? 1024 : 1000, unit = base * base;
	struct jv v = c->self;
	size_t start = e->out->n;
	int power = 0;

	jv_defined(e, v);
	if (v.kind == JV_STR && (v = number_real(e, v)).kind == JV_ABSENT)
		env_fail(e, "could not convert string to float: '%.*s'", JV_SHOWN(c->self));
	if (v.kind == JV_BIG)
		v = jv_float(big_as_float(e, v));
	if (!jv_in(v, JV_NUMBERS))
		env_fail(e, "filesizeformat: expected a number, not %s", jv_type(v));
	if (jv_number(v) < base) {
		jv_put_str(e, number_truncated(e, jv_number(v)));
		env_puts(e, jv_number(v) == 1 ? " Byte" : " Bytes");
		return jv_since(e, start);
	}
	for (; power < 7 && jv_number(v) >= unit; power++)
		unit *= base;
	env_printf(e, "%.1f %c%sB", base * jv_number(v) / unit, (binary ? "KMGTPEZY" : "kMGTPEZY")[power],
		binary ? "i" : "");
	return jv_since(e, start);
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
	return jv_bool(c->self.kind == JV_STR && builtin_find(c->self, (unsigned)c->b->what));
}
