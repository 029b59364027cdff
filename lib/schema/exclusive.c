/* oneOf: branches that may allow the same values exclude each other. Whether two may is judged by types, constants,
 * required properties and bounds. To avoid comparing all pairs, a table of facets (the types and constants of each
 * branch, the properties that its objects can have, and their constants) finds for each branch the others that it
 * could overlap. */
#include "converter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "lib/base/grow.h"

struct facets {
	struct facet {
		uint64_t key;
		size_t branch;
	} *at;                  /* sorted by key once all are there */
	size_t n, room;
};

/* What distinguishes a branch from others. */
enum branch_kind {
	OTHER,
	RANGE,                  /* only numbers, without constants: by bounds */
	OBJECT                  /* only objects, without constants: by properties */
};

struct branch {
	const struct json *flat;
	enum branch_kind kind;
	unsigned types;
	int is_open;            /* an OBJECT that allows further properties */
	double high;            /* a RANGE's upper bound */
};

struct branches {
	struct converter *c;
	struct branch *branch;  /* [n] */
	size_t n, n_open;
	struct facets facets;
	struct facets ranges;   /* by lower bound */
	struct facets overlaps; /* the pairs that may overlap: the numbers of both are the key */
};

/* ---- whether one excludes another ---- */

static void add_facet(struct branches *b, struct facets *to, uint64_t key, size_t branch)
{
	if (to->n == to->room && grow(&to->at, &to->room, sizeof *to->at, 1024))
		schema_no_memory(b->c);
	else
		to->at[to->n++] = (struct facet){ key, branch };
}

static int are_constants_apart(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *list = json_get(a, "enum");

	if (!list || !json_get(b, "enum"))
		return 0;
	for (const struct json *v = list->child; v; v = v->next)
		if (schema_is_constant(c, b, v))
			return 0;
	return 1;
}

static int excludes(struct converter *c, const struct json *a, const struct json *b);

/* What s says about the property r; NULL: nothing. */
static const struct json *property(struct converter *c, const struct json *s, const struct json *r)
{
	const struct json *lists = json_get(s, SCHEMA_MEMBERS);
	const struct json *p = index_find(&c->index, json_get(s, "properties"), r->s, r->n);

	for (const struct json *m = lists ? lists->child : NULL; m && !p; m = m->next)
		p = index_find(&c->index, json_get(m, "properties"), r->s, r->n);
	return p;
}

/* Whether s has no property but those that one part of it declares, of which r is none. */
static int forbids(struct converter *c, const struct json *s, const struct json *r)
{
	const struct json *lists = json_get(s, SCHEMA_MEMBERS), *others;

	for (const struct json *m = lists ? lists->child : NULL; m; m = m->next)
		if ((others = json_get(m, "additionalProperties")) && others->type == JSON_FALSE
			&& !json_get(m, "patternProperties")
			&& !index_find(&c->index, json_get(m, "properties"), r->s, r->n))
			return 1;
	return 0;
}

static int is_open(const struct json *s)
{
	const struct json *lists = json_get(s, SCHEMA_MEMBERS), *others;

	for (const struct json *m = lists ? lists->child : NULL; m; m = m->next)
		if ((others = json_get(m, "additionalProperties")) && others->type == JSON_FALSE
			&& !json_get(m, "patternProperties"))
			return 0;
	return 1;
}

/* b requires a property that a forbids, or whose values in a are excluded by b. */
static int excludes_objects(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *wanted = json_get(b, "required");

	for (const struct json *r = wanted ? wanted->child : NULL; r && !c->failed; r = r->next) {
		const struct json *p = property(c, a, r), *q = property(c, b, r);

		if (forbids(c, a, r))
			return 1;
		p = p && q ? schema_flatten(c, p) : NULL;
		q = p ? schema_flatten(c, q) : NULL;
		if (q && excludes(c, p, q))
			return 1;
	}
	return 0;
}

struct range {                          /* of numbers */
	struct decimal low, high;
	int has_low, has_high, low_open, high_open;
};

static struct range range_of(const struct json *s)
{
	static const char *const keywords[] = { "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum" };
	struct range r = { 0 };
	struct decimal d;

	for (int i = 0; i < 4; i++) {
		const struct json *v = json_get(s, keywords[i]);
		int order;

		if (!v || decimal_read(&d, v))
			continue;
		order = i < 2 ? !r.has_low || decimal_compare(&d, &r.low) >= 0
			: !r.has_high || decimal_compare(&d, &r.high) <= 0;
		if (!order)
			continue;
		*(i < 2 ? &r.low : &r.high) = d;
		*(i < 2 ? &r.low_open : &r.high_open) = i & 1;
		*(i < 2 ? &r.has_low : &r.has_high) = 1;
	}
	return r;
}

static int is_below(const struct range *a, const struct range *b)
{
	int order = a->has_high && b->has_low ? decimal_compare(&a->high, &b->low) : 1;

	return order < 0 || (!order && (a->high_open || b->low_open));
}

static int are_ranges_apart(const struct json *a, const struct json *b)
{
	struct range x = range_of(a), y = range_of(b);

	return is_below(&x, &y) || is_below(&y, &x);
}

/* Whether it can be seen that no value is valid against both, which are flat. */
static int excludes(struct converter *c, const struct json *a, const struct json *b)
{
	unsigned shared;
	int excluded = 0;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_FALSE;
	shared = schema_types(c, a) & schema_types(c, b);
	if (!shared || are_constants_apart(c, a, b))
		return 1;
	if (schema_enter(c, a))
		return 0;
	if (shared == TYPE_OBJECT)
		excluded = excludes_objects(c, a, b) || excludes_objects(c, b, a);
	else if (!(shared & ~(unsigned)TYPE_NUMBER))
		excluded = are_ranges_apart(a, b);
	schema_leave(c);
	return excluded;
}

static void check_pair(struct branches *b, size_t i, size_t k)
{
	uint64_t pair = i < k ? (uint64_t)i << 32 | k : (uint64_t)k << 32 | i;

	if (i == k || b->c->failed || schema_work(b->c, 1) || excludes(b->c, b->branch[i].flat, b->branch[k].flat))
		return;
	add_facet(b, &b->overlaps, pair, i < k ? k : i);
}

/* ---- facets ---- */

/* A tag, a property's name (NULL: the branch itself), and a type's bit or a value's hash. */
static uint64_t key(char tag, const struct json *property, uint64_t what)
{
	uint64_t seed = (what * 2 + !property) * 256 + (unsigned char)tag;

	return index_hash(seed, property ? property->key : NULL, property ? property->key_n : 0) >> 1;
}

/* Equal values have equal hashes; all arrays have one hash, and so have all objects. */
static uint64_t hash_value(const struct json *v)
{
	double d = v->d + 0.0;

	if (v->type == JSON_STRING)
		return index_hash(1, v->s, v->n);
	return schema_is_number(v) ? index_hash(2, &d, sizeof d) : 3 + (uint64_t)v->type;
}

enum {
	HAS_TYPE = 't', HAS_RANGE = 'r',        /* OTHER, without constants: a type; RANGE: a type */
	HAS_CONSTANT = 'c', HAS_VALUE = 'v',    /* constants of a type; one of them */
	HAS = 'h', HAS_ANY = 'a', HAS_OPEN = 'o'        /* a property; without constants; in an open object */
};

/* The first of the constants that a schema allows; NULL: it has none. */
static const struct json *constants(const struct json *flat)
{
	const struct json *list = flat ? json_get(flat, "enum") : NULL;

	return list ? list->child : NULL;
}

static void add_property(struct branches *b, size_t i, const struct json *name, const struct json *schema)
{
	const struct json *flat = schema ? schema_flatten(b->c, schema) : NULL, *v = constants(flat);

	add_facet(b, &b->facets, key(HAS, name, 0), i);
	if (b->branch[i].is_open)
		add_facet(b, &b->facets, key(HAS_OPEN, name, 0), i);
	if (!v)
		add_facet(b, &b->facets, key(HAS_ANY, name, 0), i);
	for (; v; v = v->next)
		add_facet(b, &b->facets, key(HAS_VALUE, name, hash_value(v)), i);
}

static void add_properties(struct branches *b, size_t i, const struct json *properties)
{
	for (const struct json *p = properties ? properties->child : NULL; p && !b->c->failed; p = p->next)
		add_property(b, i, p, p);
}

static void add_object(struct branches *b, size_t i)
{
	const struct json *flat = b->branch[i].flat, *lists = json_get(flat, SCHEMA_MEMBERS);
	const struct json *required = json_get(flat, "required");

	add_properties(b, i, json_get(flat, "properties"));
	for (const struct json *m = lists ? lists->child : NULL; m; m = m->next)
		add_properties(b, i, json_get(m, "properties"));
	for (const struct json *r = required ? required->child : NULL; r; r = r->next) {
		struct json name = { .key = r->s, .key_n = r->n };

		if (!property(b->c, flat, r))
			add_property(b, i, &name, NULL);
	}
}

/* In the order of numbers. */
static uint64_t number_key(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double bound(const struct json *flat, const char *keyword, const char *other, double otherwise)
{
	const struct json *v = json_get(flat, keyword);

	v = v ? v : json_get(flat, other);
	return v ? v->d + 0.0 : otherwise;
}

static void add_branch(struct branches *b, size_t i)
{
	struct branch *x = &b->branch[i];
	const struct json *v = constants(x->flat);

	x->types = x->flat->type == JSON_OBJECT ? schema_types(b->c, x->flat)
		: x->flat->type == JSON_TRUE ? TYPE_ALL : 0;
	x->kind = v ? OTHER : x->types == TYPE_OBJECT ? OBJECT
		: x->types && !(x->types & ~(unsigned)TYPE_NUMBER) ? RANGE : OTHER;
	if (x->kind == OBJECT) {
		x->is_open = is_open(x->flat);
		b->n_open += (size_t)x->is_open;
		add_object(b, i);
		return;
	}
	if (x->kind == RANGE) {
		x->high = bound(x->flat, "maximum", "exclusiveMaximum", HUGE_VAL);
		add_facet(b, &b->ranges, number_key(bound(x->flat, "minimum", "exclusiveMinimum", -HUGE_VAL)), i);
	}
	for (unsigned bit = 1; bit < TYPE_ALL; bit <<= 1)
		if (x->types & bit)
			add_facet(b, &b->facets,
				key(v ? HAS_CONSTANT : x->kind == RANGE ? HAS_RANGE : HAS_TYPE, NULL, bit), i);
	for (; v; v = v->next)
		add_facet(b, &b->facets, key(HAS_VALUE, NULL, hash_value(v)), i);
}

static int by_key(const void *x, const void *y)
{
	const struct facet *a = x, *b = y;

	if (a->key != b->key)
		return a->key > b->key ? 1 : -1;
	return (a->branch > b->branch) - (a->branch < b->branch);
}

static void sort(struct facets *f)
{
	if (f->n)
		qsort(f->at, f->n, sizeof *f->at, by_key);
}

/* The first facet with that key or a larger one. */
static size_t first_facet(const struct branches *b, uint64_t key)
{
	size_t from = 0, to = b->facets.n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (b->facets.at[middle].key < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* How many branches have a facet. */
static size_t count(const struct branches *b, uint64_t key)
{
	return first_facet(b, key + 1) - first_facet(b, key);
}

static void check_having(struct branches *b, uint64_t key, size_t k)
{
	const struct facets *f = &b->facets;

	for (size_t i = first_facet(b, key); i < f->n && f->at[i].key == key && !b->c->failed; i++)
		check_pair(b, f->at[i].branch, k);
}

/* ---- who can overlap a branch ---- */

/* Compares branch k with all that are not of kind OBJECT. check_ranges() compares two of kind RANGE. */
static void check_others(struct branches *b, size_t k)
{
	const struct branch *x = &b->branch[k];
	const struct json *v = constants(x->flat);

	for (unsigned bit = 1; bit < TYPE_ALL; bit <<= 1) {
		if (!(x->types & bit))
			continue;
		check_having(b, key(HAS_TYPE, NULL, bit), k);
		if (x->kind != RANGE)
			check_having(b, key(HAS_RANGE, NULL, bit), k);
		if (!v)
			check_having(b, key(HAS_CONSTANT, NULL, bit), k);
	}
	for (; v; v = v->next)
		check_having(b, key(HAS_VALUE, NULL, hash_value(v)), k);
}

/* Branch k requires a property. Returns how many OBJECTs may have it with a value that branch k allows; *open is
 * the number of those that do not declare it but allow further properties, which are not counted. With `check`,
 * compares those counted with branch k. */
static size_t property_overlaps(struct branches *b, size_t k, const struct json *required, size_t *open, int check)
{
	struct json name = { .key = required->s, .key_n = required->n };
	const struct json *p = property(b->c, b->branch[k].flat, required);
	const struct json *v = constants(p ? schema_flatten(b->c, p) : NULL);
	uint64_t rest = key(v ? HAS_ANY : HAS, &name, 0);
	size_t n = count(b, rest);

	*open = b->n_open - count(b, key(HAS_OPEN, &name, 0));
	if (check)
		check_having(b, rest, k);
	for (; v; v = v->next) {
		n += count(b, key(HAS_VALUE, &name, hash_value(v)));
		if (check)
			check_having(b, key(HAS_VALUE, &name, hash_value(v)), k);
	}
	return n;
}

/* Compares branch k with those of kind OBJECT, by the required property that fewest of them have. */
static void check_objects(struct branches *b, size_t k)
{
	const struct json *required = json_get(b->branch[k].flat, "required"), *best = NULL;
	size_t least = b->n, open = b->n_open;

	for (const struct json *r = required ? required->child : NULL; r && least; r = r->next) {
		size_t n = property_overlaps(b, k, r, &open, 0) + open;

		if (n < least) {
			best = r;
			least = n;
		}
	}
	if (best)
		property_overlaps(b, k, best, &open, 1);
	for (size_t i = 0; i < b->n && (!best || open); i++)
		if (b->branch[i].kind == OBJECT && (!best || b->branch[i].is_open))
			check_pair(b, i, k);
}

/* In order of lower bounds: a range may overlap those before it whose upper bound reaches its lower one. */
static void check_ranges(struct branches *b)
{
	const struct facet *at = b->ranges.at;
	double furthest = -HUGE_VAL;

	for (size_t i = 0; i < b->ranges.n && !b->c->failed; i++) {
		for (size_t k = i; k-- > 0 && number_key(furthest) >= at[i].key; )
			if (number_key(b->branch[at[k].branch].high) >= at[i].key)
				check_pair(b, at[k].branch, at[i].branch);
		furthest = b->branch[at[i].branch].high > furthest ? b->branch[at[i].branch].high : furthest;
	}
}

static void check_all(struct branches *b)
{
	check_ranges(b);
	for (size_t k = 0; k < b->n && !b->c->failed; k++) {
		if (b->branch[k].flat->type == JSON_FALSE)
			continue;
		check_others(b, k);
		if (b->branch[k].types & TYPE_OBJECT)
			check_objects(b, k);
	}
}

/* ---- excluding ---- */

/* The negation of a branch, without those of its alternatives that cannot hold beside `from`. */
static const struct json *negation(struct converter *c, const struct json *branch, const struct json *from)
{
	const struct json *not = schema_negate(c, branch), *lists = not ? json_get(not, SCHEMA_ANY_OF) : NULL;
	struct json *kept = schema_make(c, JSON_ARRAY);

	if (!lists)
		return not;
	for (const struct json *a = lists->child->child; a && !c->failed; a = a->next) {
		const struct json *flat = schema_flatten(c, a), *both = flat ? schema_merge(c, from, flat) : NULL;

		if (both && both->type != JSON_FALSE)
			schema_add(c, kept, NULL, a);
	}
	if (c->failed)
		return NULL;
	return kept->n == 1 ? kept->child : schema_of(c, SCHEMA_ANY_OF, schema_list(c, kept));
}

/* Adds to the list of what must hold beside a branch. */
static void exclude(struct branches *b, struct json **lists, size_t from, size_t other)
{
	struct converter *c = b->c;

	if (!lists[from])
		lists[from] = schema_make(c, JSON_ARRAY);
	schema_add(c, lists[from], NULL, negation(c, b->branch[other].flat, b->branch[from].flat));
}

/* Of two branches that may overlap, each excludes the other. */
static const struct json *exclude_overlaps(struct branches *b, const struct json *list)
{
	struct json **lists = calloc(b->n, sizeof *lists), *out = schema_make(b->c, JSON_ARRAY);
	const struct json *s = list->child;

	if (!lists)
		schema_no_memory(b->c);
	for (size_t i = 0; i < b->overlaps.n && !b->c->failed; i++) {
		const struct facet *f = &b->overlaps.at[i];

		if (i && f->key == f[-1].key)
			continue;
		exclude(b, lists, (size_t)(f->key >> 32), f->branch);
		exclude(b, lists, f->branch, (size_t)(f->key >> 32));
	}
	for (size_t i = 0; i < b->n && !b->c->failed; i++, s = s->next) {
		if (lists[i])
			schema_add(b->c, lists[i], NULL, s);
		schema_add(b->c, out, NULL, lists[i] ? schema_of(b->c, "allOf", lists[i]) : s);
	}
	free(lists);
	return b->c->failed ? NULL : out;
}

const struct json *schema_make_exclusive(struct converter *c, const struct json *list)
{
	struct branches b = { .c = c, .branch = calloc(list->n, sizeof *b.branch) };
	const struct json *out = NULL;

	if (!b.branch)
		schema_no_memory(c);
	for (const struct json *s = list->child; s && !c->failed; s = s->next) {
		const struct json *flat = schema_flatten(c, s);

		if (!flat)
			break;
		b.branch[b.n].flat = flat;
		add_branch(&b, b.n++);
	}
	sort(&b.facets);
	sort(&b.ranges);
	if (!c->failed)
		check_all(&b);
	sort(&b.overlaps);
	if (!c->failed)
		out = b.overlaps.n ? exclude_overlaps(&b, list) : list;
	free(b.branch);
	free(b.facets.at);
	free(b.ranges.at);
	free(b.overlaps.at);
	return out;
}
