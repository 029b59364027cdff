/* The methods of lists, tuples, dicts and loops. */
#include "builtin.h"

#include <string.h>

struct jv list_append(struct env *e, struct call *c)
{
	jv_push(e, c->self.list, c->arg[0]);
	return jv_none;
}

struct jv list_extend(struct env *e, struct call *c)
{
	jv_extend(e, c->self.list, jv_items(e, c->arg[0]));
	return jv_none;
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
	return jv_none;
}

/* Removes item number i. */
static struct jv take_item(struct env *e, struct jv_list *l, int64_t i)
{
	struct jv v = l->items[i];

	env_tick(e, l->n / 8);
	jv_own(e, l, 1);
	l->n--;
	memmove(l->items + i, l->items + i + 1, (l->n - (size_t)i) * sizeof *l->items);
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

/* The first item to search from, or to stop before: argument i, counted from the end if it is negative. */
static uint32_t bound(struct env *e, const struct call *c, int i, uint32_t absent)
{
	int64_t n = c->self.list->n, at = arg_int(e, c, i, absent);

	at += at < 0 ? n : 0;
	return at < 0 ? 0 : at > n ? (uint32_t)n : (uint32_t)at;
}

/* what: 1 to remove the item that is found */
struct jv list_index(struct env *e, struct call *c)
{
	struct jv_list *l = c->self.list;
	uint32_t i = bound(e, c, 1, 0), stop = bound(e, c, 2, l->n);

	while (i < stop && !jv_equal(e, l->items[i], c->arg[0]))
		i++;
	if (i >= stop)
		env_fail(e, "%s(x): x is not in the %s", c->b->name, jv_type(c->self));
	if (!c->b->what)
		return jv_int(i);
	take_item(e, l, i);
	return jv_none;
}

struct jv list_count(struct env *e, struct call *c)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < c->self.list->n; i++)
		n += jv_equal(e, c->self.list->items[i], c->arg[0]);
	return jv_int(n);
}

struct jv value_clear(struct env *e, struct call *c)
{
	if (c->self.kind == JV_LIST)
		*c->self.list = (struct jv_list){ 0 };
	else
		*c->self.dict = (struct jv_dict){ 0 };
	return jv_none;
}

struct jv dict_copy(struct env *e, struct call *c)
{
	struct jv copy = jv_dict(e, JV_DICT);

	jv_dict_merge(e, copy.dict, c->self.dict);
	return copy;
}

struct jv dict_fromkeys(struct env *e, struct call *c)
{
	const struct jv_list *l = jv_items(e, c->arg[0]);
	struct jv d = jv_dict(e, JV_DICT);

	for (uint32_t i = 0; i < l->n; i++)
		jv_dict_set(e, d.dict, l->items[i], arg_or(c, 1, jv_none));
	return d;
}

static struct jv view(struct env *e, const struct jv_dict *d, int what)
{
	static const char *const types[] = { [VIEW_KEYS] = "dict_keys", [VIEW_VALUES] = "dict_values",
		[VIEW_ITEMS] = "dict_items" };
	struct jv l = jv_list(e, JV_LIST, d->n);

	env_tick(e, d->n);
	for (const struct jv_pair *p = d->pairs; p < d->pairs + d->n; p++)
		jv_push(e, l.list, what == VIEW_KEYS ? p->key : what == VIEW_VALUES ? p->value
			: jv_pair_of(e, p->key, p->value));
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

/* Fills d from a mapping or pairs, then from named arguments. */
static void fill(struct env *e, struct jv_dict *d, const struct call *c)
{
	const struct jv_list *l;

	if (c->n_pos > 1)
		env_fail(e, "%s expected at most 1 argument, got %u", c->b->name, c->n_pos);
	if (c->n_pos && c->pos[0].kind == JV_DICT) {
		jv_dict_merge(e, d, c->pos[0].dict);
	} else if (c->n_pos) {
		l = jv_items(e, c->pos[0]);
		for (uint32_t i = 0; i < l->n; i++) {
			const struct jv_list *pair = jv_items(e, l->items[i]);

			if (pair->n != 2)
				env_fail(e, "dictionary update sequence element #%u has length %u; 2 is required", i,
					pair->n);
			jv_dict_set(e, d, pair->items[0], pair->items[1]);
		}
	}
	if (c->kw)
		jv_dict_merge(e, d, c->kw);
}

struct jv dict_update(struct env *e, struct call *c)
{
	fill(e, c->self.dict, c);
	return jv_none;
}

/* dict() and namespace(). what: the kind */
struct jv global_dict(struct env *e, struct call *c)
{
	struct jv d = jv_dict(e, (enum jv_kind)c->b->what);

	fill(e, d.dict, c);
	return d;
}

/* what: DICT_GET, DICT_SETDEFAULT or DICT_POP */
struct jv dict_get(struct env *e, struct call *c)
{
	struct jv_dict *d = c->self.dict;
	struct jv *found = jv_dict_get(e, d, c->arg[0]), value = found ? *found : arg_or(c, 1, jv_none);

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
	struct jv now = call_tuple(e, c, 0), before = l->changed;

	l->changed = now;
	return jv_bool(!jv_equal(e, now, before));
}
