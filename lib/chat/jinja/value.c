/* Values: making them, lists and dicts, equality and order. */
#include "priv.h"

#include "lib/base/utf8.h"

#include <math.h>
#include <string.h>

bool jv_is(struct jv v, const char *s)
{
	return v.kind == JV_STR && v.n == strlen(s) && !memcmp(v.s, s, v.n);
}

const char *jv_type(struct jv v)
{
	static const char *const names[] = {
		[JV_ABSENT] = "absent", [JV_ERROR] = "error", [JV_UNDEF] = "Undefined", [JV_NONE] = "NoneType", [JV_BOOL] = "bool",
		[JV_INT] = "int", [JV_BIG] = "int", [JV_FLOAT] = "float", [JV_STR] = "str", [JV_LIST] = "list", [JV_TUPLE] = "tuple",
		[JV_ITER] = "generator", [JV_RANGE] = "range", [JV_DICT] = "dict", [JV_NAMESPACE] = "Namespace",
		[JV_BUILTIN] = "function", [JV_METHOD] = "builtin_function_or_method", [JV_MACRO] = "Macro", [JV_LOOP] = "LoopContext",
	};

	if (v.kind == JV_ITER)
		return v.list->type;
	return v.kind == JV_STR && v.markup ? "Markup" : names[v.kind];
}

bool jv_true(struct jv v)
{
	switch (v.kind) {
	case JV_ABSENT:
	case JV_ERROR:
	case JV_UNDEF:
	case JV_NONE:
		return false;
	case JV_BOOL:
		return v.b;
	case JV_INT:
		return v.i != 0;
	case JV_FLOAT:
		return v.d != 0;
	case JV_STR:
		return v.n != 0;
	case JV_LIST:
	case JV_TUPLE:
		return v.list->n != 0;
	case JV_ITER:
		return v.list->once || v.list->n != 0;
	case JV_RANGE:
		return v.range->n != 0;
	case JV_DICT:
		return v.dict->n != 0;
	case JV_LOOP:
		return v.loop->n != 0;
	}
	return true;
}

struct jv jv_undefined(struct env *e, enum jv_kind owner, const char *name, size_t n)
{
	struct jv_undef *u = arena_alloc(&e->arena, sizeof *u);

	if (!u)
		return jv_full(e);
	*u = (struct jv_undef){ .owner = (uint8_t)owner, .name = name, .n = (uint32_t)n };
	return (struct jv){ .kind = JV_UNDEF, .undef = u };
}

struct jv jv_undefined_hint(struct env *e, const char *message)
{
	return jv_undefined(e, JV_ERROR, message, strlen(message));
}

struct jv jv_fail_undefined(struct env *e, struct jv v)
{
	const struct jv_undef *u = v.undef;
	int n = u->n > 300 ? 300 : (int)u->n;
	const char *type = jv_type((struct jv){ .kind = u->owner == JV_ITER ? JV_NONE : u->owner });

	if (u->owner == JV_ERROR)
		return jv_fail(e, "%.*s", n, u->name);
	if (u->owner == JV_ABSENT)
		return jv_fail(e, "'%.*s' is undefined", n, u->name);
	if (u->element)
		return jv_fail(e, "%s object has no element %.*s", type, n, u->name);
	if (u->owner == JV_NONE)
		return jv_fail(e, "'None' has no attribute '%.*s'", n, u->name);
	return jv_fail(e, "'%s object' has no attribute '%.*s'", u->owner == JV_NAMESPACE ? "jinja2.utils.Namespace" : type, n, u->name);
}

struct jv jv_text(struct env *e, const char *s, size_t n)
{
	char *copy = arena_text(&e->arena, n);

	if (!copy || jinja_tick(e, n / 64))
		return jv_full(e);
	if (n)
		memcpy(copy, s, n);
	return jv_str(copy, n);
}

struct jv jv_take(struct env *e, struct bytes *b)
{
	struct jv v = b->failed ? jv_full(e) : jv_text(e, b->p, b->n);

	bytes_free(b);
	return v;
}

struct jv jv_concat(struct env *e, struct jv a, struct jv b)
{
	size_t n = (size_t)a.n + b.n;
	char *s;

	if (!a.n || !b.n)
		return a.n ? a : b;
	if (jinja_tick(e, b.n / 64))
		return jv_error();
	if (!arena_extend(&e->arena, a.s, a.n, b.n)) {
		memcpy((char *)e->arena.top - b.n, b.s, b.n);
		return jv_str(a.s, n);
	}
	s = arena_text(&e->arena, n);
	if (!s || jinja_tick(e, a.n / 64))
		return jv_full(e);
	memcpy(s, a.s, a.n);
	memcpy(s + a.n, b.s, b.n);
	return jv_str(s, n);
}

static struct jv object_from_json(struct env *e, const struct json *v)
{
	struct jv d = jv_dict(e, JV_DICT);

	for (const struct json *m = v->child; m && d.kind != JV_ERROR; m = m->next) {
		struct jv value = jv_from_json(e, m);

		if (value.kind == JV_ERROR || jv_dict_set(e, d.dict, jv_str(m->key, m->key_n), value))
			return jv_error();
	}
	return d;
}

struct jv jv_from_json(struct env *e, const struct json *v)
{
	struct jv list;

	switch (v->type) {
	case JSON_NULL:
		return jv_none();
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
		return v->n > UINT32_MAX / 2 ? jv_full(e) : jv_str(v->s, v->n);
	case JSON_OBJECT:
		return object_from_json(e, v);
	case JSON_ARRAY:
		break;
	}
	list = jv_list(e, JV_LIST, v->n > UINT32_MAX ? UINT32_MAX : (uint32_t)v->n);
	for (const struct json *c = v->child; c && list.kind != JV_ERROR; c = c->next) {
		struct jv item = jv_from_json(e, c);

		if (item.kind == JV_ERROR || jv_push(e, list.list, item))
			return jv_error();
	}
	return list;
}

struct jv jv_list(struct env *e, enum jv_kind kind, uint32_t cap)
{
	struct jv_list *l = arena_array(&e->arena, 1, sizeof *l);

	if (!l || (cap && !(l->items = arena_array(&e->arena, cap, sizeof *l->items))))
		return jv_full(e);
	l->cap = cap;
	return (struct jv){ .kind = (uint8_t)kind, .list = l };
}

struct jv jv_iter(struct jv v, const char *type)
{
	if (v.kind != JV_ERROR) {
		v.kind = JV_ITER;
		v.list->type = type;
		v.list->once = strncmp(type, "dict_", 5) != 0;
	}
	return v;
}

int jv_own(struct env *e, struct jv_list *l, uint32_t extra)
{
	uint32_t cap = l->n < 8 ? 8 : l->n > UINT32_MAX / 2 ? UINT32_MAX : l->n * 2;
	struct jv *items;

	if (l->cap && extra <= l->cap - l->n)
		return 0;
	if (extra > cap - l->n)
		cap = extra > UINT32_MAX - l->n ? UINT32_MAX : l->n + extra;
	items = arena_array(&e->arena, cap, sizeof *items);
	if (!items || jinja_tick(e, l->n / 4)) {
		jv_full(e);
		return -1;
	}
	if (l->n)
		memcpy(items, l->items, l->n * sizeof *items);
	l->items = items;
	l->cap = cap;
	return 0;
}

int jv_push(struct env *e, struct jv_list *l, struct jv v)
{
	if (jv_own(e, l, 1))
		return -1;
	l->items[l->n++] = v;
	return 0;
}

struct jv jv_pair_of(struct env *e, struct jv a, struct jv b)
{
	struct jv t = jv_list(e, JV_TUPLE, 2);

	if (t.kind != JV_ERROR) {
		t.list->items[0] = a;
		t.list->items[1] = b;
		t.list->n = 2;
	}
	return t;
}

struct jv jv_range_at(const struct jv_range *r, int64_t i)
{
	return jv_int(r->start + i * r->step);
}

static struct jv_list *characters(struct env *e, struct jv v)
{
	struct jv l = jv_list(e, JV_LIST, (uint32_t)text_length(v.s, v.n));
	unsigned used;

	if (l.kind == JV_ERROR || jinja_tick(e, v.n / 8))
		return NULL;
	for (uint32_t at = 0; at < v.n; at += used) {
		struct jv c;

		utf8_next(v.s + at, v.n - at, &used);
		c = jv_str(v.s + at, used);
		c.markup = v.markup;
		l.list->items[l.list->n++] = c;
	}
	return l.list;
}

struct jv_list *jv_walk(struct env *e, struct jv v)
{
	struct jv l;
	struct jv_list *once;

	switch (v.kind) {
	case JV_STR:
		return characters(e, v);
	case JV_LIST:
	case JV_TUPLE:
		return v.list;
	case JV_ITER:
		if (!v.list->once)
			return v.list;
		once = jv_list(e, JV_LIST, 0).list;
		if (once && !e->failed) {
			*once = *v.list;
			*v.list = (struct jv_list){ .type = once->type, .once = true };
		}
		return e->failed ? NULL : once;
	case JV_RANGE:
	case JV_DICT:
	case JV_UNDEF:
		break;
	default:
		jv_fail(e, "'%s' object is not iterable", jv_type(v));
		return NULL;
	}
	l = jv_list(e, JV_LIST, v.kind == JV_RANGE ? (uint32_t)v.range->n : v.kind == JV_DICT ? v.dict->n : 0);
	if (l.kind == JV_ERROR || jinja_tick(e, l.list->cap / 4))
		return NULL;
	for (; l.list->n < l.list->cap; l.list->n++)
		l.list->items[l.list->n] = v.kind == JV_RANGE ? jv_range_at(v.range, l.list->n) : v.dict->pairs[l.list->n].key;
	return l.list;
}

int64_t jv_length(struct env *e, struct jv v)
{
	switch (v.kind) {
	case JV_UNDEF:
		return 0;
	case JV_STR:
		return jinja_tick(e, v.n / 8) ? -1 : (int64_t)text_length(v.s, v.n);
	case JV_LIST:
	case JV_TUPLE:
		return v.list->n;
	case JV_RANGE:
		return v.range->n;
	case JV_DICT:
		return v.dict->n;
	case JV_ITER:
		if (!v.list->once)
			return v.list->n;
		break;
	default:
		break;
	}
	jv_fail(e, "object of type '%s' has no len()", jv_type(v));
	return -1;
}

static int equal_lists(struct env *e, const struct jv_list *a, const struct jv_list *b)
{
	int same = a->n == b->n;

	for (uint32_t i = 0; same == 1 && i < a->n && i < b->n; i++)
		same = jv_equal(e, a->items[i], b->items[i]);
	return same;
}

static int equal_dicts(struct env *e, const struct jv_dict *a, const struct jv_dict *b)
{
	int same = a->n == b->n;

	for (uint32_t i = 0; same == 1 && i < a->n; i++) {
		struct jv *other = jv_dict_get(e, b, a->pairs[i].key);

		same = other ? jv_equal(e, a->pairs[i].value, *other) : 0;
	}
	return same;
}

static int equal_ranges(const struct jv_range *a, const struct jv_range *b)
{
	return a->n == b->n && (!a->n || (a->start == b->start && (a->n == 1 || a->step == b->step)));
}

int jv_equal(struct env *e, struct jv a, struct jv b)
{
	int same;

	if (jinja_tick(e, 1))
		return -1;
	if (jv_is_integer(a) && jv_is_integer(b))
		return jv_integer(a) == jv_integer(b);
	if (jv_is_number(a) && jv_is_number(b))
		return jv_number(a) == jv_number(b);
	if (a.kind != b.kind)
		return 0;
	switch (a.kind) {
	case JV_UNDEF:
	case JV_NONE:
		return 1;
	case JV_STR:
	case JV_BIG:
		if (a.n != b.n || !a.n)
			return a.n == b.n;
		return jinja_tick(e, a.n / 64) ? -1 : !memcmp(a.s, b.s, a.n);
	case JV_RANGE:
		return equal_ranges(a.range, b.range);
	case JV_LIST:
	case JV_TUPLE:
	case JV_DICT:
		break;
	case JV_METHOD:
		return a.method->builtin == b.method->builtin && a.method->self.list == b.method->self.list;
	default:
		return a.list == b.list;
	}
	if (a.list == b.list)
		return 1;
	if (jinja_deeper(e))
		return -1;
	same = a.kind == JV_DICT ? equal_dicts(e, a.dict, b.dict) : equal_lists(e, a.list, b.list);
	e->depth--;
	return same;
}

int jv_contains(struct env *e, struct jv container, struct jv item)
{
	struct jv_list *l;

	if (container.kind == JV_STR) {
		if (item.kind == JV_UNDEF)
			return jv_fail_undefined(e, item), -1;
		if (item.kind != JV_STR)
			return jv_fail(e, "'in <string>' requires string as left operand, not %s", jv_type(item)), -1;
		return text_find_cost(e, container.n, item.n) ? -1 : text_find(container.s, container.n, item.s, item.n) != NULL;
	}
	if (container.kind == JV_DICT) {
		if (item.kind == JV_LIST || item.kind == JV_DICT)
			return jv_fail(e, "unhashable type: '%s'", jv_type(item)), -1;
		return jv_dict_get(e, container.dict, item) != NULL;
	}
	if (container.kind < JV_STR && container.kind != JV_UNDEF)
		return jv_fail(e, "argument of type '%s' is not iterable", jv_type(container)), -1;
	l = jv_walk(e, container);
	if (!l)
		return -1;
	for (uint32_t i = 0; i < l->n; i++) {
		int same = jv_equal(e, l->items[i], item);

		if (same)
			return same;
	}
	return 0;
}

static int sign(double a, double b)
{
	return (a > b) - (a < b);
}

int jv_order(struct env *e, struct jv a, struct jv b, const char *op, int *order)
{
	if (a.kind == JV_UNDEF || b.kind == JV_UNDEF)
		return jv_fail_undefined(e, a.kind == JV_UNDEF ? a : b), -1;
	if (jv_is_integer(a) && jv_is_integer(b)) {
		*order = (jv_integer(a) > jv_integer(b)) - (jv_integer(a) < jv_integer(b));
		return 0;
	}
	if (jv_is_number(a) && jv_is_number(b)) {
		*order = sign(jv_number(a), jv_number(b));
		return 0;
	}
	if (a.kind == JV_STR && b.kind == JV_STR) {
		uint32_t n = a.n < b.n ? a.n : b.n;
		int c = n ? memcmp(a.s, b.s, n) : 0;

		*order = c ? c : (a.n > b.n) - (a.n < b.n);
		return jinja_tick(e, n / 64);
	}
	if (a.kind != b.kind || (a.kind != JV_LIST && a.kind != JV_TUPLE))
		return jv_fail(e, "'%s' not supported between instances of '%s' and '%s'", op, jv_type(a), jv_type(b)), -1;
	for (uint32_t i = 0; i < a.list->n && i < b.list->n; i++) {
		int same = jv_equal(e, a.list->items[i], b.list->items[i]), failed;

		if (same < 0 || (!same && jinja_deeper(e)))
			return -1;
		if (same)
			continue;
		failed = jv_order(e, a.list->items[i], b.list->items[i], op, order);
		e->depth--;
		return failed;
	}
	*order = (a.list->n > b.list->n) - (a.list->n < b.list->n);
	return 0;
}
