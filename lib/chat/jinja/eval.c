/* Trees to values: expressions. */
#include "interpreter.h"
#include "text.h"

static struct jv macro_attribute(struct env *e, const struct jv_macro *m, struct jv name)
{
	struct jv names;

	if (jv_is(name, "name"))
		return m->node->name->text;
	if (jv_is(name, "caller"))
		return jv_bool(m->node->op & MACRO_CALLER);
	if (jv_is(name, "catch_varargs"))
		return jv_bool(m->node->op & MACRO_VARARGS);
	if (jv_is(name, "catch_kwargs"))
		return jv_bool(m->node->op & MACRO_KWARGS);
	if (!jv_is(name, "arguments"))
		return jv_undefined(JV_MACRO, name);
	names = jv_list(e, JV_TUPLE, 0);
	for (const struct node *p = m->node->a; p; p = p->next)
		jv_push(e, names.list, p->name->text);
	return names;
}

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
	if (object.kind == JV_MACRO)
		return macro_attribute(e, object.macro, name);
	return jv_undefined(object.kind, name);
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
	if (jv_in(object, JV_INDEXED | KIND(JV_BYTES)) && jv_in(key, JV_INTEGERS)) {
		int64_t n = jv_length(e, object), i = jv_integer(key);

		i += i < 0 ? n : 0;
		if (i < 0 || i >= n)
			return jv_undefined_element(e, object.kind, key);
		if (object.kind == JV_RANGE)
			return jv_range_at(object.range, i);
		if (object.kind == JV_BYTES)
			return jv_int((unsigned char)object.s[i]);
		if (object.kind != JV_STR)
			return object.list->items[i];
		env_tick(e, (uint64_t)i / 4);
		return character(object, text_offset(object.s, object.n, i));
	}
	return key.kind == JV_STR ? eval_attribute(e, object, key) : jv_undefined_element(e, object.kind, key);
}

/* A slice of n items with Python's bounds: `count` items from `at` to before `end` by `step`. */
struct slice {
	int64_t at, end, step, count;
};

static struct slice slice_of(struct env *e, const struct jv bounds[3], int64_t n)
{
	int64_t ends[2], step, low, high, count = 0;

	for (int i = 0; i < 3; i++) {
		jv_defined(e, bounds[i]);
		if (bounds[i].kind == JV_BIG)
			number_overflow(e);
		if (bounds[i].kind != JV_NONE && !jv_in(bounds[i], JV_INTEGERS))
			env_fail(e, "slice indices must be integers or None");
	}
	step = bounds[2].kind == JV_NONE ? 1 : jv_integer(bounds[2]);
	if (!step)
		env_fail(e, "slice step cannot be zero");
	step = step > INT32_MAX ? INT32_MAX : step < -INT32_MAX ? -INT32_MAX : step;
	low = step > 0 ? 0 : -1;
	high = step > 0 ? n : n - 1;
	for (int i = 0; i < 2; i++) {
		bool from_low = (i == 0) == (step > 0);
		int64_t end = bounds[i].kind != JV_NONE ? jv_integer(bounds[i]) : from_low ? INT64_MIN : INT64_MAX;

		end += end < 0 && end >= -n ? n : 0;
		ends[i] = end < low ? low : end > high ? high : end;
	}
	if (step > 0 ? ends[1] > ends[0] : ends[1] < ends[0])
		count = (ends[1] - ends[0] + step - (step > 0 ? 1 : -1)) / step;
	return (struct slice){ ends[0], ends[1], step, count };
}

struct jv eval_slice(struct env *e, struct jv object, const struct jv bounds[3])
{
	bool text = object.kind == JV_STR, bytes = object.kind == JV_BYTES;
	size_t start = e->out->n, at;
	struct jv_list *l;
	struct slice w;
	struct jv out;

	jv_defined(e, object);
	if (!jv_in(object, JV_INDEXED | KIND(JV_BYTES)))
		env_fail(e, object.kind == JV_DICT ? "unhashable type: 'slice'" : "'%s' object is not subscriptable",
			jv_type(object));
	w = slice_of(e, bounds, jv_length(e, object));
	if (object.kind == JV_RANGE) {
		const struct jv_range *r = object.range;

		return jv_range(e, (struct jv_range){ (uint32_t)w.count, jv_range_at(r, w.at).i,
			jv_range_at(r, w.end).i, (int64_t)((uint64_t)w.step * (uint64_t)r->step) });
	}
	if (text && w.step == 1) {
		at = text_offset(object.s, object.n, w.at);
		return jv_markup(jv_str(object.s + at, text_offset(object.s + at, object.n - at, w.count)),
			object.markup);
	}
	l = jv_items(e, object);
	if (w.step == 1 && !bytes)
		return jv_share(e, object.kind, l, (uint32_t)w.at, (uint32_t)w.count);
	env_tick(e, (uint64_t)w.count);
	out = jv_list(e, object.kind, 0);
	for (; w.count > 0; w.count--, w.at += w.step) {
		if (bytes)
			env_put(e, object.s + w.at, 1);
		else if (text)
			jv_put(e, l->items[w.at]);
		else
			jv_push(e, out.list, l->items[w.at]);
	}
	if (text || bytes)
		out = jv_markup(jv_since(e, start), object.markup);
	out.kind = object.kind;
	return out;
}

static struct jv eval_name(struct env *e, const struct name *name)
{
	const struct builtin *b;
	uint64_t hops = 0;

	for (const struct scope *s = e->scope; s; s = s->parent, hops++) {
		for (const struct binding *v = s->first; v; v = v->next, hops++) {
			if (v->name == name) {
				env_tick(e, hops / 8);
				return v->value;
			}
		}
	}
	env_tick(e, hops / 8);
	b = builtin_find(name->text, IS_GLOBAL);
	return b ? (struct jv){ .kind = JV_BUILTIN, .builtin = b } : jv_undefined(JV_ABSENT, name->text);
}

/* The values of a list of nodes. */
static struct jv eval_list(struct env *e, enum jv_kind kind, const struct node *first)
{
	struct jv l;
	uint32_t n = 0;

	for (const struct node *item = first; item; item = item->next)
		n++;
	l = jv_list(e, kind, n);
	for (; first; first = first->next)
		jv_push(e, l.list, eval(e, first));
	return l;
}

static struct jv eval_dict(struct env *e, const struct node *pair)
{
	struct jv d = jv_dict(e, JV_DICT);

	for (; pair; pair = pair->next) {
		struct jv key = eval(e, pair->a);

		jv_dict_set(e, d.dict, key, eval(e, pair->b));
	}
	return d;
}

static struct jv eval_unary(struct env *e, int op, struct jv v)
{
	jv_defined(e, v);
	if (v.kind == JV_FLOAT)
		return jv_float(op == '-' ? -v.d : v.d);
	if (v.kind == JV_BIG || (v.kind == JV_INT && op == '-' && v.i == INT64_MIN))
		number_overflow(e);
	if (!jv_in(v, JV_INTEGERS))
		env_fail(e, "bad operand type for unary %c: '%s'", op, jv_type(v));
	return jv_int(op == '-' ? -jv_integer(v) : jv_integer(v));
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

/* What is done with the value of n->a, and of n->b where there is one. */
static struct jv applied(struct env *e, const struct node *n)
{
	struct jv a = eval(e, n->a), b = { 0 };

	if (n->type == N_SLICE)
		b = eval_list(e, JV_LIST, n->b);
	else if (n->b)
		b = eval(e, n->b);
	e->line = n->line;
	switch (n->type) {
	case N_ATTR:
		return eval_attribute(e, a, n->name->text);
	case N_ITEM:
		return eval_item(e, a, b);
	case N_SLICE:
		return eval_slice(e, a, b.list->items);
	case N_UNARY:
		return eval_unary(e, n->op, a);
	}
	return eval_binary(e, n->op, a, b);
}

static struct jv evaluated(struct env *e, const struct node *n)
{
	struct jv v;

	switch (n->type) {
	case N_CONST:
		return n->value;
	case N_NAME:
		return eval_name(e, n->name);
	case N_LIST:
		return eval_list(e, JV_LIST, n->a);
	case N_TUPLE:
		return eval_list(e, JV_TUPLE, n->a);
	case N_DICT:
		return eval_dict(e, n->a);
	case N_CALL:
		return call_node(e, n);
	case N_FILTER:
	case N_TEST:
		return call_filter_or_test(e, n);
	case N_MACRO:
		return exec_macro(e, n);
	case N_CAPTURE:
		return exec_captured(e, n->body);
	case N_NOT:
		return jv_bool(!jv_true(eval(e, n->a)));
	case N_AND:
	case N_OR:
		v = eval(e, n->a);
		return jv_true(v) == (n->type == N_OR) ? v : eval(e, n->b);
	case N_COMPARE:
		return eval_compare(e, n);
	case N_COND:
		if (jv_true(eval(e, n->b)))
			return eval(e, n->a);
		return n->c ? eval(e, n->c) : jv_undefined_hint(
			"the inline if-expression evaluated to false and no else section was defined.");
	}
	return applied(e, n);
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
