/* The methods of lists, tuples and dicts. */
#include "priv.h"

#include <string.h>

static struct jv list_append(struct env *e, struct call *c)
{
	return jv_push(e, c->self.list, c->arg[0]) ? jv_error() : jv_none();
}

static struct jv list_extend(struct env *e, struct call *c)
{
	struct jv_list *more = jv_walk(e, c->arg[0]), *l = c->self.list;
	uint32_t n = more ? more->n : 0;

	if (!more || jinja_tick(e, n) || jv_own(e, l, n))
		return jv_error();
	for (uint32_t i = 0; i < n; i++)
		l->items[l->n++] = more->items[i];
	return jv_none();
}

static struct jv list_insert(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	int64_t at;

	if (jinja_arg_int(e, c, 0, 0, &at) || jinja_tick(e, l->n / 8) || jv_own(e, l, 1))
		return jv_error();
	at = at < 0 ? (at + l->n < 0 ? 0 : at + l->n) : at > l->n ? l->n : at;
	memmove(l->items + at + 1, l->items + at, (l->n - (size_t)at) * sizeof *l->items);
	l->items[at] = c->arg[1];
	l->n++;
	return jv_none();
}

static struct jv take_item(struct env *e, struct jv_list *l, int64_t at)
{
	struct jv v;

	if (jinja_tick(e, l->n / 8) || jv_own(e, l, 1))
		return jv_error();
	v = l->items[at];
	memmove(l->items + at, l->items + at + 1, (l->n - (size_t)at - 1) * sizeof *l->items);
	l->n--;
	return v;
}

static struct jv list_pop(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	int64_t at;

	if (jinja_arg_int(e, c, 0, -1, &at))
		return jv_error();
	at = at < 0 ? at + l->n : at;
	if (at < 0 || at >= l->n)
		return jv_fail(e, l->n ? "pop index out of range" : "pop from empty list");
	return take_item(e, l, at);
}

/* The place of an equal item; l->n if there is none, -1 for an error. */
static int64_t place(struct env *e, const struct jv_list *l, struct jv item)
{
	for (uint32_t i = 0; i < l->n; i++) {
		int same = jv_equal(e, l->items[i], item);

		if (same)
			return same < 0 ? -1 : (int64_t)i;
	}
	return l->n;
}

static struct jv list_remove(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	int64_t at = place(e, l, c->arg[0]);

	if (at == l->n)
		return jv_fail(e, "list.remove(x): x not in list");
	return at < 0 || take_item(e, l, at).kind == JV_ERROR ? jv_error() : jv_none();
}

static struct jv list_index(struct env *e, struct call *c)
{
	int64_t at = place(e, c->self.list, c->arg[0]);

	if (at == c->self.list->n)
		return jv_fail(e, "the item is not in the %s", jv_type(c->self));
	return at < 0 ? jv_error() : jv_int(at);
}

static struct jv list_count(struct env *e, struct call *c)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < c->self.list->n; i++)
		n += jv_equal(e, c->self.list->items[i], c->arg[0]) == 1;
	return e->failed ? jv_error() : jv_int(n);
}

static struct jv list_copy(struct env *e, struct call *c)
{
	struct jv copy = jv_list(e, JV_LIST, 0);

	if (copy.kind == JV_ERROR)
		return copy;
	c->self.list->cap = 0;
	*copy.list = *c->self.list;
	return copy;
}

static struct jv list_clear(struct env *e, struct call *c)
{
	*c->self.list = (struct jv_list){ 0 };
	return jv_none();
}

static struct jv list_reverse(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;

	if (jinja_tick(e, l->n) || jv_own(e, l, 1))
		return jv_error();
	for (uint32_t i = 0; i < l->n / 2; i++) {
		struct jv t = l->items[i];

		l->items[i] = l->items[l->n - 1 - i];
		l->items[l->n - 1 - i] = t;
	}
	return jv_none();
}

static struct jv list_sort(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	struct jv_pair *pairs = arena_array(&e->arena, l->n, sizeof *pairs);

	if (!pairs || jv_own(e, l, 1))
		return jv_full(e);
	for (uint32_t i = 0; i < l->n; i++)
		pairs[i].key = pairs[i].value = l->items[i];
	if (jinja_sort(e, pairs, l->n, jinja_arg_true(c, 0, false)))
		return jv_error();
	for (uint32_t i = 0; i < l->n; i++)
		l->items[i] = pairs[i].value;
	return jv_none();
}

const struct builtin jinja_list_methods[] = {
	{ "append", list_append, "item" }, { "clear", list_clear, "" }, { "copy", list_copy, "" }, { "count", list_count, "item" },
	{ "extend", list_extend, "items" }, { "index", list_index, "item" }, { "insert", list_insert, "place item" },
	{ "pop", list_pop, "?place" }, { "remove", list_remove, "item" }, { "reverse", list_reverse, "" }, { "sort", list_sort, "?reverse" },
	{ 0 },
};

const struct builtin jinja_tuple_methods[] = { { "count", list_count, "item" }, { "index", list_index, "item" }, { 0 } };

static struct jv dict_get(struct env *e, struct call *c)
{
	struct jv *v = jv_dict_get(e, c->self.dict, c->arg[0]);

	return v ? *v : c->arg[1].kind == JV_ABSENT ? jv_none() : c->arg[1];
}

enum view { KEYS, VALUES, ITEMS };

static struct jv view(struct env *e, const struct jv_dict *d, enum view what, const char *type)
{
	struct jv l = jv_list(e, JV_LIST, d->n);

	if (l.kind == JV_ERROR || jinja_tick(e, d->n))
		return jv_error();
	for (uint32_t i = 0; i < d->n; i++) {
		struct jv v = what == KEYS ? d->pairs[i].key : d->pairs[i].value;

		if (what == ITEMS)
			v = jv_pair_of(e, d->pairs[i].key, v);
		if (v.kind == JV_ERROR)
			return v;
		l.list->items[l.list->n++] = v;
	}
	return jv_iter(l, type);
}

static struct jv dict_keys(struct env *e, struct call *c)
{
	return view(e, c->self.dict, KEYS, "dict_keys");
}

static struct jv dict_values(struct env *e, struct call *c)
{
	return view(e, c->self.dict, VALUES, "dict_values");
}

static struct jv dict_items(struct env *e, struct call *c)
{
	return view(e, c->self.dict, ITEMS, "dict_items");
}

struct jv jinja_dict_items(struct env *e, struct jv dict)
{
	return view(e, dict.dict, ITEMS, "dict_items");
}

static int merge(struct env *e, struct jv_dict *d, const struct jv_dict *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		if (jv_dict_set(e, d, more->pairs[i].key, more->pairs[i].value))
			return -1;
	return 0;
}

static struct jv dict_copy(struct env *e, struct call *c)
{
	struct jv copy = jv_dict(e, JV_DICT);

	return copy.kind == JV_ERROR || merge(e, copy.dict, c->self.dict) ? jv_error() : copy;
}

/* A mapping, or pairs, and named arguments: what dict() and namespace() take too. */
int jinja_fill_dict(struct env *e, struct jv_dict *d, const struct call *c)
{
	if (c->n_pos > 1)
		return jv_fail(e, "%s expected at most 1 argument, got %u", c->name, c->n_pos), -1;
	if (c->n_pos && c->pos[0].kind == JV_DICT) {
		if (merge(e, d, c->pos[0].dict))
			return -1;
	} else if (c->n_pos) {
		struct jv_list *l = jv_walk(e, c->pos[0]);

		for (uint32_t i = 0; l && i < l->n; i++) {
			struct jv_list *pair = jv_walk(e, l->items[i]);

			if (pair && pair->n != 2)
				jv_fail(e, "dictionary update sequence element #%u has length %u; 2 is required", i, pair->n);
			if (e->failed || jv_dict_set(e, d, pair->items[0], pair->items[1]))
				return -1;
		}
	}
	for (uint32_t i = 0; i < c->n_kw; i++)
		if (jv_dict_set(e, d, jv_str(c->kw[i].s, c->kw[i].n), c->kw[i].value))
			return -1;
	return e->failed ? -1 : 0;
}

static struct jv dict_update(struct env *e, struct call *c)
{
	return jinja_fill_dict(e, c->self.dict, c) ? jv_error() : jv_none();
}

static struct jv dict_setdefault(struct env *e, struct call *c)
{
	struct jv *v = jv_dict_get(e, c->self.dict, c->arg[0]), fallback = c->arg[1].kind == JV_ABSENT ? jv_none() : c->arg[1];

	if (v)
		return *v;
	return jv_dict_set(e, c->self.dict, c->arg[0], fallback) ? jv_error() : fallback;
}

static struct jv dict_pop(struct env *e, struct call *c)
{
	struct jv_dict *d = c->self.dict;
	struct jv *at = jv_dict_get(e, d, c->arg[0]), v;

	if (!at)
		return c->arg[1].kind == JV_ABSENT ? jv_fail(e, "pop: the dict has no such key") : c->arg[1];
	v = *at;
	if (jinja_tick(e, d->n / 4))
		return jv_error();
	jv_dict_remove(d, (uint32_t)((struct jv_pair *)((char *)at - offsetof(struct jv_pair, value)) - d->pairs));
	return v;
}

static struct jv dict_popitem(struct env *e, struct call *c)
{
	struct jv_dict *d = c->self.dict;
	struct jv pair;

	if (!d->n)
		return jv_fail(e, "popitem(): dictionary is empty");
	pair = jv_pair_of(e, d->pairs[d->n - 1].key, d->pairs[d->n - 1].value);
	if (pair.kind != JV_ERROR)
		jv_dict_remove(d, d->n - 1);
	return pair;
}

static struct jv dict_clear(struct env *e, struct call *c)
{
	*c->self.dict = (struct jv_dict){ 0 };
	return jv_none();
}

const struct builtin jinja_dict_methods[] = {
	{ "clear", dict_clear, "" }, { "copy", dict_copy, "" }, { "get", dict_get, "key ?default" }, { "items", dict_items, "" },
	{ "keys", dict_keys, "" }, { "pop", dict_pop, "key ?default" }, { "popitem", dict_popitem, "" },
	{ "setdefault", dict_setdefault, "key ?default" }, { "update", dict_update, NULL }, { "values", dict_values, "" },
	{ 0 },
};
