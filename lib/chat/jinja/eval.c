/* Trees to values: expressions. */
#include "run.h"
#include "text.h"

#include <string.h>

enum { MOST_ARGUMENTS = 4096 };

struct jv eval_attribute(struct env *e, struct jv object, struct jv name)
{
	const struct builtin *method;
	struct jv *v;

	jv_defined(e, object);
	if ((method = builtin_method(object, name))) {
		struct jv_method *m = ENV_NEW(e, struct jv_method);

		*m = (struct jv_method){ object, method };
		return (struct jv){ .kind = JV_METHOD, .method = m };
	}
	if ((object.kind == JV_DICT || object.kind == JV_NAMESPACE) && (v = jv_dict_get(e, object.dict, name)))
		return *v;
	if (object.kind == JV_LOOP)
		return loop_attribute(e, object.loop, name);
	if (object.kind == JV_TUPLE && object.list->type && (jv_is(name, "grouper") || jv_is(name, "list")))
		return object.list->items[jv_is(name, "list")];
	if (object.kind == JV_MACRO && jv_is(name, "name"))
		return jv_str(object.macro->node->name->s, object.macro->node->name->n);
	return jv_undefined(e, object.kind, name.s, name.n);
}

/* The character that starts at byte `at`. */
static struct jv character(struct jv s, size_t at)
{
	return jv_markup(jv_str(s.s + at, text_offset(s.s + at, s.n - at, 1)), s.markup);
}

struct jv eval_item(struct env *e, struct jv object, struct jv key)
{
	struct jv *v;

	jv_defined(e, object);
	if (object.kind == JV_DICT && (v = jv_dict_get(e, object.dict, key)))
		return *v;
	if (jv_in(object, JV_INDEXED) && jv_in(key, JV_INTEGERS)) {
		int64_t n = jv_length(e, object), i = jv_integer(key);

		i += i < 0 ? n : 0;
		if (i < 0 || i >= n)
			return jv_undefined_element(e, object.kind, key);
		if (object.kind == JV_RANGE)
			return jv_range_at(object.range, i);
		if (object.kind != JV_STR)
			return object.list->items[i];
		env_tick(e, (uint64_t)i / 4);
		return character(object, text_offset(object.s, object.n, i));
	}
	return key.kind == JV_STR ? eval_attribute(e, object, key) : jv_undefined_element(e, object.kind, key);
}

/* A slice of n items with Python's bounds: `count` items from `at` by `step`. */
struct slice {
	int64_t at, step, count;
};

static struct slice slice_of(struct env *e, const struct jv bounds[3], int64_t n)
{
	int64_t ends[2], step, low, high;

	for (int i = 0; i < 3; i++) {
		jv_defined(e, bounds[i]);
		if (bounds[i].kind != JV_NONE && !jv_in(bounds[i], JV_INTEGERS))
			env_fail(e, "slice indices must be integers or None");
	}
	step = bounds[2].kind == JV_NONE ? 1 : jv_integer(bounds[2]);
	if (!step)
		env_fail(e, "slice step cannot be zero");
	if (step > INT32_MAX || step < -INT32_MAX)
		step = step > 0 ? INT32_MAX : -INT32_MAX;
	low = step > 0 ? 0 : -1;
	high = step > 0 ? n : n - 1;
	for (int i = 0; i < 2; i++) {
		if (bounds[i].kind == JV_NONE) {
			ends[i] = (i == 0) == (step > 0) ? low : high;
			continue;
		}
		ends[i] = jv_integer(bounds[i]);
		if (ends[i] < 0)
			ends[i] = ends[i] < -n ? low : ends[i] + n < low ? low : ends[i] + n;
		else if (ends[i] > high)
			ends[i] = high;
	}
	if (step > 0 ? ends[1] <= ends[0] : ends[1] >= ends[0])
		return (struct slice){ ends[0], step, 0 };
	return (struct slice){ ends[0], step, (ends[1] - ends[0] + step - (step > 0 ? 1 : -1)) / step };
}

static struct jv slice_text(struct env *e, struct jv s, struct slice w)
{
	size_t start = e->out->n, at;

	if (!w.count)
		return jv_markup(jv_str("", 0), s.markup);
	env_tick(e, (uint64_t)w.at / 8);
	at = text_offset(s.s, s.n, w.at);
	if (w.step == 1)
		return jv_markup(jv_str(s.s + at, text_offset(s.s + at, s.n - at, w.count)), s.markup);
	for (; w.count > 0; w.count--, w.at += w.step) {
		struct jv c = character(s, text_offset(s.s, s.n, w.at));

		env_tick(e, (uint64_t)w.at / 4);
		env_put(e, c.s, c.n);
	}
	return jv_markup(jv_since(e, start), s.markup);
}

static struct jv slice_range(struct env *e, const struct jv_range *r, struct slice w)
{
	struct jv_range *out = ENV_NEW(e, struct jv_range);

	*out = (struct jv_range){ jv_range_at(r, w.at).i, r->step, w.count };
	if (w.count > 1)
		out->step = jv_range_at(r, w.at + w.step).i - out->start;
	return (struct jv){ .kind = JV_RANGE, .range = out };
}

struct jv eval_slice(struct env *e, struct jv object, const struct jv bounds[3])
{
	struct slice w;
	struct jv out;

	jv_defined(e, object);
	if (!jv_in(object, JV_INDEXED))
		env_fail(e, object.kind == JV_DICT ? "unhashable type: 'slice'" : "'%s' object is not subscriptable",
			jv_type(object));
	w = slice_of(e, bounds, jv_length(e, object));
	if (object.kind == JV_STR)
		return slice_text(e, object, w);
	if (object.kind == JV_RANGE)
		return slice_range(e, object.range, w);
	if (w.step == 1)
		return jv_share(e, object.kind, object.list, (uint32_t)w.at, (uint32_t)w.count);
	env_tick(e, (uint64_t)w.count);
	out = jv_list(e, object.kind, 0);
	for (; w.count > 0; w.count--, w.at += w.step)
		jv_push(e, out.list, object.list->items[w.at]);
	return out;
}

static uint32_t count(const struct node *chain)
{
	uint32_t n = 0;

	for (; chain; chain = chain->next)
		n++;
	return n;
}

/* The arguments being evaluated. */
struct arguments {
	struct jv_list *pos;
	struct kwarg *kw;
	uint32_t n_kw, room;
};

static void add_kwarg(struct env *e, struct arguments *a, struct jv name, struct jv v)
{
	if (name.kind != JV_STR)
		env_fail(e, "keywords must be strings");
	for (uint32_t i = 0; i < a->n_kw; i++)
		if (a->kw[i].n == name.n && !memcmp(a->kw[i].s, name.s, name.n))
			env_fail(e, "got multiple values for keyword argument '%.*s'", name.n > 64 ? 64 : (int)name.n,
				name.s);
	a->kw[a->n_kw++] = (struct kwarg){ name.s, name.n, v };
}

/* Expands *v. */
static void add_items(struct env *e, struct arguments *a, struct jv v)
{
	const struct jv_list *l = jv_items(e, v);

	env_tick(e, l->n);
	for (uint32_t i = 0; i < l->n; i++)
		jv_push(e, a->pos, l->items[i]);
}

/* Expands **v. */
static void add_mapping(struct env *e, struct arguments *a, struct jv v)
{
	struct kwarg *kw;

	if (v.kind != JV_DICT || v.dict->n > MOST_ARGUMENTS)
		env_fail(e, "argument after ** must be a mapping, not %s", jv_type(v));
	kw = env_array(e, a->room += v.dict->n, sizeof *kw);
	memcpy(kw, a->kw, a->n_kw * sizeof *kw);
	a->kw = kw;
	for (uint32_t i = 0; i < v.dict->n; i++)
		add_kwarg(e, a, v.dict->pairs[i].key, v.dict->pairs[i].value);
}

/* Evaluates the arguments into c. */
static void arguments(struct env *e, const struct node *args, const struct jv *caller, struct call *c)
{
	struct arguments a = { .room = count(args) + 1 };

	a.pos = jv_list(e, JV_LIST, a.room - 1).list;
	a.kw = env_array(e, a.room, sizeof *a.kw);
	for (; args; args = args->next) {
		struct jv v = eval(e, args->a);

		if (args->op == '*')
			add_items(e, &a, v);
		else if (args->op)
			add_mapping(e, &a, v);
		else if (args->name)
			add_kwarg(e, &a, jv_str(args->name->s, args->name->n), v);
		else
			jv_push(e, a.pos, v);
	}
	if (caller)
		add_kwarg(e, &a, jv_str("caller", 6), *caller);
	c->pos = a.pos->items;
	c->n_pos = a.pos->n;
	c->kw = a.kw;
	c->n_kw = a.n_kw;
}

struct jv eval_call(struct env *e, const struct node *n, const struct jv *caller)
{
	struct call c = { 0 };
	struct jv callee = eval(e, n->a);

	arguments(e, n->b, caller, &c);
	e->line = n->line;
	return call_value(e, callee, &c);
}

struct jv eval_filters(struct env *e, const struct node *n, struct jv text)
{
	struct call c = { .self = text };

	if (n->a) {
		env_enter(e);
		c.self = eval_filters(e, n->a, text);
		e->depth--;
	}
	arguments(e, n->b, NULL, &c);
	return builtin_named(e, jv_str(n->name->s, n->name->n), IS_FILTER, &c);
}

static struct jv eval_filter_or_test(struct env *e, const struct node *n)
{
	struct call c = { .self = eval(e, n->a) };
	struct jv name = jv_str(n->name->s, n->name->n);

	arguments(e, n->b, NULL, &c);
	e->line = n->line;
	return builtin_named(e, name, n->type == N_FILTER ? IS_FILTER : IS_TEST, &c);
}

static struct jv eval_compare(struct env *e, const struct node *n)
{
	struct jv left = eval(e, n->a);

	for (const struct node *o = n->b; o; o = o->next) {
		struct jv right = eval(e, o->a);

		if (!eval_comparison(e, o->op, left, right))
			return jv_bool(false);
		left = right;
	}
	return jv_bool(true);
}

static struct jv eval_name(struct env *e, const struct node *n)
{
	const struct builtin *b;
	uint64_t hops = 0;

	for (const struct scope *s = e->scope; s; s = s->parent, hops++) {
		for (const struct binding *v = s->first; v; v = v->next, hops++) {
			if (v->name == n->name) {
				env_tick(e, hops / 8);
				return v->value;
			}
		}
	}
	env_tick(e, hops / 8);
	b = builtin_find(n->name->s, n->name->n, IS_GLOBAL);
	return b ? (struct jv){ .kind = JV_BUILTIN, .builtin = b } : jv_undefined(e, JV_ABSENT, n->name->s, n->name->n);
}

static struct jv eval_list(struct env *e, const struct node *n)
{
	struct jv l = jv_list(e, n->type == N_LIST ? JV_LIST : JV_TUPLE, count(n->a));

	for (const struct node *item = n->a; item; item = item->next)
		jv_push(e, l.list, eval(e, item));
	return l;
}

static struct jv eval_dict(struct env *e, const struct node *n)
{
	struct jv d = jv_dict(e, JV_DICT);

	for (const struct node *pair = n->a; pair; pair = pair->next) {
		struct jv key = eval(e, pair->a);

		jv_dict_set(e, d.dict, key, eval(e, pair->b));
	}
	return d;
}

static struct jv eval_bounds(struct env *e, const struct node *n)
{
	struct jv object = eval(e, n->a), bounds[3];

	bounds[0] = n->b ? eval(e, n->b) : jv_none();
	bounds[1] = n->c ? eval(e, n->c) : jv_none();
	bounds[2] = n->d ? eval(e, n->d) : jv_none();
	e->line = n->line;
	return eval_slice(e, object, bounds);
}

static struct jv eval_pair(struct env *e, const struct node *n)
{
	struct jv a = eval(e, n->a), b = eval(e, n->b);

	e->line = n->line;
	return n->type == N_ITEM ? eval_item(e, a, b) : eval_binary(e, n->op, a, b);
}

static struct jv eval_unary(struct env *e, const struct node *n)
{
	struct jv v = eval(e, n->a);

	jv_defined(e, v);
	if (v.kind == JV_FLOAT)
		return jv_float(n->op == '-' ? -v.d : v.d);
	if (!jv_in(v, JV_INTEGERS) || (n->op == '-' && jv_integer(v) == INT64_MIN))
		env_fail(e, "bad operand type for unary %c: '%s'", n->op, jv_type(v));
	return jv_int(n->op == '-' ? -jv_integer(v) : jv_integer(v));
}

static struct jv evaluated(struct env *e, const struct node *n)
{
	struct jv v;

	switch (n->type) {
	case N_CONST:
		return n->value;
	case N_NAME:
		return eval_name(e, n);
	case N_LIST:
	case N_TUPLE:
		return eval_list(e, n);
	case N_DICT:
		return eval_dict(e, n);
	case N_ATTR:
		v = eval(e, n->a);
		e->line = n->line;
		return eval_attribute(e, v, n->value);
	case N_ITEM:
	case N_BINARY:
		return eval_pair(e, n);
	case N_SLICE:
		return eval_bounds(e, n);
	case N_CALL:
		return eval_call(e, n, NULL);
	case N_FILTER:
	case N_TEST:
		return eval_filter_or_test(e, n);
	case N_NOT:
		return jv_bool(!jv_true(eval(e, n->a)));
	case N_AND:
	case N_OR:
		v = eval(e, n->a);
		return jv_true(v) == (n->type == N_OR) ? v : eval(e, n->b);
	case N_UNARY:
		return eval_unary(e, n);
	case N_COMPARE:
		return eval_compare(e, n);
	}
	if (jv_true(eval(e, n->a)))
		return eval(e, n->b);
	return n->c ? eval(e, n->c) :
		jv_undefined_hint(e, "the inline if-expression evaluated to false and no else section was defined.");
}

struct jv eval(struct env *e, const struct node *n)
{
	struct jv v;

	e->line = n->line;
	env_tick(e, 1);
	env_enter(e);
	v = evaluated(e, n);
	e->depth--;
	return v;
}
