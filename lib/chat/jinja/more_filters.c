/* The filters on numbers, dicts and missing values, and those that cut lists up. */
#include "priv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 4300 };    /* of an integer in text, as in Python */

static struct jv f_default(struct env *e, struct call *c)
{
	if (c->self.kind == JV_UNDEF || (jinja_arg_true(c, 1, false) && !jv_true(c->self)))
		return c->arg[0].kind == JV_ABSENT ? jv_str("", 0) : c->arg[0];
	return c->self;
}

/* s without white space around it and underscores between digits, terminated; NULL where an underscore stands elsewhere or a NUL is in it. */
static char *plain_digits(struct env *e, struct jv s)
{
	size_t n = 0, at = text_spaces(s.s, s.n), stop = text_trimmed(s.s, s.n);
	char *text = arena_text(&e->arena, (size_t)s.n + 1), last = '_';

	if (!text || jinja_tick(e, s.n / 8))
		return jv_full(e), NULL;
	for (; at < stop; last = s.s[at++]) {
		if (s.s[at] == '_' && strchr("+-._", last))
			return NULL;
		if (!s.s[at] || (last == '_' && n && !isalnum((unsigned char)s.s[at])))
			return NULL;
		if (s.s[at] != '_')
			text[n++] = s.s[at];
	}
	text[n] = '\0';
	return n && last != '_' ? text : NULL;
}

static int digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

/* The digits of the base, of any number, as an integer; JV_ABSENT where they are none. */
static struct jv digits_to_integer(struct env *e, const char *s, int base, bool negative)
{
	size_t n = strlen(s), used = 1;
	uint32_t *limbs = arena_array(&e->arena, n / 5 + 2, sizeof *limbs);
	char *out = arena_text(&e->arena, n * 2 + 16), *p = out;
	int64_t small;

	if (!limbs || !out || n > MOST_DIGITS || jinja_tick(e, n * n / 64))
		return n > MOST_DIGITS ? (struct jv){ .kind = JV_ABSENT } : jv_full(e);
	for (; *s; s++) {
		uint64_t carry = (uint64_t)digit_value(*s);

		if (carry >= (uint64_t)base)
			return (struct jv){ .kind = JV_ABSENT };
		for (size_t i = 0; i < used; i++, carry /= 1000000000) {
			carry += (uint64_t)limbs[i] * (uint64_t)base;
			limbs[i] = (uint32_t)(carry % 1000000000);
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
		return (struct jv){ .kind = e->failed ? JV_ERROR : JV_ABSENT };
	text += *text == '-' || *text == '+';
	hit = *text == '0' && text[1] ? strchr(letters, text[1]) : NULL;
	if (hit && (!base || base == bases[(hit - letters) / 2])) {
		base = bases[(hit - letters) / 2];
		text += 2;
	} else if (!base) {
		base = 10;
		if (*text == '0' && strspn(text, "0") != strlen(text))
			return (struct jv){ .kind = JV_ABSENT };
	}
	return *text ? digits_to_integer(e, text, (int)base, negative) : (struct jv){ .kind = JV_ABSENT };
}

/* Python's float(s); JV_ABSENT where it raises ValueError. */
static struct jv read_float(struct env *e, struct jv s)
{
	char *text = plain_digits(e, s), *end;
	struct jv out;

	if (!text || strpbrk(text, "xX(pP"))
		return (struct jv){ .kind = e->failed ? JV_ERROR : JV_ABSENT };
	out = jv_float(strtod(text, &end));
	return *end ? (struct jv){ .kind = JV_ABSENT } : out;
}

struct jv jinja_truncate(struct env *e, double d)
{
	char text[400];
	struct jv out;

	if (!isfinite(d))
		return jv_fail(e, "cannot convert float %s to integer", isnan(d) ? "NaN" : "infinity");
	if (d > -9.2e18 && d < 9.2e18)
		return jv_int((int64_t)d);
	snprintf(text, sizeof text, "%.0f", d);
	out = jv_text(e, text, strlen(text) + 1);
	return out.kind == JV_ERROR ? out : (struct jv){ .kind = JV_BIG, .n = out.n - 1, .s = out.s };
}

/* Undefined is an error; what is no number gives the default. "42.7" and "1e3" are read as floats. */
static struct jv f_int(struct env *e, struct call *c)
{
	struct jv v = c->self;
	int64_t base;

	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v);
	if (jinja_arg_int(e, c, 1, 10, &base))
		return jv_error();
	if (v.kind == JV_STR) {
		v = read_integer(e, c->self, base);
		v = v.kind == JV_ABSENT ? read_float(e, c->self) : v;
	} else if (v.kind == JV_FLOAT && isinf(v.d)) {
		return jinja_truncate(e, v.d);
	}
	if (v.kind == JV_FLOAT && isfinite(v.d))
		return jinja_truncate(e, v.d);
	if (v.kind == JV_ERROR || v.kind == JV_INT || v.kind == JV_BIG)
		return v;
	return v.kind == JV_BOOL ? jv_int(v.b) : c->arg[0].kind == JV_ABSENT ? jv_int(0) : c->arg[0];
}

static struct jv f_float(struct env *e, struct call *c)
{
	struct jv v = c->self;

	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v);
	if (jv_is_number(v))
		return jv_float(jv_number(v));
	if (v.kind == JV_STR)
		v = read_float(e, v);
	if (v.kind == JV_FLOAT || v.kind == JV_ERROR)
		return v;
	return c->arg[0].kind == JV_ABSENT ? jv_float(0) : c->arg[0];
}

static struct jv f_abs(struct env *e, struct call *c)
{
	if (c->self.kind == JV_FLOAT)
		return jv_float(fabs(c->self.d));
	if (!jv_is_integer(c->self))
		return c->self.kind == JV_UNDEF ? jv_fail_undefined(e, c->self) : jv_fail(e, "bad operand type for abs(): '%s'", jv_type(c->self));
	return jv_integer(c->self) < 0 ? jinja_arith(e, '-', jv_int(0), c->self) : jv_int(jv_integer(c->self));
}

static struct jv f_round(struct env *e, struct call *c)
{
	char text[400];
	struct jv v = c->self, method;
	int64_t precision;
	double scale;

	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v);
	if (jinja_arg_int(e, c, 0, 0, &precision) || jinja_arg_str(e, c, 1, jv_str("common", 6), &method))
		return jv_error();
	if (!jv_is_number(v))
		return jv_fail(e, "round: a number is wanted, not %s", jv_type(v));
	if (precision < -300 || precision > 300)
		return jv_fail(e, "round: the precision is -300 to 300");
	scale = pow(10, (double)precision);
	if (!jv_is(method, "common")) {
		if (!jv_is(method, "ceil") && !jv_is(method, "floor"))
			return jv_fail(e, "method must be common, ceil or floor");
		return jv_float((jv_is(method, "ceil") ? ceil(jv_number(v) * scale) : floor(jv_number(v) * scale)) / scale);
	}
	if (jv_is_integer(v) && precision >= 0)
		return jv_int(jv_integer(v));
	if (precision >= 0 && fabs(v.d) < 1e60) {
		snprintf(text, sizeof text, "%.*f", (int)precision, v.d);
		return jv_float(strtod(text, NULL));
	}
	scale = nearbyint(jv_number(v) * scale) / scale;
	return jv_is_integer(v) && fabs(scale) < 9e18 ? jv_int((int64_t)scale) : jv_float(scale);
}

static struct jv f_attr(struct env *e, struct call *c)
{
	struct jv name;

	if (jinja_arg_str(e, c, 0, jv_str("", 0), &name))
		return jv_error();
	if (c->self.kind == JV_DICT && !jinja_find_method(c->self, name.s, name.n))
		return jv_undefined(e, JV_DICT, name.s, name.n);
	return jinja_getattr(e, c->self, name);
}

static struct jv f_items(struct env *e, struct call *c)
{
	struct call items = { .self = c->self };

	if (c->self.kind == JV_UNDEF)
		return jv_iter(jv_list(e, JV_LIST, 0), "generator");
	if (c->self.kind != JV_DICT)
		return jv_fail(e, "Can only get item pairs from a mapping.");
	return jv_iter(jinja_run(e, jinja_find(jinja_dict_methods, "items", 5), &items), "generator");
}

/* Appends a list of l's items [from, to) and then `fills` times `fill`, if there is one. */
static int push_part(struct env *e, struct jv_list *out, const struct jv_list *l, uint32_t from, uint32_t to, int64_t fills, struct jv fill)
{
	struct jv part = jv_list(e, JV_LIST, to - from);

	if (part.kind == JV_ERROR)
		return -1;
	for (uint32_t i = from; i < to; i++)
		part.list->items[part.list->n++] = l->items[i];
	for (; fill.kind != JV_ABSENT && fill.kind != JV_NONE && fills > 0; fills--)
		if (jinja_tick(e, 1) || jv_push(e, part.list, fill))
			return -1;
	return jv_push(e, out, part);
}

static struct jv f_batch(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->self);
	struct jv out = jv_iter(jv_list(e, JV_LIST, 0), "generator");
	int64_t n;

	if (!l || out.kind == JV_ERROR || jinja_arg_int(e, c, 0, 1, &n))
		return jv_error();
	if (n < 1)
		return jv_fail(e, "batch: a positive number is wanted");
	for (uint64_t at = 0; at < l->n; at += (uint64_t)n) {
		uint64_t end = (uint64_t)n < l->n - at ? at + (uint64_t)n : l->n;

		if (push_part(e, out.list, l, (uint32_t)at, (uint32_t)end, (int64_t)(at + (uint64_t)n - end), c->arg[1]))
			return jv_error();
	}
	return out;
}

static struct jv f_slice(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->self);
	struct jv out = jv_iter(jv_list(e, JV_LIST, 0), "generator");
	int64_t slices, each, longer;
	uint32_t at = 0;

	if (!l || out.kind == JV_ERROR || jinja_arg_int(e, c, 0, 1, &slices))
		return jv_error();
	if (slices < 1)
		return jv_fail(e, "slice: a positive number is wanted");
	each = l->n / slices;
	longer = l->n % slices;
	for (int64_t i = 0; i < slices; i++) {
		uint32_t end = at + (uint32_t)each + (i < longer);

		if (jinja_tick(e, 1) || push_part(e, out.list, l, at, end, i >= longer, c->arg[1]))
			return jv_error();
		at = end;
	}
	return out;
}

const struct builtin jinja_more_filters[] = {
	{ "abs", f_abs, "" }, { "attr", f_attr, "name" }, { "batch", f_batch, "linecount ?fill_with" },
	{ "d", f_default, "?default_value boolean" }, { "default", f_default, "?default_value boolean" }, { "float", f_float, "?default" },
	{ "int", f_int, "?default base" }, { "items", f_items, "" }, { "round", f_round, "?precision method" },
	{ "slice", f_slice, "slices ?fill_with" },
	{ 0 },
};
