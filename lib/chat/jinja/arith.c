/* The binary operators. */
#include "priv.h"

#include <math.h>
#include <string.h>

static struct jv overflow(struct env *e)
{
	return jv_fail(e, "an integer does not fit 64 bits");
}

static struct jv add(struct env *e, int64_t a, int64_t b)
{
	if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
		return overflow(e);
	return jv_int(a + b);
}

static struct jv multiply(struct env *e, int64_t a, int64_t b)
{
	if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a) : (b > 0 ? a < INT64_MIN / b : a && b < INT64_MAX / a))
		return overflow(e);
	return jv_int(a * b);
}

static struct jv power(struct env *e, int64_t a, int64_t b)
{
	struct jv out = jv_int(1);

	if (b < 0)
		return a ? jv_float(pow((double)a, (double)b)) : jv_fail(e, "0.0 cannot be raised to a negative power");
	if (a == 0 || a == 1 || a == -1)
		return jv_int(!b ? 1 : a == -1 && !(b & 1) ? 1 : a);
	for (; b > 0 && out.kind != JV_ERROR; b--)
		out = multiply(e, out.i, a);
	return out;
}

static struct jv integers(struct env *e, int op, int64_t a, int64_t b)
{
	switch (op) {
	case '+':
		return add(e, a, b);
	case '-':
		return b == INT64_MIN ? overflow(e) : add(e, a, -b);
	case '*':
		return multiply(e, a, b);
	case OP2('*', '*'):
		return power(e, a, b);
	}
	if (!b)
		return jv_fail(e, op == '/' ? "division by zero" : "integer division or modulo by zero");
	if (op == '/')
		return jv_float((double)a / (double)b);
	if (b == -1)
		return op == '%' ? jv_int(0) : a == INT64_MIN ? overflow(e) : jv_int(-a);
	if (op == '%')
		return jv_int(a % b && (a % b < 0) != (b < 0) ? a % b + b : a % b);
	return jv_int(a / b - (a % b && (a < 0) != (b < 0)));
}

static struct jv floats(struct env *e, int op, double a, double b)
{
	double m;

	switch (op) {
	case '+':
		return jv_float(a + b);
	case '-':
		return jv_float(a - b);
	case '*':
		return jv_float(a * b);
	case OP2('*', '*'):
		return jv_float(pow(a, b));
	}
	if (b == 0)
		return jv_fail(e, "float division by zero");
	if (op == '/')
		return jv_float(a / b);
	m = fmod(a, b);
	if (m != 0 && (m < 0) != (b < 0))
		m += b;
	return op == '%' ? jv_float(m) : jv_float(floor((a - m) / b + 0.5));
}

static struct jv add_text(struct env *e, struct jv a, struct jv b)
{
	bool markup = a.markup || b.markup;
	struct jv out;

	if (markup) {
		a = text_escape(e, a);
		b = text_escape(e, b);
		if (a.kind == JV_ERROR || b.kind == JV_ERROR)
			return jv_error();
	}
	out = jv_concat(e, a, b);
	out.markup = markup && out.kind == JV_STR;
	return out;
}

static struct jv add_lists(struct env *e, struct jv a, struct jv b)
{
	struct jv out;

	if (b.list->n > UINT32_MAX - a.list->n)
		return jv_full(e);
	out = jv_list(e, a.kind, a.list->n + b.list->n);
	if (out.kind == JV_ERROR || jinja_tick(e, out.list->cap / 4))
		return jv_error();
	if (a.list->n)
		memcpy(out.list->items, a.list->items, a.list->n * sizeof *out.list->items);
	if (b.list->n)
		memcpy(out.list->items + a.list->n, b.list->items, b.list->n * sizeof *out.list->items);
	out.list->n = a.list->n + b.list->n;
	return out;
}

static struct jv repeat_text(struct env *e, struct jv s, int64_t times)
{
	struct jv out = s;
	char *p;

	if (times <= 0 || !s.n) {
		out.n = 0;
		return out;
	}
	if (times > (int64_t)(e->arena.limit / s.n) || jinja_tick(e, (uint64_t)times / 8 + (uint64_t)times * s.n / 64))
		return jv_full(e);
	p = arena_text(&e->arena, (size_t)times * s.n);
	if (!p)
		return jv_full(e);
	for (int64_t i = 0; i < times; i++)
		memcpy(p + (size_t)i * s.n, s.s, s.n);
	out.s = p;
	out.n = (uint32_t)((size_t)times * s.n);
	return out;
}

static struct jv repeat_list(struct env *e, struct jv l, int64_t times)
{
	struct jv out = jv_list(e, l.kind, 0);

	if (out.kind == JV_ERROR)
		return out;
	for (; times > 0 && l.list->n; times--) {
		if (jinja_tick(e, 1 + l.list->n / 4) || jv_own(e, out.list, l.list->n))
			return jv_error();
		memcpy(out.list->items + out.list->n, l.list->items, l.list->n * sizeof *l.list->items);
		out.list->n += l.list->n;
	}
	return out;
}

static struct jv repeat(struct env *e, struct jv what, struct jv times)
{
	return what.kind == JV_STR ? repeat_text(e, what, jv_integer(times)) : repeat_list(e, what, jv_integer(times));
}

static bool repeats(struct jv what, struct jv times)
{
	return (what.kind == JV_STR || what.kind == JV_LIST || what.kind == JV_TUPLE) && jv_is_integer(times);
}

static struct jv tilde(struct env *e, struct jv a, struct jv b)
{
	a = jv_to_str(e, a);
	b = a.kind == JV_ERROR ? a : jv_to_str(e, b);
	return b.kind == JV_ERROR ? b : jv_concat(e, a, b);
}

static struct jv mismatch(struct env *e, int op, struct jv a, struct jv b)
{
	char name[3] = { (char)op };

	if (op > 0xff) {
		name[0] = (char)(op >> 8);
		name[1] = (char)(op & 0xff);
	}
	if (op == '+' && a.kind == JV_STR)
		return jv_fail(e, "can only concatenate str (not \"%s\") to str", jv_type(b));
	if (op == '+' && (a.kind == JV_LIST || a.kind == JV_TUPLE))
		return jv_fail(e, "can only concatenate %s (not \"%s\") to %s", jv_type(a), jv_type(b), jv_type(a));
	return jv_fail(e, "unsupported operand type(s) for %s: '%s' and '%s'", name, jv_type(a), jv_type(b));
}

struct jv jinja_arith(struct env *e, int op, struct jv a, struct jv b)
{
	if (op == '~')
		return tilde(e, a, b);
	if (op == '%' && a.kind == JV_STR)
		return text_percent(e, a, b);
	if (a.kind == JV_UNDEF || b.kind == JV_UNDEF)
		return jv_fail_undefined(e, a.kind == JV_UNDEF ? a : b);
	if (a.kind == JV_BIG || b.kind == JV_BIG)
		return overflow(e);
	if (jv_is_integer(a) && jv_is_integer(b))
		return integers(e, op, jv_integer(a), jv_integer(b));
	if (jv_is_number(a) && jv_is_number(b))
		return floats(e, op, jv_number(a), jv_number(b));
	if (op == '+' && a.kind == JV_STR && b.kind == JV_STR)
		return add_text(e, a, b);
	if (op == '+' && a.kind == b.kind && (a.kind == JV_LIST || a.kind == JV_TUPLE))
		return add_lists(e, a, b);
	if (op == '*' && (repeats(a, b) || repeats(b, a)))
		return repeats(a, b) ? repeat(e, a, b) : repeat(e, b, a);
	return mismatch(e, op, a, b);
}
