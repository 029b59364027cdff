/* The filters that go over the items of their operand. What Python gives as a generator is a JV_ITER here, made whole at once. */
#include "priv.h"

#include <string.h>

static const struct jv absent;

static struct jv generator(struct env *e)
{
	return jv_iter(jv_list(e, JV_LIST, 0), "generator");
}

/* One step of a.b.0: an item of that name or number, else an attribute. */
static struct jv step(struct env *e, struct jv v, const char *s, size_t n)
{
	int64_t place = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || n > 9)
			return jinja_getitem(e, v, jv_str(s, n));
		place = place * 10 + (s[i] - '0');
	}
	return jinja_getitem(e, v, n ? jv_int(place) : jv_str(s, n));
}

/* The attribute of v that a filter's argument names; v itself if none was given. */
static struct jv attribute(struct env *e, struct jv v, struct jv path)
{
	const char *s, *end;

	if (path.kind == JV_ABSENT || path.kind == JV_NONE)
		return v;
	if (jv_is_integer(path))
		return jinja_getitem(e, v, path);
	if (path.kind != JV_STR)
		return jv_fail(e, "an attribute is named by a string or a number, not %s", jv_type(path));
	for (s = path.n ? path.s : "", end = s + path.n; v.kind != JV_ERROR;) {
		const char *dot = path.n ? memchr(s, '.', (size_t)(end - s)) : NULL;

		v = step(e, v, s, (size_t)((dot ? dot : end) - s));
		if (!dot)
			break;
		s = dot + 1;
	}
	return v;
}

/* What items are ordered by: strings without their case unless asked for. */
static struct jv order_key(struct env *e, struct jv v, bool case_sensitive)
{
	return v.kind == JV_STR && !case_sensitive ? text_recase(e, v, TEXT_LOWER) : v;
}

static bool goes_first(struct env *e, const struct jv_pair *right, const struct jv_pair *left, bool reverse)
{
	int order = 0;

	if (!e->failed && jv_order(e, right->key, left->key, "<", &order))
		return false;
	return reverse ? order > 0 : order < 0;
}

/* Bottom-up merging: stable, and never worse than n log n. */
int jinja_sort(struct env *e, struct jv_pair *pairs, uint32_t n, bool reverse)
{
	struct jv_pair *from = pairs, *to = arena_array(&e->arena, n, sizeof *to), *swap;

	if (!to)
		return jv_full(e), -1;
	for (uint64_t width = 1; width < n; width *= 2) {
		for (uint64_t start = 0; start < n; start += 2 * width) {
			uint64_t i = start, middle = start + width < n ? start + width : n, end = start + 2 * width < n ? start + 2 * width : n, j = middle;

			for (uint64_t k = start; k < end; k++)
				to[k] = i == middle || (j < end && goes_first(e, &from[j], &from[i], reverse)) ? from[j++] : from[i++];
		}
		if (jinja_tick(e, n))
			return -1;
		swap = from;
		from = to;
		to = swap;
	}
	if (from != pairs)
		memcpy(pairs, from, n * sizeof *pairs);
	return e->failed ? -1 : 0;
}

static struct jv f_length(struct env *e, struct call *c)
{
	int64_t n = jv_length(e, c->self);

	return n < 0 ? jv_error() : jv_int(n);
}

static struct jv f_first(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->self);

	if (!l)
		return jv_error();
	if (c->self.kind == JV_ITER && c->self.list->once && l->n) {
		struct jv_list *rest = c->self.list;

		rest->items = l->items + 1;
		rest->n = l->n - 1;
	}
	return l->n ? l->items[0] : jv_undefined_hint(e, "No first item, sequence was empty.");
}

static struct jv f_last(struct env *e, struct call *c)
{
	struct jv_list *l;

	if (c->self.kind == JV_ITER && c->self.list->once)
		return jv_fail(e, "'%s' object is not reversible", jv_type(c->self));
	l = jv_walk(e, c->self);
	if (!l)
		return jv_error();
	return l->n ? l->items[l->n - 1] : jv_undefined_hint(e, "No last item, sequence was empty.");
}

static struct jv f_list(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->self);
	struct jv out = l ? jv_list(e, JV_LIST, 0) : jv_error();

	if (out.kind != JV_ERROR) {
		l->cap = 0;
		out.list->items = l->items;
		out.list->n = l->n;
	}
	return out;
}

static struct jv f_reverse(struct env *e, struct call *c)
{
	struct jv minus[3] = { jv_none(), jv_none(), jv_int(-1) }, out;
	struct jv_list *l;

	if (c->self.kind == JV_STR)
		return jinja_slice(e, c->self, minus);
	l = jv_walk(e, c->self);
	if (!l)
		return jv_error();
	out = jinja_slice(e, (struct jv){ .kind = JV_LIST, .list = l }, minus);
	return jv_iter(out, "list_reverseiterator");
}

static struct jv f_join(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->self);
	struct jv between = c->arg[0].kind == JV_ABSENT ? jv_str("", 0) : jv_to_str(e, c->arg[0]);
	struct bytes b = jinja_buffer(e);

	for (uint32_t i = 0; l && i < l->n && !e->failed; i++) {
		struct jv item = attribute(e, l->items[i], c->arg[1]);

		if (i)
			bytes_put(&b, between.s, between.n);
		if (item.kind == JV_ERROR || jinja_tick(e, 1) || jv_put_str(e, &b, item))
			break;
	}
	if (e->failed) {
		bytes_free(&b);
		return jv_error();
	}
	return jv_take(e, &b);
}

/* The items of self, each with its key by the attributes (several between commas) and case; `missing` stands for undefined ones. */
static struct jv_pair *keyed(struct env *e, const struct call *c, struct jv path, struct jv missing, bool case_sensitive, uint32_t *n)
{
	struct jv_list *l = jv_walk(e, c->self);
	struct jv_pair *pairs = l ? arena_array(&e->arena, l->n, sizeof *pairs) : NULL;

	if (!pairs)
		return jv_full(e), NULL;
	*n = l->n;
	for (uint32_t i = 0; i < l->n; i++) {
		struct jv rest = path, key = jv_list(e, JV_LIST, 1);
		const char *comma = NULL;

		pairs[i].value = l->items[i];
		do {
			struct jv part = rest, one;

			if (path.kind == JV_STR && (comma = rest.n ? memchr(rest.s, ',', rest.n) : NULL)) {
				part.n = (uint32_t)(comma - rest.s);
				rest = jv_str(comma + 1, rest.n - part.n - 1);
			}
			one = attribute(e, l->items[i], part);
			if (one.kind == JV_UNDEF && missing.kind != JV_ABSENT)
				one = missing;
			one = one.kind == JV_ERROR ? one : order_key(e, one, case_sensitive);
			if (one.kind == JV_ERROR || key.kind == JV_ERROR || jinja_tick(e, 1) || jv_push(e, key.list, one))
				return NULL;
		} while (comma);
		pairs[i].key = key.list->n == 1 ? key.list->items[0] : key;
	}
	return pairs;
}

static struct jv values_of(struct env *e, const struct jv_pair *pairs, uint32_t n)
{
	struct jv l = jv_list(e, JV_LIST, n);

	for (uint32_t i = 0; i < n && l.kind != JV_ERROR; i++)
		l.list->items[l.list->n++] = pairs[i].value;
	return l;
}

static struct jv f_sort(struct env *e, struct call *c)
{
	uint32_t n;
	struct jv_pair *pairs = keyed(e, c, c->arg[2], absent, jinja_arg_true(c, 1, false), &n);

	if (!pairs || jinja_sort(e, pairs, n, jinja_arg_true(c, 0, false)))
		return jv_error();
	return values_of(e, pairs, n);
}

static struct jv f_dictsort(struct env *e, struct call *c)
{
	struct jv_dict *d = c->self.dict;
	struct jv_pair *pairs;
	bool by_value = c->arg[1].kind == JV_STR && jv_is(c->arg[1], "value"), case_sensitive = jinja_arg_true(c, 0, false);

	if (c->self.kind == JV_UNDEF)
		return jv_fail_undefined(e, c->self);
	if (c->self.kind != JV_DICT)
		return jv_fail(e, "'%s object' has no attribute 'items'", jv_type(c->self));
	pairs = arena_array(&e->arena, d->n, sizeof *pairs);
	if (!pairs)
		return jv_full(e);
	for (uint32_t i = 0; i < d->n; i++) {
		pairs[i].key = order_key(e, by_value ? d->pairs[i].value : d->pairs[i].key, case_sensitive);
		pairs[i].value = jv_pair_of(e, d->pairs[i].key, d->pairs[i].value);
	}
	if (e->failed || jinja_sort(e, pairs, d->n, jinja_arg_true(c, 2, false)))
		return jv_error();
	return values_of(e, pairs, d->n);
}

static struct jv extreme(struct env *e, struct call *c, bool largest)
{
	uint32_t n, best = 0;
	struct jv_pair *pairs = keyed(e, c, c->arg[1], absent, jinja_arg_true(c, 0, false), &n);

	if (!pairs)
		return jv_error();
	for (uint32_t i = 1; i < n; i++)
		if (goes_first(e, &pairs[i], &pairs[best], largest))
			best = i;
	if (e->failed)
		return jv_error();
	return n ? pairs[best].value : jv_undefined_hint(e, "No aggregated item, sequence was empty.");
}

static struct jv f_min(struct env *e, struct call *c)
{
	return extreme(e, c, false);
}

static struct jv f_max(struct env *e, struct call *c)
{
	return extreme(e, c, true);
}

static struct jv f_unique(struct env *e, struct call *c)
{
	uint32_t n;
	struct jv_pair *pairs = keyed(e, c, c->arg[1], absent, jinja_arg_true(c, 0, false), &n);
	struct jv seen = jv_dict(e, JV_DICT), out = generator(e);

	if (!pairs || seen.kind == JV_ERROR || out.kind == JV_ERROR)
		return jv_error();
	for (uint32_t i = 0; i < n; i++) {
		if (jv_dict_get(e, seen.dict, pairs[i].key))
			continue;
		if (jv_dict_set(e, seen.dict, pairs[i].key, jv_none()) || jv_push(e, out.list, pairs[i].value))
			return jv_error();
	}
	return out;
}

static struct jv f_groupby(struct env *e, struct call *c)
{
	uint32_t n;
	struct jv_pair *pairs = keyed(e, c, c->arg[0], c->arg[1], jinja_arg_true(c, 2, false), &n);
	struct jv groups = jv_list(e, JV_LIST, 0);

	if (!pairs || groups.kind == JV_ERROR || jinja_sort(e, pairs, n, false))
		return jv_error();
	for (uint32_t i = 0, end; i < n; i = end) {
		struct jv items, group, key = attribute(e, pairs[i].value, c->arg[0]);

		for (end = i + 1; end < n && jv_equal(e, pairs[i].key, pairs[end].key) == 1; end++)
			;
		items = values_of(e, pairs + i, end - i);
		if (key.kind == JV_UNDEF && c->arg[1].kind != JV_ABSENT)
			key = c->arg[1];
		group = items.kind == JV_ERROR || key.kind == JV_ERROR ? jv_error() : jv_pair_of(e, key, items);
		if (group.kind == JV_ERROR || jv_push(e, groups.list, group))
			return jv_error();
		group.list->type = "group";
	}
	return groups;
}

static struct jv f_sum(struct env *e, struct call *c)
{
	struct jv_list *l = jv_walk(e, c->self);
	struct jv sum = c->arg[1].kind == JV_ABSENT ? jv_int(0) : c->arg[1];

	for (uint32_t i = 0; l && i < l->n && sum.kind != JV_ERROR; i++) {
		struct jv v = attribute(e, l->items[i], c->arg[0]);

		sum = v.kind == JV_ERROR || jinja_tick(e, 1) ? jv_error() : jinja_arith(e, '+', sum, v);
	}
	return l ? sum : jv_error();
}

/* map, select and their like take anything that is false for an empty list. */
static struct jv_list *walk_if_true(struct env *e, struct jv v)
{
	return jv_true(v) ? jv_walk(e, v) : jv_list(e, JV_LIST, 0).list;
}

/* Keeps the items whose attribute (any: themselves) passes the test named after it, or is true; or those that do not. */
static struct jv choose(struct env *e, struct call *c, bool by_attribute, bool wanted)
{
	uint32_t used = by_attribute;
	struct jv_list *l;
	struct jv out = generator(e);

	if (c->n_pos < used)
		return jv_fail(e, "missing parameter for attribute name");
	if (c->n_pos > used && c->pos[used].kind != JV_STR)
		return jv_fail(e, "a test is named by a string");
	l = walk_if_true(e, c->self);
	if (e->failed || out.kind == JV_ERROR)
		return jv_error();
	for (uint32_t i = 0; i < l->n; i++) {
		struct call test = { .self = l->items[i], .kw = c->kw, .n_kw = c->n_kw };
		int yes;

		if (by_attribute)
			test.self = attribute(e, l->items[i], c->pos[0]);
		if (test.self.kind == JV_ERROR || jinja_tick(e, 2))
			return jv_error();
		if (c->n_pos > used) {
			test.pos = c->pos + used + 1;
			test.n_pos = c->n_pos - used - 1;
			yes = jinja_test(e, c->pos[used].s, c->pos[used].n, &test);
		} else {
			yes = jv_true(test.self);
		}
		if (yes < 0 || (yes == wanted && jv_push(e, out.list, l->items[i])))
			return jv_error();
	}
	return out;
}

static struct jv f_select(struct env *e, struct call *c)
{
	return choose(e, c, false, true);
}

static struct jv f_reject(struct env *e, struct call *c)
{
	return choose(e, c, false, false);
}

static struct jv f_selectattr(struct env *e, struct call *c)
{
	return choose(e, c, true, true);
}

static struct jv f_rejectattr(struct env *e, struct call *c)
{
	return choose(e, c, true, false);
}

static const struct jv *named(const struct call *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_kw; i++)
		if (c->kw[i].n == strlen(name) && !memcmp(c->kw[i].s, name, c->kw[i].n))
			return &c->kw[i].value;
	return NULL;
}

static struct jv f_map(struct env *e, struct call *c)
{
	const struct jv *path = named(c, "attribute"), *fallback = named(c, "default");
	struct jv_list *l;
	struct jv out = generator(e);

	if (c->n_pos ? c->pos[0].kind != JV_STR : !path)
		return jv_fail(e, "map requires a filter argument");
	l = walk_if_true(e, c->self);
	if (e->failed || out.kind == JV_ERROR)
		return jv_error();
	for (uint32_t i = 0; i < l->n; i++) {
		struct call filter = { .self = l->items[i], .pos = c->pos + 1, .n_pos = c->n_pos - 1, .kw = c->kw, .n_kw = c->n_kw };
		struct jv v;

		if (jinja_tick(e, 2))
			return jv_error();
		v = c->n_pos ? jinja_filter(e, c->pos[0].s, c->pos[0].n, &filter) : attribute(e, l->items[i], *path);
		if (v.kind == JV_UNDEF && !c->n_pos && fallback)
			v = *fallback;
		if (v.kind == JV_ERROR || jv_push(e, out.list, v))
			return jv_error();
	}
	return out;
}

const struct builtin jinja_list_filters[] = {
	{ "count", f_length, "" }, { "dictsort", f_dictsort, "?case_sensitive by reverse" }, { "first", f_first, "" },
	{ "groupby", f_groupby, "attribute ?default case_sensitive" }, { "join", f_join, "?d attribute" }, { "last", f_last, "" },
	{ "length", f_length, "" }, { "list", f_list, "" }, { "map", f_map, NULL }, { "max", f_max, "?case_sensitive attribute" },
	{ "min", f_min, "?case_sensitive attribute" }, { "reject", f_reject, NULL }, { "rejectattr", f_rejectattr, NULL },
	{ "reverse", f_reverse, "" }, { "select", f_select, NULL }, { "selectattr", f_selectattr, NULL },
	{ "sort", f_sort, "?reverse case_sensitive attribute" }, { "sum", f_sum, "?attribute start" },
	{ "unique", f_unique, "?case_sensitive attribute" },
	{ 0 },
};
