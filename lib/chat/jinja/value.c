/* Values: making them, lists, equality and order. */
#include "text.h"
#include "value.h"

#include <math.h>
#include <string.h>

bool jv_is(struct jv v, const char *s)
{
	return v.kind == JV_STR && v.n == strlen(s) && !memcmp(v.s, s, v.n);
}

const char *jv_type(struct jv v)
{
	static const char *const names[] = {
		[JV_ABSENT] = "absent", [JV_UNDEF] = "Undefined", [JV_NONE] = "NoneType", [JV_BOOL] = "bool",
		[JV_INT] = "int", [JV_BIG] = "int", [JV_FLOAT] = "float", [JV_STR] = "str",
		[JV_BYTES] = "bytes", [JV_LIST] = "list",
		[JV_TUPLE] = "tuple", [JV_RANGE] = "range", [JV_DICT] = "dict", [JV_NAMESPACE] = "Namespace",
		[JV_BUILTIN] = "function", [JV_METHOD] = "builtin_function_or_method", [JV_MACRO] = "Macro",
		[JV_LOOP] = "LoopContext",
	};

	if (v.kind == JV_ITER)
		return v.list->type;
	return v.kind == JV_STR && v.markup ? "Markup" : names[v.kind];
}

/* Does *v.count tell its length? */
static bool counts(struct jv v)
{
	return jv_in(v, JV_ARRAYS | KIND(JV_RANGE) | KIND(JV_DICT)) || (v.kind == JV_ITER && !v.list->single_use);
}

bool jv_true(struct jv v)
{
	if (jv_in(v, JV_INTEGERS))
		return jv_integer(v) != 0;
	if (v.kind == JV_FLOAT)
		return v.d != 0;
	if (v.kind == JV_STR || v.kind == JV_BYTES)
		return v.n;
	return v.kind > JV_NONE && (!counts(v) || *v.count);
}

struct jv jv_undefined(enum jv_kind owner, struct jv name)
{
	return (struct jv){ .kind = JV_UNDEF, .undef = owner == JV_ABSENT ? UNDEF_VARIABLE : UNDEF_ATTRIBUTE,
		.owner = (uint8_t)owner, .n = name.n, .s = name.s };
}

struct jv jv_undefined_element(struct env *e, enum jv_kind owner, struct jv key)
{
	size_t start = e->out->n;
	struct jv v;

	jv_put_repr(e, key);
	v = jv_undefined(owner, jv_since(e, start));
	v.undef = UNDEF_ELEMENT;
	return v;
}

struct jv jv_undefined_hint(const char *message)
{
	return (struct jv){ .kind = JV_UNDEF, .undef = UNDEF_HINT, .n = (uint32_t)strlen(message), .s = message };
}

void jv_fail_undefined(struct env *e, struct jv v)
{
	const char *type = v.owner == JV_ITER ? "NoneType" : v.owner == JV_NAMESPACE ? "jinja2.utils.Namespace"
		: jv_type((struct jv){ .kind = v.owner });

	if (v.undef == UNDEF_HINT)
		env_fail(e, "%.*s", JV_SHOWN(v));
	if (v.undef == UNDEF_VARIABLE)
		env_fail(e, "'%.*s' is undefined", JV_SHOWN(v));
	if (v.undef == UNDEF_ELEMENT)
		env_fail(e, "%s object has no element %.*s", type, JV_SHOWN(v));
	if (v.owner == JV_NONE)
		env_fail(e, "'None' has no attribute '%.*s'", JV_SHOWN(v));
	env_fail(e, "'%s object' has no attribute '%.*s'", type, JV_SHOWN(v));
}

struct jv jv_text(struct env *e, const char *s, size_t n)
{
	char *copy = env_text(e, n);

	env_tick(e, n / 64);
	if (n)
		memcpy(copy, s, n);
	return jv_str(copy, n);
}

struct jv jv_since(struct env *e, size_t start)
{
	struct jv v = e->out->n > start ? jv_text(e, e->out->p + start, e->out->n - start) : jv_str("", 0);

	e->out->n = start;
	return v;
}

struct jv jv_concat(struct env *e, struct jv a, struct jv b)
{
	size_t n = (size_t)a.n + b.n;
	char *s;

	if (!a.n || !b.n)
		return jv_markup(a.n ? a : b, false);
	env_tick(e, b.n / 64);
	if (!arena_extend(e->arena, a.s, a.n, b.n)) {
		memcpy((char *)e->arena->top - b.n, b.s, b.n);
		return jv_str(a.s, n);
	}
	env_tick(e, a.n / 64);
	s = env_text(e, n);
	memcpy(s, a.s, a.n);
	memcpy(s + a.n, b.s, b.n);
	return jv_str(s, n);
}

const char *jv_find(struct env *e, struct jv s, struct jv what, bool last)
{
	const char *at = s.s, *end = at + s.n;

	if (what.n > s.n || !what.n)
		return what.n ? NULL : last ? end : at;
	at += last ? s.n - what.n : 0;
	while (at && memcmp(at, what.s, what.n)) {
		env_tick(e, what.n / 256);
		if (last)
			at = at > s.s ? at - 1 : NULL;
		else
			at = memchr(at + 1, *what.s, (size_t)(end - what.n - at));
	}
	env_tick(e, 1 + (uint64_t)(!at ? s.n : last ? end - at : at - s.s) / 4);
	return at;
}

struct jv jv_from_json(struct env *e, const struct json *v)
{
	struct jv out;

	switch (v->type) {
	case JSON_NULL:
		return jv_none;
	case JSON_FALSE:
	case JSON_TRUE:
		return jv_bool(v->type == JSON_TRUE);
	case JSON_INT:
		return jv_int(v->i);
	case JSON_FLOAT:
		return jv_float(v->d);
	case JSON_BIG:
		return (struct jv){ .kind = JV_BIG, .n = (uint32_t)v->n, .s = v->s };
	case JSON_STRING:
		if (v->n > UINT32_MAX / 2)
			env_full(e);
		return jv_str(v->s, v->n);
	case JSON_OBJECT:
		out = jv_dict(e, JV_DICT);
		for (const struct json *m = v->child; m; m = m->next)
			jv_dict_set(e, out.dict, jv_str(m->key, m->key_n), jv_from_json(e, m));
		return out;
	case JSON_ARRAY:
		break;
	}
	out = jv_list(e, JV_LIST, v->n > UINT32_MAX ? UINT32_MAX : (uint32_t)v->n);
	for (const struct json *c = v->child; c; c = c->next)
		jv_push(e, out.list, jv_from_json(e, c));
	return out;
}

struct jv jv_list(struct env *e, enum jv_kind kind, uint32_t cap)
{
	struct jv_list *l = ENV_NEW(e, struct jv_list);

	l->items = cap ? env_array(e, cap, sizeof *l->items) : NULL;
	l->cap = cap;
	return (struct jv){ .kind = (uint8_t)kind, .list = l };
}

struct jv jv_iter(struct jv v, const char *type)
{
	v.kind = JV_ITER;
	v.list->type = type;
	v.list->single_use = strncmp(type, "dict_", 5) != 0;
	return v;
}

void jv_own(struct env *e, struct jv_list *l, uint32_t extra)
{
	uint32_t cap = l->n < 8 ? 8 : l->n > UINT32_MAX / 2 ? UINT32_MAX : l->n * 2;
	struct jv *items;

	if (l->cap && extra <= l->cap - l->n)
		return;
	if (extra > cap - l->n)
		cap = extra > UINT32_MAX - l->n ? UINT32_MAX : l->n + extra;
	env_tick(e, l->n / 4);
	items = env_array(e, cap, sizeof *items);
	if (l->n)
		memcpy(items, l->items, l->n * sizeof *items);
	l->items = items;
	l->cap = cap;
}

void jv_push(struct env *e, struct jv_list *l, struct jv v)
{
	jv_own(e, l, 1);
	l->items[l->n++] = v;
}

void jv_extend(struct env *e, struct jv_list *l, const struct jv_list *more)
{
	uint32_t n = more->n;

	env_tick(e, 1 + n / 4);
	if (n > UINT32_MAX - l->n)
		env_full(e);
	jv_own(e, l, n);
	if (n)
		memcpy(l->items + l->n, more->items, n * sizeof *l->items);
	l->n += n;
}

struct jv jv_share(struct env *e, enum jv_kind kind, struct jv_list *l, uint32_t from, uint32_t n)
{
	struct jv out = jv_list(e, kind, 0);

	l->cap = 0;
	out.list->n = n < l->n - from ? n : l->n - from;
	out.list->items = out.list->n ? l->items + from : NULL;
	return out;
}

struct jv jv_pair_of(struct env *e, struct jv a, struct jv b)
{
	struct jv t = jv_list(e, JV_TUPLE, 2);

	jv_push(e, t.list, a);
	jv_push(e, t.list, b);
	return t;
}

struct jv jv_range(struct env *e, struct jv_range r)
{
	struct jv_range *copy = ENV_NEW(e, struct jv_range);

	*copy = r;
	return (struct jv){ .kind = JV_RANGE, .range = copy };
}

struct jv jv_range_at(const struct jv_range *r, int64_t i)
{
	return jv_int((int64_t)((uint64_t)r->start + (uint64_t)i * (uint64_t)r->step));
}

struct jv_list *jv_items(struct env *e, struct jv v)
{
	struct jv_list *l;
	struct jv first;
	int32_t c;

	if (!jv_in(v, JV_ITERABLE))
		env_fail(e, "'%s' object is not iterable", jv_type(v));
	if (jv_in(v, JV_ARRAYS) || (v.kind == JV_ITER && !v.list->single_use))
		return v.list;
	l = jv_list(e, JV_LIST, v.kind == JV_ITER ? 0 : (uint32_t)jv_length(e, v)).list;
	if (v.kind == JV_ITER) {
		*l = *v.list;
		*v.list = (struct jv_list){ .type = l->type, .single_use = true };
		return l;
	}
	env_tick(e, l->cap / 4);
	v = jv_markup(v, false);
	if (v.kind == JV_STR)
		while (jv_next(&v, &first, &c))
			l->items[l->n++] = first;
	for (; l->n < l->cap; l->n++)
		l->items[l->n] = v.kind == JV_RANGE ? jv_range_at(v.range, l->n)
			: v.kind == JV_BYTES ? jv_int((unsigned char)v.s[l->n]) : v.dict->pairs[l->n].key;
	return l;
}

int64_t jv_length(struct env *e, struct jv v)
{
	if (v.kind == JV_UNDEF)
		return 0;
	if (v.kind == JV_STR) {
		env_tick(e, v.n / 8);
		return (int64_t)text_length(v.s, v.n);
	}
	if (v.kind == JV_BYTES)
		return v.n;
	if (!counts(v))
		env_fail(e, "object of type '%s' has no len()", jv_type(v));
	return *v.count;
}

/* Exactly: as doubles, neighbours above 2^53 would be equal. NaN is below all integers. */
static int order_mixed(int64_t i, double d)
{
	int64_t whole;

	if (d >= 0x1p63)
		return -1;
	if (!(d >= -0x1p63))
		return 1;
	whole = (int64_t)d;
	return i != whole ? (i > whole) - (i < whole) : (d < (double)whole) - (d > (double)whole);
}

static int order_numbers(struct jv a, struct jv b)
{
	if (a.kind == JV_FLOAT && b.kind == JV_FLOAT)
		return (a.d > b.d) - (a.d < b.d);
	if (a.kind == JV_FLOAT)
		return -order_mixed(jv_integer(b), a.d);
	if (b.kind == JV_FLOAT)
		return order_mixed(jv_integer(a), b.d);
	return (jv_integer(a) > jv_integer(b)) - (jv_integer(a) < jv_integer(b));
}

/* Two lists, tuples or dicts. */
static bool equal_items(struct env *e, struct jv a, struct jv b)
{
	bool same = *a.count == *b.count;

	for (uint32_t i = 0; same && i < *a.count; i++) {
		const struct jv *other = a.kind == JV_DICT ? jv_dict_get(e, b.dict, a.dict->pairs[i].key)
			: &b.list->items[i];

		same = other && jv_equal(e, a.kind == JV_DICT ? a.dict->pairs[i].value : a.list->items[i], *other);
	}
	return same;
}

bool jv_equal(struct env *e, struct jv a, struct jv b)
{
	bool same;

	env_tick(e, 1);
	if (a.kind == JV_FLOAT && b.kind == JV_FLOAT)
		return a.d == b.d;
	if (jv_in(a, JV_NUMBERS) && jv_in(b, JV_NUMBERS))
		return !order_numbers(a, b);
	if (a.kind == JV_BIG && b.kind == JV_FLOAT && isfinite(b.d))
		b = number_truncated(e, b.d);
	else if (b.kind == JV_BIG && a.kind == JV_FLOAT && isfinite(a.d))
		a = number_truncated(e, a.d);
	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case JV_UNDEF:
	case JV_NONE:
		return true;
	case JV_STR:
	case JV_BYTES:
	case JV_BIG:
		if (a.n != b.n || !a.n)
			return a.n == b.n;
		env_tick(e, a.n / 64);
		return !memcmp(a.s, b.s, a.n);
	case JV_RANGE:
		return *a.count == *b.count && (!*a.count || (a.range->start == b.range->start
			&& (*a.count == 1 || a.range->step == b.range->step)));
	case JV_METHOD:
		return a.method->builtin == b.method->builtin && a.method->self.list == b.method->self.list;
	}
	if (a.list == b.list || !jv_in(a, JV_ARRAYS | KIND(JV_DICT)))
		return a.list == b.list;
	env_enter(e);
	same = equal_items(e, a, b);
	e->depth--;
	return same;
}

bool jv_contains(struct env *e, struct jv container, struct jv item)
{
	const struct jv_list *l;

	if (container.kind == JV_STR) {
		jv_defined(e, item);
		if (item.kind != JV_STR)
			env_fail(e, "'in <string>' requires string as left operand, not %s", jv_type(item));
		return jv_find(e, container, item, false);
	}
	if (container.kind == JV_DICT) {
		if (item.kind == JV_LIST || item.kind == JV_DICT)
			env_fail(e, "unhashable type: '%s'", jv_type(item));
		return jv_dict_get(e, container.dict, item);
	}
	if (container.kind < JV_STR && container.kind != JV_UNDEF)
		env_fail(e, "argument of type '%s' is not iterable", jv_type(container));
	l = jv_items(e, container);
	for (uint32_t i = 0; i < l->n; i++)
		if (jv_equal(e, l->items[i], item))
			return true;
	return false;
}

int jv_order(struct env *e, struct jv a, struct jv b, const char *op)
{
	int order;

	jv_defined(e, a);
	jv_defined(e, b);
	if (jv_in(a, JV_NUMBERS) && jv_in(b, JV_NUMBERS))
		return order_numbers(a, b);
	if (a.kind == JV_BIG || b.kind == JV_BIG)
		number_overflow(e);
	if (a.kind == b.kind && jv_in(a, KIND(JV_STR) | KIND(JV_BYTES))) {
		uint32_t n = a.n < b.n ? a.n : b.n;

		env_tick(e, n / 64);
		order = n ? memcmp(a.s, b.s, n) : 0;
		return order ? order : (a.n > b.n) - (a.n < b.n);
	}
	if (a.kind != b.kind || !jv_in(a, JV_ARRAYS))
		env_fail(e, "'%s' not supported between instances of '%s' and '%s'", op, jv_type(a), jv_type(b));
	for (uint32_t i = 0; i < a.list->n && i < b.list->n; i++) {
		if (jv_equal(e, a.list->items[i], b.list->items[i]))
			continue;
		env_enter(e);
		order = jv_order(e, a.list->items[i], b.list->items[i], op);
		e->depth--;
		return order;
	}
	return (a.list->n > b.list->n) - (a.list->n < b.list->n);
}
