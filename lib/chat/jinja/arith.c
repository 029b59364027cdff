/* The binary operators. */
#include "interpreter.h"

#include <math.h>
#include <string.h>

void number_overflow(struct env *e)
{
	env_fail(e, "an integer does not fit 64 bits");
}

static int64_t add(struct env *e, int64_t a, int64_t b)
{
	if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
		number_overflow(e);
	return a + b;
}

static int64_t multiply(struct env *e, int64_t a, int64_t b)
{
	if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
	    : (b > 0 ? a < INT64_MIN / b : a && b < INT64_MAX / a))
		number_overflow(e);
	return a * b;
}

static struct jv power(struct env *e, int64_t a, int64_t b)
{
	int64_t out = 1;

	if (b < 0 && !a)
		env_fail(e, "0.0 cannot be raised to a negative power");
	if (b < 0)
		return jv_float(pow((double)a, (double)b));
	if (a == 0 || a == 1 || a == -1)
		return jv_int(!b ? 1 : a == -1 && !(b & 1) ? 1 : a);
	for (; b > 0; b--)
		out = multiply(e, out, a);
	return jv_int(out);
}

static struct jv integers(struct env *e, int op, int64_t a, int64_t b)
{
	switch (op) {
	case '+':
		return jv_int(add(e, a, b));
	case '-':
		if (b == INT64_MIN)
			number_overflow(e);
		return jv_int(add(e, a, -b));
	case '*':
		return jv_int(multiply(e, a, b));
	case OP2('*', '*'):
		return power(e, a, b);
	}
	if (!b)
		env_fail(e, op == '/' ? "division by zero" : "integer division or modulo by zero");
	if (op == '/')
		return jv_float((double)a / (double)b);
	if (b == -1)
		return jv_int(op == '%' ? 0 : multiply(e, a, -1));
	if (op == '%')
		return jv_int(a % b && (a % b < 0) != (b < 0) ? a % b + b : a % b);
	return jv_int(a / b - (a % b && (a < 0) != (b < 0)));
}

static struct jv floats(struct env *e, int op, double a, double b)
{
	double m, q;

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
		env_fail(e, "float division by zero");
	if (op == '/')
		return jv_float(a / b);
	m = fmod(a, b);
	q = (a - m) / b;
	if (m == 0) {
		m = copysign(0, b);
	} else if ((m < 0) != (b < 0)) {
		m += b;
		q -= 1;
	}
	if (op == '%')
		return jv_float(m);
	/* q is near a whole number */
	return jv_float(q != 0 ? floor(q) + (q - floor(q) > 0.5) : copysign(0, a / b));
}

static struct jv add_text(struct env *e, struct jv a, struct jv b)
{
	if (!a.markup && !b.markup)
		return jv_concat(e, a, b);
	a = markup_escape(e, a);
	return jv_markup(jv_concat(e, a, markup_escape(e, b)), true);
}

static struct jv add_lists(struct env *e, struct jv a, struct jv b)
{
	struct jv out;

	if (b.list->n > UINT32_MAX - a.list->n)
		env_full(e);
	out = jv_list(e, a.kind, a.list->n + b.list->n);
	jv_extend(e, out.list, a.list);
	jv_extend(e, out.list, b.list);
	return out;
}

static struct jv repeat(struct env *e, struct jv what, int64_t times)
{
	size_t n, done;
	struct jv out;
	char *p;

	if (what.kind != JV_STR) {
		out = jv_list(e, what.kind, 0);
		for (; times > 0 && what.list->n; times--)
			jv_extend(e, out.list, what.list);
		return out;
	}
	if (times <= 0 || !what.n)
		return jv_markup(jv_str("", 0), what.markup);
	if (times > (int64_t)(e->arena->limit / what.n))
		env_full(e);
	env_tick(e, (uint64_t)times / 8 + (uint64_t)times * what.n / 64);
	n = (size_t)times * what.n;
	p = env_text(e, n);
	memcpy(p, what.s, what.n);
	for (done = what.n; done <= n / 2; done *= 2)
		memcpy(p + done, p, done);
	memcpy(p + done, p, n - done);
	return jv_markup(jv_str(p, n), what.markup);
}

static bool repeats(struct jv what, struct jv times)
{
	return jv_in(what, JV_ARRAYS | KIND(JV_STR)) && jv_in(times, JV_INTEGERS);
}

static _Noreturn void mismatch(struct env *e, int op, struct jv a, struct jv b)
{
	const char *type = a.kind == JV_STR ? "str" : jv_type(a);

	if (op == '+' && jv_in(a, JV_ARRAYS | KIND(JV_STR)))
		env_fail(e, "can only concatenate %s (not \"%s\") to %s", type, jv_type(b), type);
	env_fail(e, "unsupported operand type(s) for %.*s%c: '%s' and '%s'", op > 0xff,
		(const char[]){ (char)(op >> 8), 0 }, op & 0xff, jv_type(a), jv_type(b));
}

struct jv eval_binary(struct env *e, int op, struct jv a, struct jv b)
{
	if (op == '~') {
		a = jv_to_str(e, a);
		return jv_concat(e, a, jv_to_str(e, b));
	}
	if (op == '%' && a.kind == JV_STR)
		return format_percent(e, a, b);
	jv_defined(e, a);
	jv_defined(e, b);
	if (a.kind == JV_BIG || b.kind == JV_BIG)
		number_overflow(e);
	if (jv_in(a, JV_INTEGERS) && jv_in(b, JV_INTEGERS))
		return integers(e, op, jv_integer(a), jv_integer(b));
	if (jv_in(a, JV_NUMBERS) && jv_in(b, JV_NUMBERS))
		return floats(e, op, jv_number(a), jv_number(b));
	if (op == '+' && a.kind == JV_STR && b.kind == JV_STR)
		return add_text(e, a, b);
	if (op == '+' && a.kind == b.kind && jv_in(a, JV_ARRAYS))
		return add_lists(e, a, b);
	if (op == '*' && (repeats(a, b) || repeats(b, a)))
		return repeats(a, b) ? repeat(e, a, jv_integer(b)) : repeat(e, b, jv_integer(a));
	mismatch(e, op, a, b);
}

bool eval_comparison(struct env *e, int op, struct jv a, struct jv b)
{
	const char name[] = { (char)(op > 0xff ? op >> 8 : op), (char)(op > 0xff ? op & 0xff : 0), 0 };
	int order;

	switch (op) {
	case OP2('=', '='):
		return jv_equal(e, a, b);
	case OP2('!', '='):
		return !jv_equal(e, a, b);
	case 'i':
		return jv_contains(e, b, a);
	case 'n':
		return !jv_contains(e, b, a);
	}
	order = jv_order(e, a, b, name);
	if ((a.kind == JV_FLOAT && isnan(a.d)) || (b.kind == JV_FLOAT && isnan(b.d)))
		return false;
	return op == '<' ? order < 0 : op == '>' ? order > 0 : op == OP2('<', '=') ? order <= 0 : order >= 0;
}
