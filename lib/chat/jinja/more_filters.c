/* The filters on numbers, dicts and missing values, and those that cut lists up. */
#include "priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct jv f_default(struct env *e, struct call *c)
{
	if (c->self.kind == JV_UNDEF || (jinja_arg_true(c, 1, false) && !jv_true(c->self)))
		return c->arg[0].kind == JV_ABSENT ? jv_str("", 0) : c->arg[0];
	return c->self;
}

/* A string's number as Python's int() and float() read it: trimmed, with a sign, underscores between digits. 0 if it is one. */
static int read_number(struct jv s, int base, struct jv *out)
{
	char text[400], *end;
	size_t n = 0, skip = text_spaces(s.s, s.n), stop = text_trimmed(s.s, s.n);

	for (size_t i = skip; i < stop; i++) {
		if (s.s[i] == '_' && i > skip && i + 1 < stop && s.s[i - 1] != '_')
			continue;
		if (n + 1 == sizeof text || s.s[i] == '_' || !s.s[i])
			return -1;
		text[n++] = s.s[i];
	}
	text[n] = '\0';
	if (!n || (base == 10 && strpbrk(text, "xXpP")))
		return -1;
	errno = 0;
	if (base) {
		*out = jv_int(strtoll(text, &end, base));
		if (!*end && !errno)
			return 0;
		return -1;
	}
	if (strpbrk(text, "xX(pP"))
		return -1;
	*out = jv_float(strtod(text, &end));
	return *end ? -1 : 0;
}

static struct jv f_int(struct env *e, struct call *c)
{
	struct jv fallback = c->arg[0].kind == JV_ABSENT ? jv_int(0) : c->arg[0], v = c->self;
	int64_t base;

	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v);
	if (jinja_arg_int(e, c, 1, 10, &base))
		return jv_error();
	if (base < 2 || base > 36)
		return jv_fail(e, "int: the base is 2 to 36");
	if (jv_is_integer(v))
		return jv_int(jv_integer(v));
	if (v.kind == JV_BIG)
		return v;
	if (v.kind == JV_STR && (!read_number(v, (int)base, &v) || read_number(v, 0, &v)))
		return v.kind == JV_INT ? v : fallback;
	if (v.kind != JV_FLOAT || !(v.d > -9.2e18 && v.d < 9.2e18))
		return fallback;
	return jv_int((int64_t)v.d);
}

static struct jv f_float(struct env *e, struct call *c)
{
	struct jv v = c->self;

	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v);
	if (jv_is_number(v))
		return jv_float(jv_number(v));
	if (v.kind == JV_STR && !read_number(v, 0, &v))
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

/* Appends a list of l's items [from, to), filled up to n with `fill` if there is one. */
static int push_part(struct env *e, struct jv_list *out, const struct jv_list *l, uint32_t from, uint32_t to, int64_t n, struct jv fill)
{
	struct jv part = jv_list(e, JV_LIST, to - from);

	if (part.kind == JV_ERROR)
		return -1;
	for (uint32_t i = from; i < to; i++)
		part.list->items[part.list->n++] = l->items[i];
	while (fill.kind != JV_ABSENT && fill.kind != JV_NONE && part.list->n < n)
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

		if (push_part(e, out.list, l, (uint32_t)at, (uint32_t)end, n, c->arg[1]))
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

		if (jinja_tick(e, 1) || push_part(e, out.list, l, at, end, i < longer ? 0 : each + (longer > 0), c->arg[1]))
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
