/* What stands after `is`. */
#include "priv.h"

#include <math.h>

static struct jv t_defined(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind != JV_UNDEF);
}

static struct jv t_undefined(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_UNDEF);
}

static struct jv t_none(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_NONE);
}

static struct jv t_boolean(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_BOOL);
}

static struct jv t_true(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_BOOL && c->self.b);
}

static struct jv t_false(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_BOOL && !c->self.b);
}

static struct jv t_integer(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_INT || c->self.kind == JV_BIG);
}

static struct jv t_float(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_FLOAT);
}

static struct jv t_number(struct env *e, struct call *c)
{
	return jv_bool(jv_is_number(c->self) || c->self.kind == JV_BIG);
}

static struct jv t_string(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_STR);
}

static struct jv t_mapping(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_DICT);
}

/* Python asks for len() and a subscript, which Undefined has. */
static struct jv t_sequence(struct env *e, struct call *c)
{
	int k = c->self.kind;

	return jv_bool(k == JV_STR || k == JV_LIST || k == JV_TUPLE || k == JV_RANGE || k == JV_DICT || k == JV_UNDEF);
}

static struct jv t_iterable(struct env *e, struct call *c)
{
	int k = c->self.kind;

	return jv_bool(k == JV_STR || k == JV_LIST || k == JV_TUPLE || k == JV_RANGE || k == JV_DICT || k == JV_UNDEF || k == JV_ITER || k == JV_LOOP);
}

static struct jv t_callable(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind >= JV_BUILTIN || c->self.kind == JV_UNDEF);
}

static struct jv t_escaped(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_STR && c->self.markup);
}

static struct jv remainder_is(struct env *e, struct call *c, struct jv by, int64_t wanted)
{
	struct jv rest = jinja_arith(e, '%', c->self, by);

	return rest.kind == JV_ERROR ? rest : jv_bool(jv_equal(e, rest, jv_int(wanted)) == 1);
}

static struct jv t_odd(struct env *e, struct call *c)
{
	return remainder_is(e, c, jv_int(2), 1);
}

static struct jv t_even(struct env *e, struct call *c)
{
	return remainder_is(e, c, jv_int(2), 0);
}

static struct jv t_divisibleby(struct env *e, struct call *c)
{
	return remainder_is(e, c, c->arg[0], 0);
}

static struct jv one_case(struct env *e, struct call *c, const char *method)
{
	struct call own = { .self = jv_to_str(e, c->self) };

	return own.self.kind == JV_ERROR ? own.self : jinja_run(e, jinja_find(jinja_str_methods, method, 7), &own);
}

static struct jv t_lower(struct env *e, struct call *c)
{
	return one_case(e, c, "islower");
}

static struct jv t_upper(struct env *e, struct call *c)
{
	return one_case(e, c, "isupper");
}

static struct jv t_eq(struct env *e, struct call *c)
{
	int yes = jv_equal(e, c->self, c->arg[0]);

	return yes < 0 ? jv_error() : jv_bool(yes);
}

static struct jv t_ne(struct env *e, struct call *c)
{
	int yes = jv_equal(e, c->self, c->arg[0]);

	return yes < 0 ? jv_error() : jv_bool(!yes);
}

static struct jv t_lt(struct env *e, struct call *c)
{
	int order;

	return jv_order(e, c->self, c->arg[0], "<", &order) ? jv_error() : jv_bool(order < 0);
}

static struct jv t_le(struct env *e, struct call *c)
{
	int order;

	return jv_order(e, c->self, c->arg[0], "<=", &order) ? jv_error() : jv_bool(order <= 0);
}

static struct jv t_gt(struct env *e, struct call *c)
{
	int order;

	return jv_order(e, c->self, c->arg[0], ">", &order) ? jv_error() : jv_bool(order > 0);
}

static struct jv t_ge(struct env *e, struct call *c)
{
	int order;

	return jv_order(e, c->self, c->arg[0], ">=", &order) ? jv_error() : jv_bool(order >= 0);
}

static struct jv t_in(struct env *e, struct call *c)
{
	int yes = jv_contains(e, c->arg[0], c->self);

	return yes < 0 ? jv_error() : jv_bool(yes);
}

/* Python's `is`: the same object; small values are compared. */
static struct jv t_sameas(struct env *e, struct call *c)
{
	struct jv a = c->self, b = c->arg[0];

	if (a.kind != b.kind)
		return jv_bool(false);
	return a.kind < JV_LIST ? t_eq(e, c) : jv_bool(a.list == b.list);
}

static struct jv t_filter(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_STR && jinja_find_filter(c->self.s, c->self.n));
}

static struct jv t_test(struct env *e, struct call *c)
{
	return jv_bool(c->self.kind == JV_STR && jinja_find(jinja_tests, c->self.s, c->self.n));
}

const struct builtin jinja_tests[] = {
	{ "!=", t_ne, "other" }, { "<", t_lt, "other" }, { "<=", t_le, "other" }, { "==", t_eq, "other" }, { ">", t_gt, "other" },
	{ ">=", t_ge, "other" }, { "boolean", t_boolean, "" }, { "callable", t_callable, "" }, { "defined", t_defined, "" },
	{ "divisibleby", t_divisibleby, "num" }, { "eq", t_eq, "other" }, { "equalto", t_eq, "other" }, { "escaped", t_escaped, "" },
	{ "even", t_even, "" }, { "false", t_false, "" }, { "filter", t_filter, "" }, { "float", t_float, "" }, { "ge", t_ge, "other" },
	{ "greaterthan", t_gt, "other" }, { "gt", t_gt, "other" }, { "in", t_in, "seq" }, { "integer", t_integer, "" },
	{ "iterable", t_iterable, "" }, { "le", t_le, "other" }, { "lessthan", t_lt, "other" }, { "lower", t_lower, "" },
	{ "lt", t_lt, "other" }, { "mapping", t_mapping, "" }, { "ne", t_ne, "other" }, { "none", t_none, "" }, { "number", t_number, "" },
	{ "odd", t_odd, "" }, { "sameas", t_sameas, "other" }, { "sequence", t_sequence, "" }, { "string", t_string, "" },
	{ "test", t_test, "" }, { "true", t_true, "" }, { "undefined", t_undefined, "" }, { "upper", t_upper, "" },
	{ 0 },
};
