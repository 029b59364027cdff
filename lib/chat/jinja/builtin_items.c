/* Filters over items. What Python returns as a generator is a JV_ITER here, complete from the start. */
#include "builtin.h"

#include <string.h>

static struct jv generator(struct env *e)
{
	return jv_iter(jv_list(e, JV_LIST, 0), "generator");
}

/* Takes the part up to the next `separator` off *rest. False after the last part. */
static bool next_part(struct jv *rest, char separator, struct jv *part)
{
	const char *hit = rest->s ? memchr(rest->s, separator, rest->n) : NULL;

	if (!rest->s)
		return false;
	*part = jv_str(rest->s, hit ? (size_t)(hit - rest->s) : rest->n);
	*rest = hit ? jv_str(hit + 1, rest->n - part->n - 1) : jv_str(NULL, 0);
	return true;
}

/* One step of a.b.0: the item of that name or number, or else the attribute. */
static struct jv path_step(struct env *e, struct jv v, struct jv step)
{
	int64_t index = 0;

	for (size_t i = 0; i < step.n; i++) {
		if (text_digit(step.s[i]) > 9 || step.n > 9)
			return eval_item(e, v, step);
		index = index * 10 + text_digit(step.s[i]);
	}
	return eval_item(e, v, step.n ? jv_int(index) : step);
}

/* The attribute of v that a filter's argument names; v itself if none was given. What is undefined at any step of the
 * path is `missing` instead, unless that is absent. */
static struct jv attribute_of(struct env *e, struct jv v, struct jv path, struct jv missing)
{
	struct jv step;

	if (path.kind == JV_ABSENT || path.kind == JV_NONE)
		return v;
	if (jv_in(path, JV_INTEGERS)) {
		v = eval_item(e, v, path);
		return v.kind == JV_UNDEF && missing.kind != JV_ABSENT ? missing : v;
	}
	if (path.kind != JV_STR)
		env_fail(e, "an attribute is named by a string or a number, not %s", jv_type(path));
	while (next_part(&path, '.', &step)) {
		env_tick(e, 1);
		v = path_step(e, v, step);
		if (v.kind == JV_UNDEF && missing.kind != JV_ABSENT)
			v = missing;
	}
	return v;
}

struct jv items_length(struct env *e, struct call *c)
{
	return jv_int(jv_length(e, c->self));
}

/* what: 1 for the last item, 0 for the first, which is taken from a generator */
struct jv items_end(struct env *e, struct call *c)
{
	bool single_use = c->self.kind == JV_ITER && c->self.list->single_use;
	const struct jv_list *l;

	if (c->b->what && single_use)
		env_fail(e, "'%s' object is not reversible", jv_type(c->self));
	l = jv_items(e, c->self);
	if (!l->n)
		return jv_undefined_hint(c->b->what ? "No last item, sequence was empty."
			: "No first item, sequence was empty.");
	if (single_use) {
		c->self.list->items = l->items + 1;
		c->self.list->n = l->n - 1;
	}
	/* Python takes the last character as s[-1], which keeps the markup */
	if (c->b->what && c->self.kind == JV_STR)
		return jv_markup(l->items[l->n - 1], c->self.markup);
	return l->items[c->b->what ? l->n - 1 : 0];
}

/* A template renders to the same text each time, so this is the first item, which is as random as any. */
struct jv items_random(struct env *e, struct call *c)
{
	const struct jv_list *l;

	if (c->self.kind == JV_ITER)
		env_fail(e, "object of type '%s' has no len()", jv_type(c->self));
	l = jv_items(e, c->self);
	return l->n ? l->items[0] : jv_undefined_hint("No random item, sequence was empty.");
}

struct jv items_list(struct env *e, struct call *c)
{
	return jv_share(e, JV_LIST, jv_items(e, c->self), 0, UINT32_MAX);
}

/* what: 1 for the method, which changes the list */
struct jv items_reverse(struct env *e, struct call *c)
{
	static const struct jv backwards[3] = { { .kind = JV_NONE }, { .kind = JV_NONE }, { .kind = JV_INT, .i = -1 } };
	bool text = c->self.kind == JV_STR;
	struct jv out = eval_slice(e, text ? c->self : items_list(e, c), backwards);

	if (!c->b->what)
		return text ? out : jv_iter(out, "list_reverseiterator");
	*c->self.list = *out.list;
	return jv_none;
}

/* what: 1 for the method of the separator, which joins strings alone */
struct jv items_join(struct env *e, struct call *c)
{
	bool method = c->b->what, markup = method && c->self.markup;
	struct jv between = method ? c->self : jv_to_str(e, arg_or(c, 0, jv_str("", 0)));
	const struct jv_list *l = jv_items(e, method ? c->arg[0] : c->self);
	size_t start = e->out->n;

	env_reserve(e, l->n ? (l->n - 1) * (uint64_t)between.n : 0);
	for (uint32_t i = 0; i < l->n; i++) {
		struct jv item = attribute_of(e, l->items[i], c->arg[1], jv_absent);

		if (method && item.kind != JV_STR)
			env_fail(e, "sequence item %u: expected str instance, %s found", i, jv_type(item));
		env_tick(e, 1);
		if (i)
			jv_put(e, between);
		jv_put_str(e, markup ? markup_escape(e, item) : item);
	}
	return jv_markup(jv_since(e, start), markup);
}

/* How a filter gets keys from items: by attributes (several between commas), with `missing` for undefined ones, lower
 * case unless case-sensitive. listed: as a list even of one, so that equal keys need no order. */
struct key {
	struct jv path, missing;
	bool case_sensitive, listed;
};

static struct jv fold(struct env *e, struct jv v, const struct key *k)
{
	return v.kind == JV_STR && !k->case_sensitive ? text_cased(e, v, TEXT_LOWER) : v;
}

static struct jv key_of(struct env *e, struct jv item, const struct key *k)
{
	struct jv path = k->path, key, part;

	env_tick(e, 1);
	if (path.kind != JV_STR || !path.n || !memchr(path.s, ',', path.n)) {
		part = fold(e, attribute_of(e, item, path, k->missing), k);
		if (!k->listed)
			return part;
		key = jv_list(e, JV_LIST, 1);
		jv_push(e, key.list, part);
		return key;
	}
	key = jv_list(e, JV_LIST, 2);
	while (next_part(&path, ',', &part)) {
		env_tick(e, 1);
		jv_push(e, key.list, fold(e, attribute_of(e, item, part, k->missing), k));
	}
	return key;
}

/* The items of l with their keys. */
static struct jv_pair *keyed(struct env *e, const struct jv_list *l, const struct key *k)
{
	struct jv_pair *pairs = env_array(e, l->n, sizeof *pairs);

	for (uint32_t i = 0; i < l->n; i++)
		pairs[i] = (struct jv_pair){ key_of(e, l->items[i], k), l->items[i], 0 };
	return pairs;
}

/* The same in the order of their keys. */
static struct jv_pair *sorted(struct env *e, const struct jv_list *l, const struct key *k, bool reverse)
{
	struct jv_pair *pairs = keyed(e, l, k);

	jv_sort(e, pairs, l->n, reverse);
	return pairs;
}

static struct jv values_of(struct env *e, const struct jv_pair *pairs, uint32_t n)
{
	struct jv l = jv_list(e, JV_LIST, n);

	for (uint32_t i = 0; i < n; i++)
		jv_push(e, l.list, pairs[i].value);
	return l;
}

/* The arguments are reverse, case_sensitive and attribute. what: SORT_ITEMS, a filter; SORT_LIST, the method, which
 * changes the list and has only the first; SORT_DICT, the pairs of a dict, with case_sensitive, by, reverse. */
struct jv items_sort(struct env *e, struct call *c)
{
	bool dict = c->b->what == SORT_DICT, list = c->b->what == SORT_LIST;
	struct key k = { c->arg[2], jv_absent, list || jv_true(c->arg[!dict]), !list && !dict };
	struct jv_list *l;
	struct jv out;

	if (dict) {
		jv_defined(e, c->self);
		if (c->self.kind != JV_DICT)
			env_fail(e, "'%s object' has no attribute 'items'", jv_type(c->self));
		k.path = jv_int(jv_is(c->arg[1], "value"));
	}
	l = dict ? dict_items(e, c->self.dict).list : jv_items(e, c->self);
	out = values_of(e, sorted(e, l, &k, jv_true(c->arg[dict ? 2 : 0])), l->n);
	if (!list)
		return out;
	*c->self.list = *out.list;
	return jv_none;
}

/* what: 1 max, 0 min */
struct jv items_extreme(struct env *e, struct call *c)
{
	struct key k = { c->arg[1], jv_absent, jv_true(c->arg[0]), false };
	const struct jv_list *l = jv_items(e, c->self);

	return l->n ? sorted(e, l, &k, c->b->what)->value
		: jv_undefined_hint("No aggregated item, sequence was empty.");
}

struct jv items_unique(struct env *e, struct call *c)
{
	struct key k = { c->arg[1], jv_absent, jv_true(c->arg[0]), false };
	struct jv seen = jv_dict(e, JV_DICT), out = generator(e);
	const struct jv_list *l = jv_items(e, c->self);
	const struct jv_pair *pairs = keyed(e, l, &k);

	for (uint32_t i = 0; i < l->n; i++) {
		if (jv_dict_get(e, seen.dict, pairs[i].key))
			continue;
		jv_dict_set(e, seen.dict, pairs[i].key, jv_none);
		jv_push(e, out.list, pairs[i].value);
	}
	return out;
}

struct jv items_groupby(struct env *e, struct call *c)
{
	struct key k = { c->arg[0], c->arg[1], jv_true(c->arg[2]), false };
	struct jv groups = jv_list(e, JV_LIST, 0);
	const struct jv_list *l = jv_items(e, c->self);
	const struct jv_pair *pairs = sorted(e, l, &k, false);

	for (uint32_t i = 0, end; i < l->n; i = end) {
		struct jv group;

		for (end = i + 1; end < l->n && jv_equal(e, pairs[i].key, pairs[end].key); end++)
			;
		group = jv_pair_of(e, attribute_of(e, pairs[i].value, k.path, k.missing),
			values_of(e, pairs + i, end - i));
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
		sum = eval_binary(e, '+', sum, attribute_of(e, l->items[i], c->arg[0], jv_absent));
	}
	return sum;
}

/* Runs the filter or test that argument i names on v, with the arguments after it. */
static struct jv apply(struct env *e, const struct call *c, uint32_t i, unsigned use, struct jv v)
{
	struct call inner = { .self = v, .pos = c->pos + i + 1, .n_pos = c->n_pos - i - 1 };

	if (c->kw) {
		inner.kw = jv_dict(e, JV_DICT).dict;
		jv_dict_merge(e, inner.kw, c->kw);
	}
	return builtin_named(e, c->pos[i], use, &inner);
}

/* For map, select and their like, which take anything false for an empty list. */
static const struct jv_list nothing;

/* Keeps the items that pass the test named by the arguments, or that are true. what: 1 those that do not; 2 the first
 * argument names an attribute, and that is tested. */
struct jv items_select(struct env *e, struct call *c)
{
	uint32_t used = c->b->what >> 1;
	const struct jv_list *l;
	struct jv out = generator(e);

	if (c->n_pos < used)
		env_fail(e, "missing parameter for attribute name");
	if (c->n_pos > used && c->pos[used].kind != JV_STR)
		env_fail(e, "a test is named by a string");
	l = jv_true(c->self) ? jv_items(e, c->self) : &nothing;
	for (uint32_t i = 0; i < l->n; i++) {
		struct jv v = attribute_of(e, l->items[i], used ? c->pos[0] : jv_none, jv_absent);

		env_tick(e, 2);
		if (c->n_pos > used)
			v = apply(e, c, used, IS_TEST, v);
		if (jv_true(v) != (c->b->what & 1))
			jv_push(e, out.list, l->items[i]);
	}
	return out;
}

struct jv items_map(struct env *e, struct call *c)
{
	const struct jv *path = c->kw ? jv_dict_get(e, c->kw, jv_str("attribute", 9)) : NULL;
	const struct jv *missing = c->kw ? jv_dict_get(e, c->kw, jv_str("default", 7)) : NULL;
	const struct jv_list *l;
	struct jv out = generator(e);

	if (c->n_pos ? c->pos[0].kind != JV_STR : !path)
		env_fail(e, "map requires a filter argument");
	l = jv_true(c->self) ? jv_items(e, c->self) : &nothing;
	for (uint32_t i = 0; i < l->n; i++) {
		env_tick(e, 2);
		jv_push(e, out.list, c->n_pos ? apply(e, c, 0, IS_FILTER, l->items[i])
			: attribute_of(e, l->items[i], *path, missing ? *missing : jv_absent));
	}
	return out;
}

/* batch, lists of n items; and slice, with what 1, n lists. The last or the shorter ones are filled up. */
struct jv items_batch(struct env *e, struct call *c)
{
	int64_t n = arg_int(e, c, 0, 1), at = 0, size, fills, parts;
	bool slice = c->b->what, fill = c->arg[1].kind != JV_ABSENT && c->arg[1].kind != JV_NONE;
	struct jv out = generator(e), part;
	struct jv_list *l;

	if (n < 1)
		env_fail(e, "%s: expected a positive number", c->b->name);
	l = jv_items(e, c->self);
	parts = slice ? n : l->n / n + (l->n % n > 0);
	for (int64_t i = 0; i < parts; i++, at += size) {
		size = slice ? l->n / n + (i < l->n % n) : n < l->n - at ? n : l->n - at;
		fills = !fill ? 0 : slice ? i >= l->n % n : n - size;
		part = jv_share(e, JV_LIST, l, (uint32_t)at, (uint32_t)size);
		for (env_tick(e, 1); fills > 0; fills--) {
			env_tick(e, 1);
			jv_push(e, part.list, c->arg[1]);
		}
		jv_push(e, out.list, part);
	}
	return out;
}

struct jv value_default(struct env *e, struct call *c)
{
	bool missing = c->self.kind == JV_UNDEF || (jv_true(c->arg[1]) && !jv_true(c->self));

	return missing ? arg_or(c, 0, jv_str("", 0)) : c->self;
}

struct jv value_attr(struct env *e, struct call *c)
{
	struct jv name = arg_str(e, c, 0, jv_str("", 0));

	if (c->self.kind == JV_DICT && !builtin_method(c->self, name))
		return jv_undefined(JV_DICT, name);
	return eval_attribute(e, c->self, name);
}

struct jv value_items(struct env *e, struct call *c)
{
	if (c->self.kind == JV_UNDEF)
		return generator(e);
	if (c->self.kind != JV_DICT)
		env_fail(e, "Can only get item pairs from a mapping.");
	return jv_iter(dict_items(e, c->self.dict), "generator");
}
