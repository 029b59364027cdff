/* Filters over items, and the methods of lists, tuples, dicts and loops. What Python returns as a generator is a
 * JV_ITER here, complete from the start. */
#include "builtin.h"

#include <string.h>

/* One step of a.b.0: the item of that name or number, or else the attribute. */
static struct jv path_step(struct env *e, struct jv v, const char *s, size_t n)
{
	int64_t index = 0;

	for (size_t i = 0; i < n; i++) {
		if (!text_is_digit(s[i]) || n > 9)
			return eval_item(e, v, jv_str(s, n));
		index = index * 10 + (s[i] - '0');
	}
	return eval_item(e, v, n ? jv_int(index) : jv_str(s, n));
}

/* The attribute of v that a filter's argument names; v itself if none was given. What is undefined at any step of the
 * path is `missing` instead, unless that is absent. */
static struct jv attribute_of(struct env *e, struct jv v, struct jv path, struct jv missing)
{
	size_t at = 0, n;
	const char *dot;

	if (path.kind == JV_ABSENT || path.kind == JV_NONE)
		return v;
	if (jv_in(path, JV_INTEGERS)) {
		v = eval_item(e, v, path);
		return v.kind == JV_UNDEF && missing.kind != JV_ABSENT ? missing : v;
	}
	if (path.kind != JV_STR)
		env_fail(e, "an attribute is named by a string or a number, not %s", jv_type(path));
	do {
		dot = memchr(path.s + at, '.', path.n - at);
		n = dot ? (size_t)(dot - path.s) - at : path.n - at;
		v = path_step(e, v, path.s + at, n);
		if (v.kind == JV_UNDEF && missing.kind != JV_ABSENT)
			v = missing;
		at += n + 1;
	} while (dot);
	return v;
}

struct jv items_length(struct env *e, struct call *c)
{
	return jv_int(jv_length(e, c->self));
}

struct jv items_first(struct env *e, struct call *c)
{
	struct jv_list *l = jv_items(e, c->self), *rest = c->self.list;

	if (!l->n)
		return jv_undefined_hint(e, "No first item, sequence was empty.");
	if (c->self.kind == JV_ITER && rest->single_use) {
		rest->items = l->items + 1;
		rest->n = l->n - 1;
	}
	return l->items[0];
}

struct jv items_last(struct env *e, struct call *c)
{
	const struct jv_list *l;

	if (c->self.kind == JV_ITER && c->self.list->single_use)
		env_fail(e, "'%s' object is not reversible", jv_type(c->self));
	l = jv_items(e, c->self);
	return l->n ? l->items[l->n - 1] : jv_undefined_hint(e, "No last item, sequence was empty.");
}

struct jv items_list(struct env *e, struct call *c)
{
	struct jv_list *l = jv_items(e, c->self);

	return jv_share(e, JV_LIST, l, 0, l->n);
}

static const struct jv backwards[3] = { { .kind = JV_NONE }, { .kind = JV_NONE }, { .kind = JV_INT, .i = -1 } };

struct jv items_reverse(struct env *e, struct call *c)
{
	if (c->self.kind == JV_STR)
		return eval_slice(e, c->self, backwards);
	return jv_iter(eval_slice(e, items_list(e, c), backwards), "list_reverseiterator");
}

struct jv items_join(struct env *e, struct call *c)
{
	struct jv between = jv_to_str(e, arg_or(c, 0, jv_str("", 0)));
	const struct jv_list *l = jv_items(e, c->self);
	size_t start = e->out->n;

	for (uint32_t i = 0; i < l->n; i++) {
		struct jv item = attribute_of(e, l->items[i], c->arg[1], jv_absent());

		env_tick(e, 1);
		if (i)
			env_put(e, between.s, between.n);
		jv_put_str(e, item);
	}
	return jv_since(e, start);
}

/* How a filter gets keys from items: by attributes (several between commas), with `missing` for undefined ones, lower
 * case unless case-sensitive. */
struct key {
	struct jv path, missing;
	bool case_sensitive;
};

static struct jv fold(struct env *e, struct jv v, const struct key *k)
{
	return v.kind == JV_STR && !k->case_sensitive ? text_cased(e, v, TEXT_LOWER) : v;
}

static struct jv key_part(struct env *e, struct jv item, const struct key *k, struct jv path)
{
	return fold(e, attribute_of(e, item, path, k->missing), k);
}

static struct jv key_of(struct env *e, struct jv item, const struct key *k)
{
	struct jv path = k->path, key;
	const char *comma;

	env_tick(e, 1);
	if (path.kind != JV_STR || !memchr(path.s, ',', path.n))
		return key_part(e, item, k, path);
	key = jv_list(e, JV_LIST, 2);
	while ((comma = memchr(path.s, ',', path.n))) {
		size_t n = (size_t)(comma - path.s);

		jv_push(e, key.list, key_part(e, item, k, jv_str(path.s, n)));
		path = jv_str(comma + 1, path.n - n - 1);
		env_tick(e, 1);
	}
	jv_push(e, key.list, key_part(e, item, k, path));
	return key;
}

/* The items of self with their keys. */
static struct jv_pair *keyed(struct env *e, const struct call *c, const struct key *k, uint32_t *n)
{
	const struct jv_list *l = jv_items(e, c->self);
	struct jv_pair *pairs = env_array(e, l->n, sizeof *pairs);

	*n = l->n;
	for (uint32_t i = 0; i < l->n; i++)
		pairs[i] = (struct jv_pair){ key_of(e, l->items[i], k), l->items[i], 0 };
	return pairs;
}

static struct jv values_of(struct env *e, const struct jv_pair *pairs, uint32_t n)
{
	struct jv l = jv_list(e, JV_LIST, n);

	for (uint32_t i = 0; i < n; i++)
		l.list->items[l.list->n++] = pairs[i].value;
	return l;
}

struct jv items_sort(struct env *e, struct call *c)
{
	struct key k = { c->arg[2], jv_absent(), arg_true(c, 1, false) };
	uint32_t n;
	struct jv_pair *pairs = keyed(e, c, &k, &n);

	jv_sort(e, pairs, n, arg_true(c, 0, false));
	return values_of(e, pairs, n);
}

struct jv items_dictsort(struct env *e, struct call *c)
{
	struct key k = { .case_sensitive = arg_true(c, 0, false) };
	bool by_value = jv_is(c->arg[1], "value");
	const struct jv_dict *d = c->self.dict;
	struct jv_pair *pairs;

	jv_defined(e, c->self);
	if (c->self.kind != JV_DICT)
		env_fail(e, "'%s object' has no attribute 'items'", jv_type(c->self));
	pairs = env_array(e, d->n, sizeof *pairs);
	for (uint32_t i = 0; i < d->n; i++) {
		pairs[i].key = fold(e, by_value ? d->pairs[i].value : d->pairs[i].key, &k);
		pairs[i].value = jv_pair_of(e, d->pairs[i].key, d->pairs[i].value);
	}
	jv_sort(e, pairs, d->n, arg_true(c, 2, false));
	return values_of(e, pairs, d->n);
}

/* what: 1 max, 0 min */
struct jv items_extreme(struct env *e, struct call *c)
{
	struct key k = { c->arg[1], jv_absent(), arg_true(c, 0, false) };
	uint32_t n, best = 0;
	const struct jv_pair *pairs = keyed(e, c, &k, &n);

	for (uint32_t i = 1; i < n; i++) {
		int order = jv_order(e, pairs[i].key, pairs[best].key, "<");

		best = (c->b->what ? order > 0 : order < 0) ? i : best;
	}
	return n ? pairs[best].value : jv_undefined_hint(e, "No aggregated item, sequence was empty.");
}

struct jv items_unique(struct env *e, struct call *c)
{
	struct key k = { c->arg[1], jv_absent(), arg_true(c, 0, false) };
	struct jv seen = jv_dict(e, JV_DICT), out = jv_generator(e);
	uint32_t n;
	const struct jv_pair *pairs = keyed(e, c, &k, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (jv_dict_get(e, seen.dict, pairs[i].key))
			continue;
		jv_dict_set(e, seen.dict, pairs[i].key, jv_none());
		jv_push(e, out.list, pairs[i].value);
	}
	return out;
}

struct jv items_groupby(struct env *e, struct call *c)
{
	struct key k = { c->arg[0], c->arg[1], arg_true(c, 2, false) };
	struct jv groups = jv_list(e, JV_LIST, 0);
	uint32_t n;
	struct jv_pair *pairs = keyed(e, c, &k, &n);

	jv_sort(e, pairs, n, false);
	k.case_sensitive = true;
	for (uint32_t i = 0, end; i < n; i = end) {
		struct jv group;

		for (end = i + 1; end < n && jv_equal(e, pairs[i].key, pairs[end].key); end++)
			;
		group = jv_pair_of(e, key_part(e, pairs[i].value, &k, c->arg[0]), values_of(e, pairs + i, end - i));
		group.list->type = "group";
		jv_push(e, groups.list, group);
	}
	return groups;
}

struct jv items_sum(struct env *e, struct call *c)
{
	const struct jv_list *l = jv_items(e, c->self);
	struct jv sum = arg_or(c, 1, jv_int(0));

	for (uint32_t i = 0; i < l->n; i++) {
		env_tick(e, 1);
		sum = eval_binary(e, '+', sum, attribute_of(e, l->items[i], c->arg[0], jv_absent()));
	}
	return sum;
}

/* map, select and their like take anything false for an empty list. */
static const struct jv_list *items_if_true(struct env *e, struct jv v)
{
	return jv_true(v) ? jv_items(e, v) : jv_list(e, JV_LIST, 0).list;
}

/* Keeps the items that pass the test named by the arguments, or that are true. what: 1 those that do not; 2 the first
 * argument names an attribute, and that is tested. */
struct jv items_select(struct env *e, struct call *c)
{
	uint32_t used = c->b->what >> 1;
	const struct jv_list *l;
	struct jv out = jv_generator(e);

	if (c->n_pos < used)
		env_fail(e, "missing parameter for attribute name");
	if (c->n_pos > used && c->pos[used].kind != JV_STR)
		env_fail(e, "a test is named by a string");
	l = items_if_true(e, c->self);
	for (uint32_t i = 0; i < l->n; i++) {
		struct call test = { .self = l->items[i], .kw = c->kw, .n_kw = c->n_kw };
		bool passed;

		env_tick(e, 2);
		if (used)
			test.self = attribute_of(e, l->items[i], c->pos[0], jv_absent());
		if (c->n_pos > used) {
			test.pos = c->pos + used + 1;
			test.n_pos = c->n_pos - used - 1;
			passed = jv_true(builtin_named(e, c->pos[used], IS_TEST, &test));
		} else {
			passed = jv_true(test.self);
		}
		if (passed != (c->b->what & 1))
			jv_push(e, out.list, l->items[i]);
	}
	return out;
}

struct jv items_map(struct env *e, struct call *c)
{
	const struct kwarg *path = call_kwarg(c, "attribute", 9), *missing = call_kwarg(c, "default", 7);
	const struct jv_list *l;
	struct jv out = jv_generator(e);

	if (c->n_pos ? c->pos[0].kind != JV_STR : !path)
		env_fail(e, "map requires a filter argument");
	l = items_if_true(e, c->self);
	for (uint32_t i = 0; i < l->n; i++) {
		struct call filter = { .self = l->items[i], .kw = c->kw, .n_kw = c->n_kw };
		struct jv v;

		env_tick(e, 2);
		if (c->n_pos) {
			filter.pos = c->pos + 1;
			filter.n_pos = c->n_pos - 1;
			v = builtin_named(e, c->pos[0], IS_FILTER, &filter);
		} else {
			v = attribute_of(e, l->items[i], path->value, missing ? missing->value : jv_absent());
		}
		jv_push(e, out.list, v);
	}
	return out;
}

/* Appends a list of l's items [from, to) and then `fills` times `fill`, if there is one. */
static void push_part(struct env *e, struct jv out, const struct jv_list *l, uint64_t from, uint64_t to, int64_t fills,
	struct jv fill)
{
	struct jv part = jv_list(e, JV_LIST, (uint32_t)(to - from));

	for (uint64_t i = from; i < to; i++)
		part.list->items[part.list->n++] = l->items[i];
	for (; fill.kind != JV_ABSENT && fill.kind != JV_NONE && fills > 0; fills--) {
		env_tick(e, 1);
		jv_push(e, part.list, fill);
	}
	jv_push(e, out.list, part);
}

/* How many items or lists the argument asks for. */
static int64_t positive(struct env *e, const struct call *c)
{
	int64_t n = arg_int(e, c, 0, 1);

	if (n < 1)
		env_fail(e, "%s: expected a positive number", c->b->name);
	return n;
}

struct jv items_batch(struct env *e, struct call *c)
{
	uint64_t n = (uint64_t)positive(e, c);
	const struct jv_list *l = jv_items(e, c->self);
	struct jv out = jv_generator(e);

	for (uint64_t at = 0; at < l->n; at += n) {
		uint64_t end = n < l->n - at ? at + n : l->n;

		push_part(e, out, l, at, end, (int64_t)(at + n - end), c->arg[1]);
	}
	return out;
}

struct jv items_slice(struct env *e, struct call *c)
{
	int64_t slices = positive(e, c), longer;
	const struct jv_list *l = jv_items(e, c->self);
	struct jv out = jv_generator(e);
	uint64_t at = 0;

	longer = l->n % slices;
	for (int64_t i = 0; i < slices; i++) {
		uint64_t end = at + (uint64_t)(l->n / slices) + (i < longer);

		env_tick(e, 1);
		push_part(e, out, l, at, end, i >= longer, c->arg[1]);
		at = end;
	}
	return out;
}

struct jv value_default(struct env *e, struct call *c)
{
	bool missing = c->self.kind == JV_UNDEF || (arg_true(c, 1, false) && !jv_true(c->self));

	return missing ? arg_or(c, 0, jv_str("", 0)) : c->self;
}

struct jv value_attr(struct env *e, struct call *c)
{
	struct jv name = arg_str(e, c, 0, jv_str("", 0));

	if (c->self.kind == JV_DICT && !builtin_method(c->self, name))
		return jv_undefined(e, JV_DICT, name.s, name.n);
	return eval_attribute(e, c->self, name);
}

struct jv value_items(struct env *e, struct call *c)
{
	if (c->self.kind == JV_UNDEF)
		return jv_generator(e);
	if (c->self.kind != JV_DICT)
		env_fail(e, "Can only get item pairs from a mapping.");
	return jv_iter(dict_items(e, c->self.dict), "generator");
}

static void merge(struct env *e, struct jv_dict *d, const struct jv_dict *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		jv_dict_set(e, d, more->pairs[i].key, more->pairs[i].value);
}

struct jv list_append(struct env *e, struct call *c)
{
	jv_push(e, c->self.list, c->arg[0]);
	return jv_none();
}

struct jv list_extend(struct env *e, struct call *c)
{
	const struct jv_list *more = jv_items(e, c->arg[0]);
	struct jv_list *l = c->self.list;
	uint32_t n = more->n;

	env_tick(e, n);
	jv_own(e, l, n);
	for (uint32_t i = 0; i < n; i++)
		l->items[l->n++] = more->items[i];
	return jv_none();
}

struct jv list_insert(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	int64_t at = arg_int(e, c, 0, 0);

	env_tick(e, l->n / 8);
	jv_own(e, l, 1);
	at = at < 0 ? (at + l->n < 0 ? 0 : at + l->n) : at > l->n ? l->n : at;
	memmove(l->items + at + 1, l->items + at, (l->n - (size_t)at) * sizeof *l->items);
	l->items[at] = c->arg[1];
	l->n++;
	return jv_none();
}

/* Removes item number i. */
static struct jv take_item(struct env *e, struct jv_list *l, int64_t i)
{
	struct jv v;

	env_tick(e, l->n / 8);
	jv_own(e, l, 1);
	v = l->items[i];
	memmove(l->items + i, l->items + i + 1, (l->n - (size_t)i - 1) * sizeof *l->items);
	l->n--;
	return v;
}

struct jv list_pop(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	int64_t i = arg_int(e, c, 0, -1);

	i += i < 0 ? l->n : 0;
	if (i < 0 || i >= l->n)
		env_fail(e, l->n ? "pop index out of range" : "pop from empty list");
	return take_item(e, l, i);
}

/* what: 1 to remove the item that is found */
struct jv list_index(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	uint32_t i = 0;

	while (i < l->n && !jv_equal(e, l->items[i], c->arg[0]))
		i++;
	if (i == l->n)
		env_fail(e, "%s(x): x is not in the %s", c->b->name, jv_type(c->self));
	if (!c->b->what)
		return jv_int(i);
	take_item(e, l, i);
	return jv_none();
}

struct jv list_count(struct env *e, struct call *c)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < c->self.list->n; i++)
		n += jv_equal(e, c->self.list->items[i], c->arg[0]);
	return jv_int(n);
}

struct jv value_copy(struct env *e, struct call *c)
{
	struct jv copy;

	if (c->self.kind == JV_LIST)
		return jv_share(e, JV_LIST, c->self.list, 0, c->self.list->n);
	copy = jv_dict(e, JV_DICT);
	merge(e, copy.dict, c->self.dict);
	return copy;
}

struct jv value_clear(struct env *e, struct call *c)
{
	if (c->self.kind == JV_LIST)
		*c->self.list = (struct jv_list){ 0 };
	else
		*c->self.dict = (struct jv_dict){ 0 };
	return jv_none();
}

struct jv list_reverse(struct env *e, struct call *c)
{
	*c->self.list = *eval_slice(e, c->self, backwards).list;
	return jv_none();
}

struct jv list_sort(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	struct key k = { .case_sensitive = true };
	uint32_t n;
	struct jv_pair *pairs = keyed(e, c, &k, &n);

	jv_sort(e, pairs, n, arg_true(c, 0, false));
	*l = *values_of(e, pairs, n).list;
	return jv_none();
}

static struct jv view(struct env *e, const struct jv_dict *d, int what)
{
	static const char *const types[] = { [VIEW_KEYS] = "dict_keys", [VIEW_VALUES] = "dict_values",
		[VIEW_ITEMS] = "dict_items" };
	struct jv l = jv_list(e, JV_LIST, d->n);

	env_tick(e, d->n);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct jv_pair *p = &d->pairs[i];

		l.list->items[l.list->n++] = what == VIEW_KEYS ? p->key : what == VIEW_VALUES ? p->value :
			jv_pair_of(e, p->key, p->value);
	}
	return jv_iter(l, types[what]);
}

/* what: VIEW_... */
struct jv dict_view(struct env *e, struct call *c)
{
	return view(e, c->self.dict, c->b->what);
}

struct jv dict_items(struct env *e, const struct jv_dict *d)
{
	return view(e, d, VIEW_ITEMS);
}

void dict_fill(struct env *e, struct jv_dict *d, const struct call *c)
{
	if (c->n_pos > 1)
		env_fail(e, "%s expected at most 1 argument, got %u", c->b->name, c->n_pos);
	if (c->n_pos && c->pos[0].kind == JV_DICT) {
		merge(e, d, c->pos[0].dict);
	} else if (c->n_pos) {
		const struct jv_list *l = jv_items(e, c->pos[0]);

		for (uint32_t i = 0; i < l->n; i++) {
			const struct jv_list *pair = jv_items(e, l->items[i]);

			if (pair->n != 2)
				env_fail(e, "dictionary update sequence element #%u has length %u; 2 is required", i,
					pair->n);
			jv_dict_set(e, d, pair->items[0], pair->items[1]);
		}
	}
	for (uint32_t i = 0; i < c->n_kw; i++)
		jv_dict_set(e, d, jv_str(c->kw[i].s, c->kw[i].n), c->kw[i].value);
}

struct jv dict_update(struct env *e, struct call *c)
{
	dict_fill(e, c->self.dict, c);
	return jv_none();
}

/* what: DICT_GET, DICT_SETDEFAULT or DICT_POP */
struct jv dict_get(struct env *e, struct call *c)
{
	struct jv_dict *d = c->self.dict;
	struct jv *found = jv_dict_get(e, d, c->arg[0]), value = found ? *found : arg_or(c, 1, jv_none());

	if (!found && c->b->what == DICT_POP && c->arg[1].kind == JV_ABSENT)
		env_fail(e, "pop: the dict has no such key");
	if (!found && c->b->what == DICT_SETDEFAULT)
		jv_dict_set(e, d, c->arg[0], value);
	if (found && c->b->what == DICT_POP) {
		env_tick(e, d->n / 4);
		jv_dict_remove(d, found);
	}
	return value;
}

struct jv dict_popitem(struct env *e, struct call *c)
{
	struct jv_dict *d = c->self.dict;
	struct jv pair;

	if (!d->n)
		env_fail(e, "popitem(): dictionary is empty");
	pair = jv_pair_of(e, d->pairs[d->n - 1].key, d->pairs[d->n - 1].value);
	jv_dict_remove(d, &d->pairs[d->n - 1].value);
	return pair;
}

struct jv loop_cycle(struct env *e, struct call *c)
{
	if (!c->n_pos)
		env_fail(e, "no items for cycling given");
	return c->pos[c->self.loop->index % c->n_pos];
}

struct jv loop_changed(struct env *e, struct call *c)
{
	struct jv_loop *l = c->self.loop;
	struct jv now = jv_list(e, JV_TUPLE, c->n_pos), before = l->changed;

	for (uint32_t i = 0; i < c->n_pos; i++)
		jv_push(e, now.list, c->pos[i]);
	l->changed = now;
	return jv_bool(!jv_equal(e, now, before));
}
