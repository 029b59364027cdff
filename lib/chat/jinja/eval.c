/* Trees to values: expressions. */
#include "priv.h"

#include <math.h>
#include <string.h>

enum { MOST_ARGUMENTS = 4096 };

struct jv jinja_getattr(struct env *e, struct jv object, struct jv name)
{
	const struct builtin *method = jinja_find_method(object, name.s, name.n);
	struct jv *v;

	if (object.kind == JV_UNDEF)
		return jv_fail_undefined(e, object);
	if (method) {
		struct jv_method *m = arena_alloc(&e->arena, sizeof *m);

		if (!m)
			return jv_full(e);
		*m = (struct jv_method){ object, method };
		return (struct jv){ .kind = JV_METHOD, .method = m };
	}
	if (object.kind == JV_DICT || object.kind == JV_NAMESPACE) {
		v = jv_dict_get(e, object.dict, name);
		if (v)
			return *v;
	}
	if (object.kind == JV_LOOP)
		return jinja_loop_attr(e, object.loop, name);
	if (object.kind == JV_TUPLE && object.list->type && (jv_is(name, "grouper") || jv_is(name, "list")))
		return object.list->items[jv_is(name, "list")];
	if (object.kind == JV_MACRO && jv_is(name, "name"))
		return jv_str(object.macro->node->name->s, object.macro->node->name->n);
	return jv_undefined(e, object.kind, name.s, name.n);
}

static struct jv character(struct env *e, struct jv s, int64_t i)
{
	size_t from = text_offset(s.s, s.n, i), to = text_offset(s.s + from, s.n - from, 1);
	struct jv c = jv_str(s.s + from, to);

	c.markup = s.markup;
	return jinja_tick(e, (uint64_t)i / 4) ? jv_error() : c;
}

static struct jv no_element(struct env *e, struct jv object, struct jv key)
{
	struct bytes b = jinja_buffer(e);
	struct jv name, v;
	struct jv_undef *u;

	if (jv_put_repr(e, &b, key)) {
		bytes_free(&b);
		return jv_full(e);
	}
	name = jv_take(e, &b);
	v = name.kind == JV_ERROR ? name : jv_undefined(e, object.kind, name.s, name.n);
	u = arena_alloc(&e->arena, sizeof *u);
	if (v.kind == JV_ERROR || !u)
		return jv_full(e);
	*u = *v.undef;
	u->element = true;
	v.undef = u;
	return v;
}

struct jv jinja_getitem(struct env *e, struct jv object, struct jv key)
{
	bool indexed = object.kind == JV_STR || object.kind == JV_LIST || object.kind == JV_TUPLE || object.kind == JV_RANGE;
	struct jv *v;

	if (object.kind == JV_UNDEF)
		return jv_fail_undefined(e, object);
	if (object.kind == JV_DICT && (v = jv_dict_get(e, object.dict, key)))
		return *v;
	if (indexed && jv_is_integer(key)) {
		int64_t n = jv_length(e, object), i = jv_integer(key);

		i += i < 0 ? n : 0;
		if (i < 0 || i >= n)
			return no_element(e, object, key);
		if (object.kind == JV_STR)
			return character(e, object, i);
		return object.kind == JV_RANGE ? jv_range_at(object.range, i) : object.list->items[i];
	}
	if (key.kind == JV_STR)
		return jinja_getattr(e, object, key);
	return no_element(e, object, key);
}

/* A slice's bounds on n items as Python counts them: from *at by *step, *count of them. */
static int bounds_of(struct env *e, const struct jv bounds[3], int64_t n, int64_t *at, int64_t *step, int64_t *count)
{
	int64_t ends[2], low, high;

	for (int i = 0; i < 3; i++) {
		if (bounds[i].kind == JV_UNDEF)
			return jv_fail_undefined(e, bounds[i]), -1;
		if (bounds[i].kind != JV_NONE && !jv_is_integer(bounds[i]))
			return jv_fail(e, "slice indices must be integers or None"), -1;
	}
	*step = bounds[2].kind == JV_NONE ? 1 : jv_integer(bounds[2]);
	if (!*step)
		return jv_fail(e, "slice step cannot be zero"), -1;
	if (*step > INT32_MAX || *step < -INT32_MAX)
		*step = *step > 0 ? INT32_MAX : -INT32_MAX;
	low = *step > 0 ? 0 : -1;
	high = *step > 0 ? n : n - 1;
	for (int i = 0; i < 2; i++) {
		bool first = i == 0;

		if (bounds[i].kind == JV_NONE) {
			ends[i] = first == (*step > 0) ? low : high;
			continue;
		}
		ends[i] = jv_integer(bounds[i]);
		if (ends[i] < 0)
			ends[i] = ends[i] < -n ? low : ends[i] + n < low ? low : ends[i] + n;
		else if (ends[i] > high)
			ends[i] = high;
	}
	*at = ends[0];
	*count = *step > 0 ? (ends[1] - ends[0] + *step - 1) / *step : (ends[1] - ends[0] + *step + 1) / *step;
	if ((*step > 0 && ends[1] <= ends[0]) || (*step < 0 && ends[1] >= ends[0]))
		*count = 0;
	return 0;
}

static struct jv slice_text(struct env *e, struct jv s, int64_t at, int64_t step, int64_t count)
{
	struct bytes b = jinja_buffer(e);
	struct jv out = s;

	if (jinja_tick(e, (uint64_t)at / 8))
		return jv_error();
	if (step == 1 || !count) {
		out.s = s.s + text_offset(s.s, s.n, count ? at : 0);
		out.n = (uint32_t)text_offset(out.s, (size_t)(s.s + s.n - out.s), count);
		return out;
	}
	for (; count > 0; count--, at += step) {
		struct jv c = character(e, s, at);

		if (c.kind == JV_ERROR)
			break;
		bytes_put(&b, c.s, c.n);
	}
	out = jv_take(e, &b);
	out.markup = s.markup;
	return e->failed ? jv_error() : out;
}

static struct jv slice_range(struct env *e, const struct jv_range *r, int64_t at, int64_t step, int64_t count)
{
	struct jv_range *out = arena_alloc(&e->arena, sizeof *out);

	if (!out)
		return jv_full(e);
	*out = (struct jv_range){ jv_range_at(r, at).i, r->step, count };
	if (count > 1)
		out->step = jv_range_at(r, at + step).i - out->start;
	return (struct jv){ .kind = JV_RANGE, .range = out };
}

struct jv jinja_slice(struct env *e, struct jv object, const struct jv bounds[3])
{
	int64_t n, at, step, count;
	struct jv out;

	if (object.kind == JV_UNDEF)
		return jv_fail_undefined(e, object);
	if (object.kind != JV_STR && object.kind != JV_LIST && object.kind != JV_TUPLE && object.kind != JV_RANGE)
		return jv_fail(e, object.kind == JV_DICT ? "unhashable type: 'slice'" : "'%s' object is not subscriptable", jv_type(object));
	n = jv_length(e, object);
	if (n < 0 || bounds_of(e, bounds, n, &at, &step, &count))
		return jv_error();
	if (object.kind == JV_STR)
		return slice_text(e, object, at, step, count);
	if (object.kind == JV_RANGE)
		return slice_range(e, object.range, at, step, count);
	out = jv_list(e, object.kind, 0);
	if (out.kind == JV_ERROR || !count)
		return out;
	if (step == 1) {
		object.list->cap = 0;
		out.list->items = object.list->items + at;
		out.list->n = (uint32_t)count;
		return out;
	}
	for (; count > 0; count--, at += step)
		if (jinja_tick(e, 1) || jv_push(e, out.list, object.list->items[at]))
			return jv_error();
	return out;
}

/* Room for the values of `count` arguments. */
static int count_args(const struct node *args)
{
	int n = 0;

	for (; args; args = args->next)
		n++;
	return n;
}

/* What *x stands for, at the end of the positional arguments. */
static int spread(struct env *e, struct jv_list *pos, struct jv v)
{
	struct jv_list *l = jv_walk(e, v);

	for (uint32_t i = 0; l && i < l->n; i++)
		if (jinja_tick(e, 1) || jv_push(e, pos, l->items[i]))
			return -1;
	return l ? 0 : -1;
}

static int add_kwarg(struct env *e, struct call *c, struct kwarg *kw, struct jv name, struct jv v)
{
	if (name.kind != JV_STR)
		return jv_fail(e, "keywords must be strings"), -1;
	for (uint32_t i = 0; i < c->n_kw; i++)
		if (kw[i].n == name.n && !memcmp(kw[i].s, name.s, name.n))
			return jv_fail(e, "got multiple values for keyword argument '%.*s'", name.n > 64 ? 64 : (int)name.n, name.s), -1;
	kw[c->n_kw++] = (struct kwarg){ name.s, name.n, v };
	return 0;
}

/* Evaluates the arguments into c. `spare` named ones can be added by the caller. */
static int arguments(struct env *e, const struct node *args, struct call *c, struct kwarg **kws, uint32_t spare)
{
	int n = count_args(args);
	struct jv pos = jv_list(e, JV_LIST, (uint32_t)n);
	uint32_t room = (uint32_t)n + spare;
	struct kwarg *kw = *kws = arena_array(&e->arena, room, sizeof *kw);

	if (pos.kind == JV_ERROR || !kw)
		return jv_full(e), -1;
	for (; args; args = args->next) {
		struct jv v = jinja_eval(e, args->a);

		if (v.kind == JV_ERROR)
			return -1;
		if (args->op == '*') {
			if (spread(e, pos.list, v))
				return -1;
		} else if (args->op) {
			if (v.kind != JV_DICT || v.dict->n > MOST_ARGUMENTS)
				return jv_fail(e, "argument after ** must be a mapping, not %s", jv_type(v)), -1;
			kw = arena_array(&e->arena, room + v.dict->n, sizeof *kw);
			if (!kw)
				return jv_full(e), -1;
			if (c->n_kw)
				memcpy(kw, *kws, c->n_kw * sizeof *kw);
			*kws = kw;
			room += v.dict->n;
			for (uint32_t i = 0; i < v.dict->n; i++)
				if (add_kwarg(e, c, kw, v.dict->pairs[i].key, v.dict->pairs[i].value))
					return -1;
		} else if (args->name) {
			if (add_kwarg(e, c, kw, jv_str(args->name->s, args->name->n), v))
				return -1;
		} else if (jv_push(e, pos.list, v)) {
			return -1;
		}
	}
	c->pos = pos.list->items;
	c->n_pos = pos.list->n;
	c->kw = kw;
	return 0;
}

static struct jv eval_call(struct env *e, const struct node *n, const struct jv *caller)
{
	struct call c = { .self = { .kind = JV_ABSENT } };
	struct jv callee = jinja_eval(e, n->a);
	struct kwarg *kw;

	if (callee.kind == JV_ERROR || arguments(e, n->b, &c, &kw, 1))
		return jv_error();
	if (caller && add_kwarg(e, &c, kw, jv_str("caller", 6), *caller))
		return jv_error();
	e->line = n->line;
	return jinja_call(e, callee, &c);
}

struct jv jinja_call_with(struct env *e, const struct node *call, struct jv caller)
{
	return eval_call(e, call, &caller);
}

static struct jv eval_filter(struct env *e, const struct node *n)
{
	struct call c = { .self = jinja_eval(e, n->a) };
	struct kwarg *kw;

	if (c.self.kind == JV_ERROR || arguments(e, n->b, &c, &kw, 0))
		return jv_error();
	e->line = n->line;
	return jinja_filter(e, n->name->s, n->name->n, &c);
}

struct jv jinja_filter_text(struct env *e, const struct node *n, struct jv text)
{
	struct call c = { .self = text };
	struct kwarg *kw;

	if (jinja_deeper(e))
		return jv_error();
	if (n->a)
		c.self = jinja_filter_text(e, n->a, text);
	e->depth--;
	if (c.self.kind == JV_ERROR || arguments(e, n->b, &c, &kw, 0))
		return jv_error();
	return jinja_filter(e, n->name->s, n->name->n, &c);
}

static struct jv eval_test(struct env *e, const struct node *n)
{
	struct call c = { .self = jinja_eval(e, n->a) };
	struct kwarg *kw;
	int yes;

	if (c.self.kind == JV_ERROR || arguments(e, n->b, &c, &kw, 0))
		return jv_error();
	e->line = n->line;
	yes = jinja_test(e, n->name->s, n->name->n, &c);
	return yes < 0 ? jv_error() : jv_bool(yes);
}

static int holds(struct env *e, int op, struct jv a, struct jv b)
{
	int order, yes;
	char name[3] = { (char)op };

	switch (op) {
	case OP2('=', '='):
		return jv_equal(e, a, b);
	case OP2('!', '='):
		yes = jv_equal(e, a, b);
		return yes < 0 ? -1 : !yes;
	case 'i':
		return jv_contains(e, b, a);
	case 'n':
		yes = jv_contains(e, b, a);
		return yes < 0 ? -1 : !yes;
	}
	if (op > 0xff) {
		name[0] = (char)(op >> 8);
		name[1] = (char)(op & 0xff);
	}
	if (jv_order(e, a, b, name, &order))
		return -1;
	if ((a.kind == JV_FLOAT && isnan(a.d)) || (b.kind == JV_FLOAT && isnan(b.d)))
		return 0;
	return op == '<' ? order < 0 : op == '>' ? order > 0 : op == OP2('<', '=') ? order <= 0 : order >= 0;
}

static struct jv eval_compare(struct env *e, const struct node *n)
{
	struct jv left = jinja_eval(e, n->a);

	for (const struct node *o = n->b; o; o = o->next) {
		struct jv right = left.kind == JV_ERROR ? left : jinja_eval(e, o->a);
		int yes = right.kind == JV_ERROR ? -1 : holds(e, o->op, left, right);

		if (yes <= 0)
			return yes < 0 ? jv_error() : jv_bool(false);
		left = right;
	}
	return jv_bool(true);
}

static struct jv eval_name(struct env *e, const struct node *n)
{
	const struct builtin *b;
	uint64_t hops = 0;

	for (const struct scope *s = e->scope; s; s = s->parent) {
		for (const struct binding *v = s->first; v; v = v->next, hops++)
			if (v->name == n->name)
				return jinja_tick(e, hops / 8) ? jv_error() : v->value;
		hops++;
	}
	if (jinja_tick(e, hops / 8))
		return jv_error();
	b = jinja_find(jinja_globals, n->name->s, n->name->n);
	if (b)
		return (struct jv){ .kind = JV_BUILTIN, .builtin = b };
	return jv_undefined(e, JV_ABSENT, n->name->s, n->name->n);
}

static struct jv eval_items(struct env *e, const struct node *n)
{
	struct jv l = jv_list(e, n->type == N_LIST ? JV_LIST : JV_TUPLE, (uint32_t)count_args(n->a));

	for (const struct node *item = n->a; item && l.kind != JV_ERROR; item = item->next) {
		struct jv v = jinja_eval(e, item);

		if (v.kind == JV_ERROR || jv_push(e, l.list, v))
			return jv_error();
	}
	return l;
}

static struct jv eval_dict(struct env *e, const struct node *n)
{
	struct jv d = jv_dict(e, JV_DICT);

	for (const struct node *pair = n->a; pair && d.kind != JV_ERROR; pair = pair->next) {
		struct jv key = jinja_eval(e, pair->a), value = key.kind == JV_ERROR ? key : jinja_eval(e, pair->b);

		if (value.kind == JV_ERROR || jv_dict_set(e, d.dict, key, value))
			return jv_error();
	}
	return d;
}

static struct jv eval_slice(struct env *e, const struct node *n)
{
	const struct node *const parts[3] = { n->b, n->c, n->d };
	struct jv object = jinja_eval(e, n->a), bounds[3];

	for (int i = 0; i < 3; i++) {
		if (object.kind == JV_ERROR)
			return object;
		bounds[i] = parts[i] ? jinja_eval(e, parts[i]) : jv_none();
		if (bounds[i].kind == JV_ERROR)
			return jv_error();
	}
	e->line = n->line;
	return jinja_slice(e, object, bounds);
}

static struct jv eval_pair(struct env *e, const struct node *n)
{
	struct jv a = jinja_eval(e, n->a), b = a.kind == JV_ERROR ? a : jinja_eval(e, n->b);

	if (b.kind == JV_ERROR)
		return b;
	e->line = n->line;
	return n->type == N_ITEM ? jinja_getitem(e, a, b) : jinja_arith(e, n->op, a, b);
}

static struct jv eval_unary(struct env *e, const struct node *n)
{
	struct jv v = jinja_eval(e, n->a);

	switch (v.kind) {
	case JV_ERROR:
		return v;
	case JV_UNDEF:
		return jv_fail_undefined(e, v);
	case JV_FLOAT:
		return jv_float(n->op == '-' ? -v.d : v.d);
	case JV_BOOL:
	case JV_INT:
		if (n->op == '-' && jv_integer(v) == INT64_MIN)
			break;
		return jv_int(n->op == '-' ? -jv_integer(v) : jv_integer(v));
	}
	return jv_fail(e, "bad operand type for unary %c: '%s'", n->op, jv_type(v));
}

static struct jv eval(struct env *e, const struct node *n)
{
	struct jv v;

	switch (n->type) {
	case N_CONST:
		return n->value;
	case N_NAME:
		return eval_name(e, n);
	case N_LIST:
	case N_TUPLE:
		return eval_items(e, n);
	case N_DICT:
		return eval_dict(e, n);
	case N_ATTR:
		v = jinja_eval(e, n->a);
		e->line = n->line;
		return v.kind == JV_ERROR ? v : jinja_getattr(e, v, n->value);
	case N_ITEM:
	case N_BINARY:
		return eval_pair(e, n);
	case N_SLICE:
		return eval_slice(e, n);
	case N_CALL:
		return eval_call(e, n, NULL);
	case N_FILTER:
		return eval_filter(e, n);
	case N_TEST:
		return eval_test(e, n);
	case N_NOT:
		v = jinja_eval(e, n->a);
		return v.kind == JV_ERROR ? v : jv_bool(!jv_true(v));
	case N_AND:
	case N_OR:
		v = jinja_eval(e, n->a);
		return v.kind == JV_ERROR || jv_true(v) == (n->type == N_OR) ? v : jinja_eval(e, n->b);
	case N_UNARY:
		return eval_unary(e, n);
	case N_COMPARE:
		return eval_compare(e, n);
	default:
		break;
	}
	v = jinja_eval(e, n->a);
	if (v.kind == JV_ERROR)
		return v;
	if (jv_true(v))
		return jinja_eval(e, n->b);
	return n->c ? jinja_eval(e, n->c) : jv_undefined_hint(e, "the inline if-expression evaluated to false and no else section was defined.");
}

struct jv jinja_eval(struct env *e, const struct node *n)
{
	struct jv v;

	e->line = n->line;
	if (jinja_deeper(e))
		return jv_error();
	v = jinja_tick(e, 1) ? jv_error() : eval(e, n);
	e->depth--;
	return e->failed ? jv_error() : v;
}
