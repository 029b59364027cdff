/* Arrays: the first items with a schema each, further items with a common one, and their number. Where it matters which
 * items there are, each state of what has been counted is a rule. */
#include "converter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES_MAX = 4000, CONTAINS_MAX = 4, UNIQUE_MAX = 8 };

struct array_schema {
	struct converter *c;
	const struct json *lists;       /* SCHEMA_ITEMS; may be NULL */
	uint32_t min, max;
	uint32_t asked;                 /* minItems; min is more in a tuple */
	uint32_t first;                 /* number of items with a schema of their own */
	int is_tuple;                   /* there are no other items, and no fewer unless max is less */
};

/* The schema of item number i, the same for all from a->first on. */
static const struct json *item_schema(const struct array_schema *a, uint32_t i)
{
	const struct json *out = NULL;

	for (const struct json *l = a->lists ? a->lists->child : NULL; l && !a->c->failed; l = l->next) {
		const struct json *first = json_get(l, "prefixItems"), *s = first && i < first->n ? first->child
			: json_get(l, "items");

		for (uint32_t k = 0; first && i < first->n && k < i; k++)
			s = s->next;
		if (s)
			out = schema_both(a->c, out, s);
	}
	return out ? out : schema_make(a->c, JSON_TRUE);
}

static struct gbnf_expr *write_item(struct converter *c, const struct json *s, uint32_t i, int is_first)
{
	char number[16];
	int n = snprintf(number, sizeof number, "%u", (unsigned)i);

	if (!s)
		return gbnf_never();
	return is_first ? schema_write(c, s, "prefixItems", number, (size_t)n) : schema_write(c, s, "items", NULL, 0);
}

static void read_array(struct array_schema *a, const struct json *s)
{
	int has_first = 0, has_others = 0;

	a->lists = json_get(s, SCHEMA_ITEMS);
	a->asked = a->min = schema_count(a->c, s, "minItems", 0);
	a->max = schema_count(a->c, s, "maxItems", GBNF_FOREVER);
	for (const struct json *l = a->lists ? a->lists->child : NULL; l; l = l->next) {
		const struct json *first = json_get(l, "prefixItems");

		has_first |= first && !json_get(l, SCHEMA_NEGATED);
		has_others |= json_get(l, "items") != NULL;
		a->first = first && first->n > a->first ? (uint32_t)first->n : a->first;
	}
	a->is_tuple = schema_is_closed(a->c, s) && has_first && !has_others;
	if (a->is_tuple && a->max > a->first && a->min <= a->first)
		a->max = a->first;
	if (a->is_tuple)
		a->min = a->min > a->first ? a->min : a->max < a->first ? a->max : a->first;
	if (a->is_tuple && a->min > a->first)
		a->max = a->min;        /* as many as minItems requires */
}

/* ---- by number alone ---- */

/* low to high items of one kind, the first of them with a comma before it if `more` of others are there. */
static struct gbnf_expr *repeat_item(struct gbnf *g, struct gbnf_expr *item, int more, uint32_t low, uint32_t high)
{
	struct gbnf_expr *next = gbnf_join(g, ",_%_", item);

	if (more || !high)
		return gbnf_repeat(g, next, low, high);
	next = gbnf_repeat(g, next, low ? low - 1 : 0, high == GBNF_FOREVER ? high : high - 1);
	return gbnf_repeat(g, gbnf_join(g, "%_%", item, next), low > 0, 1);
}

/* From the last item to the first: what may be missing ends the array. */
static struct gbnf_expr *write_counted(struct array_schema *a)
{
	struct converter *c = a->c;
	struct gbnf *g = &c->g;
	uint32_t first = a->first < a->max ? a->first : a->max, low = a->min > first ? a->min - first : 0;
	uint32_t high = a->max == GBNF_FOREVER ? a->max : a->max - first;
	struct gbnf_expr **item = calloc(first + 1, sizeof *item), *out;

	if (!item) {
		schema_no_memory(c);
		return gbnf_never();
	}
	for (uint32_t i = 0; i < first; i++) {
		item[i] = write_item(c, item_schema(a, i), i, 1);
		if (gbnf_is_never(item[i])) {
			high = 0;
			low = a->asked > i;
			first = i;
		}
	}
	out = high ? repeat_item(g, write_item(c, item_schema(a, a->first), 0, 0), first > 0, low, high)
		: low ? gbnf_never() : gbnf_sequence(g);
	for (uint32_t i = first; i-- > 0; )
		out = gbnf_repeat(g, gbnf_join(g, i ? ",_%_%" : "%_%", item[i], out), i < a->min, 1);
	free(item);
	return out;
}

/* ---- contains ---- */

struct counting {                       /* of items that `contains` is about */
	struct array_schema *a;
	struct contained {
		const struct json *schema;
		uint32_t low, high, after;
		uint32_t top;           /* counted no further than to this */
	} of[CONTAINS_MAX];
	size_t n;
	uint32_t items_top;
	struct gbnf_rule **rule;        /* by state */
	struct gbnf_expr **item;        /* by which number of item, and which of them it is */
};

static size_t state_number(const struct counting *x, uint32_t items, const uint32_t *counted)
{
	size_t state = items;

	for (size_t k = 0; k < x->n; k++)
		state = state * (x->of[k].top + 1) + counted[k];
	return state;
}

/* Item i, if it is what the bits of `which` say. An item that need not be told apart may be either. */
static struct gbnf_expr *counted_item(struct counting *x, uint32_t i, unsigned which)
{
	struct array_schema *a = x->a;
	uint32_t place = i < x->items_top ? i : x->items_top;
	struct gbnf_expr **known = &x->item[((size_t)place << x->n) + which];
	const struct json *s;

	if (*known)
		return *known;
	s = item_schema(a, i < a->first ? i : a->first);
	for (size_t k = 0; k < x->n && s; k++)
		if (which >> k & 1)
			s = schema_both(a->c, s, x->of[k].schema);
		else if (x->of[k].high != GBNF_FOREVER && i >= x->of[k].after)
			s = schema_both(a->c, s, schema_not(a->c, x->of[k].schema));
	*known = write_item(a->c, s, i, i < a->first);
	return *known;
}

static struct gbnf_expr *write_counting(struct counting *x, uint32_t items, const uint32_t *counted);

/* The rest of the array after an item which is what the bits say; never if that is not allowed. */
static struct gbnf_expr *after_item(struct counting *x, uint32_t items, const uint32_t *counted, unsigned which)
{
	uint32_t next[CONTAINS_MAX];

	for (size_t k = 0; k < x->n; k++) {
		int counts = which >> k & 1;

		if (counts && (items < x->of[k].after || counted[k] == x->of[k].high))
			return gbnf_never();
		if (counts && x->of[k].high == GBNF_FOREVER && counted[k] == x->of[k].low)
			return gbnf_never();    /* it is the same as one that is not counted */
		next[k] = counted[k] + (uint32_t)counts;
	}
	return write_counting(x, items < x->items_top ? items + 1 : items, next);
}

static struct gbnf_expr *counting_body(struct counting *x, uint32_t items, const uint32_t *counted)
{
	struct gbnf *g = &x->a->c->g;
	struct gbnf_expr *out = gbnf_alternatives(g);
	int may_end = items >= x->a->min;

	for (size_t k = 0; k < x->n; k++)
		may_end &= counted[k] >= x->of[k].low;
	if (may_end)
		gbnf_add(g, out, gbnf_sequence(g));
	for (unsigned which = 0; which < 1u << x->n && items < x->a->max && !x->a->c->failed; which++) {
		struct gbnf_expr *rest = after_item(x, items, counted, which);

		if (!gbnf_is_never(rest))
			gbnf_add(g, out, gbnf_join(g, items ? ",_%_%" : "%_%", counted_item(x, items, which), rest));
	}
	return out;
}

/* What may follow after `items` items. */
static struct gbnf_expr *write_counting(struct counting *x, uint32_t items, const uint32_t *counted)
{
	struct converter *c = x->a->c;
	size_t state = state_number(x, items, counted);

	if (!x->rule[state] && !c->failed && !schema_work(c, 1)) {
		x->rule[state] = schema_new_rule(c, NULL);
		gbnf_define(&c->g, x->rule[state], counting_body(x, items, counted));
	}
	return x->rule[state] ? gbnf_use(&c->g, x->rule[state]) : gbnf_never();
}

static int read_contained(struct counting *x, const struct json *lists)
{
	struct converter *c = x->a->c;
	const struct json *after;
	size_t states;

	x->items_top = x->a->max != GBNF_FOREVER ? x->a->max : x->a->min > x->a->first ? x->a->min : x->a->first;
	x->items_top += !x->items_top;
	for (const struct json *l = lists->child; l && !c->failed; l = l->next) {
		struct contained *k = &x->of[x->n++];

		*k = (struct contained){ json_get(l, "contains"), schema_count(c, l, "minContains", 1),
			schema_count(c, l, "maxContains", GBNF_FOREVER), 0, 0 };
		after = json_get(l, SCHEMA_AFTER);
		k->after = after ? (uint32_t)after->i : 0;
		k->top = k->high == GBNF_FOREVER ? k->low : k->high;
		if (k->after > x->items_top)
			x->items_top = k->after;
		if (x->n == CONTAINS_MAX && l->next)
			return schema_refuse(c, "more than %d times contains", CONTAINS_MAX) - 1;
	}
	states = (size_t)x->items_top + 1;
	for (size_t k = 0; k < x->n && states <= STATES_MAX; k++)
		states *= (size_t)x->of[k].top + 1;
	if (states > STATES_MAX)
		return schema_refuse(c, "contains beside such large counts") - 1;
	return 0;
}

static struct gbnf_expr *write_contains(struct array_schema *a, const struct json *lists)
{
	struct converter *c = a->c;
	struct counting x = { .a = a };
	uint32_t none[CONTAINS_MAX] = { 0 };
	size_t states = 1;

	if (read_contained(&x, lists) || c->failed)
		return c->failed ? gbnf_never() : write_counted(a);
	for (size_t k = 0; k < x.n; k++)
		states *= (size_t)x.of[k].top + 1;
	x.rule = arena_array(&c->arena, states * ((size_t)x.items_top + 1), sizeof *x.rule);
	x.item = arena_array(&c->arena, ((size_t)x.items_top + 1) << x.n, sizeof *x.item);
	if (!x.rule || !x.item) {
		schema_no_memory(c);
		return gbnf_never();
	}
	return write_counting(&x, 0, none);
}

/* ---- uniqueItems ---- */

/* The values of a schema, at most UNIQUE_MAX, added to a list. -1: there may be others. */
static int add_values(struct converter *c, const struct json *s, struct json *list)
{
	static const struct json scalars[] = { { .type = JSON_NULL }, { .type = JSON_FALSE }, { .type = JSON_TRUE } };
	const struct json *flat = schema_flatten(c, s), *some;
	unsigned types;

	if (!flat || flat->type != JSON_OBJECT)
		return flat && flat->type == JSON_FALSE ? 0 : -1;
	if (schema_has_alternatives(flat)) {
		some = schema_alternatives(c, flat);
		for (const struct json *a = some ? some->child : NULL; a; a = a->next)
			if (add_values(c, a, list))
				return -1;
		return some ? 0 : -1;
	}
	types = schema_types(c, flat);
	some = json_get(flat, "enum") ? schema_constants(c, flat) : NULL;
	if (!some && (types & ~(unsigned)(TYPE_NULL | TYPE_BOOLEAN)))
		return -1;
	for (const struct json *v = some ? some->child : NULL; v; v = v->next)
		schema_add(c, list, NULL, v);
	for (size_t i = 0; !some && i < 3; i++)
		if (types & schema_type_of(&scalars[i]))
			schema_add(c, list, NULL, &scalars[i]);
	return 0;
}

struct unique {
	struct array_schema *a;
	const struct json *value[UNIQUE_MAX];
	size_t n;
	unsigned allowed[UNIQUE_MAX + 1];       /* by number of item: the values that it may have, a set of bits */
	struct gbnf_rule *rule[1 << UNIQUE_MAX];        /* by the values that are there */
};

static unsigned value_bit(struct unique *x, const struct json *v)
{
	size_t i = 0;

	while (i < x->n && !schema_equal(x->value[i], v))
		i++;
	if (i == x->n && x->n < UNIQUE_MAX)
		x->value[x->n++] = v;
	return i < UNIQUE_MAX ? 1u << i : 0;
}

static struct gbnf_expr *write_unique(struct unique *x, uint32_t items, unsigned there)
{
	struct converter *c = x->a->c;
	struct gbnf_expr *out;

	if (x->rule[there])
		return gbnf_use(&c->g, x->rule[there]);
	x->rule[there] = schema_new_rule(c, NULL);
	out = gbnf_alternatives(&c->g);
	if (items >= x->a->min)
		gbnf_add(&c->g, out, gbnf_sequence(&c->g));
	for (size_t i = 0; i < x->n && items < x->a->max && !c->failed; i++)
		if (x->allowed[items] & ~there & 1u << i)
			gbnf_add(&c->g, out, gbnf_join(&c->g, items ? ",_%_%" : "%_%", schema_literal(c, x->value[i]),
				write_unique(x, items + 1, there | 1u << i)));
	gbnf_define(&c->g, x->rule[there], out);
	return gbnf_use(&c->g, x->rule[there]);
}

/* Only few values are allowed: which of them are there is a state. */
static struct gbnf_expr *write_all_unique(struct array_schema *a)
{
	struct converter *c = a->c;
	struct unique x = { .a = a };

	for (uint32_t i = 0; i <= UNIQUE_MAX && !c->failed; i++) {
		const struct json *s = item_schema(a, i < a->first ? i : a->first);
		struct json *list = schema_make(c, JSON_ARRAY);
		int other = s ? add_values(c, s, list) : -1;

		for (const struct json *v = list && !other ? list->child : NULL; v; v = v->next) {
			unsigned bit = value_bit(&x, v);

			other |= !bit;
			x.allowed[i] |= bit;
		}
		if (!other)
			continue;
		if (i > 1 && i >= a->min && !c->failed) {       /* only the items before it */
			a->max = i;
			break;
		}
		if (!c->failed)
			schema_refuse(c, "uniqueItems of items that may have more than %d values", UNIQUE_MAX);
		return c->failed ? gbnf_never() : write_counted(a);
	}
	return c->failed ? gbnf_never() : write_unique(&x, 0, 0);
}

/* ---- the array ---- */

struct gbnf_expr *schema_write_array(struct converter *c, const struct json *s)
{
	struct array_schema a = { .c = c };
	const struct json *contains = json_get(s, SCHEMA_CONTAINS);
	struct gbnf_rule *rule;
	struct gbnf_expr *items;
	int unique;

	if (!(schema_types_of_keywords(s) & TYPE_ARRAY))
		return gbnf_primitive(&c->g, GBNF_ARRAY);
	read_array(&a, s);
	unique = json_get(s, "uniqueItems") && a.max > 1;
	if (unique && contains && schema_refuse(c, "uniqueItems beside contains"))
		return gbnf_never();
	if (a.min > a.max || c->failed)
		return gbnf_never();
	rule = schema_new_rule(c, NULL);
	items = contains ? write_contains(&a, contains) : unique ? write_all_unique(&a) : write_counted(&a);
	gbnf_define(&c->g, rule, gbnf_join(&c->g, "[_%]", items));
	return gbnf_use(&c->g, rule);
}
