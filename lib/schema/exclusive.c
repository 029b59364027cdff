/* Whether the branches of a oneOf exclude each other. Two branches are compared by types, constants, required
 * properties and bounds. To avoid comparing all pairs, a table of facets (the types and constants of each branch,
 * the properties that its objects can have, and their constants) finds for each branch the others that it could
 * overlap. */
#include "converter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

struct facet {
	uint64_t key;
	size_t branch;
};

/* How a branch is told from others. */
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
	struct schema_range range;
};

struct branches {
	struct converter *c;
	struct branch *branch;  /* [n] */
	size_t n, n_open;
	struct facet *facet;    /* sorted by key */
	size_t n_facets, room;
};

/* ---- whether one excludes another ---- */

static int are_constants_apart(const struct json *a, const struct json *b)
{
	const struct json *one = json_get(a, "const"), *in_a = json_get(a, "enum");
	const struct json *two = json_get(b, "const"), *in_b = json_get(b, "enum");

	if ((!one && !in_a) || (!two && !in_b))
		return 0;
	for (const struct json *v = one ? one : in_a->child; v; v = one ? NULL : v->next)
		for (const struct json *u = two ? two : in_b->child; u; u = two ? NULL : u->next)
			if (schema_equal(v, u))
				return 0;
	return 1;
}

static int excludes(struct converter *c, const struct json *a, const struct json *b);

/* Whether the grammar of s may have properties that s does not declare. Those of its own branches are merged in. */
static int is_open(const struct json *s)
{
	const struct json *others = json_get(s, "additionalProperties");

	return (others && others->type != JSON_FALSE) || json_get(s, "anyOf") || json_get(s, "oneOf");
}

/* b requires a property that a's objects do not have, or whose values in a are excluded by b. */
static int excludes_objects(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *wanted = json_get(b, "required");

	for (const struct json *r = wanted ? wanted->child : NULL; r && !c->failed; r = r->next) {
		const struct json *p, *q;

		if (r->type != JSON_STRING)
			continue;
		p = index_find(&c->index, json_get(a, "properties"), r->s, r->n);
		q = index_find(&c->index, json_get(b, "properties"), r->s, r->n);
		if (!p && !is_open(a) && !index_find(&c->index, json_get(a, "required"), r->s, r->n))
			return 1;
		p = p && q ? schema_flatten(c, p) : NULL;
		q = p ? schema_flatten(c, q) : NULL;
		if (q && excludes(c, p, q))
			return 1;
	}
	return 0;
}

static int are_ranges_apart(struct converter *c, const struct json *a, const struct json *b)
{
	struct schema_range x = { INT64_MIN, INT64_MAX, 0, 0 }, y = x;

	schema_range(c, a, &x);
	schema_range(c, b, &y);
	return x.high < y.low || y.high < x.low || (x.high == y.low && (x.high_open || y.low_open))
		|| (y.high == x.low && (y.high_open || x.low_open));
}

/* Whether no text of a's grammar can hold to b. Both are flat. */
static int excludes(struct converter *c, const struct json *a, const struct json *b)
{
	unsigned shared;
	int excluded = 0;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_FALSE;
	shared = schema_types(c, a);
	/* Without these, b allows every value of types that its keywords are not about. */
	if (json_get(b, "type") || json_get(b, "enum") || json_get(b, "const"))
		shared &= schema_types(c, b);
	if (!shared || are_constants_apart(a, b))
		return 1;
	if (schema_enter(c))
		return 0;
	if (shared == TYPE_OBJECT)
		excluded = excludes_objects(c, a, b);
	else if (!(shared & ~(unsigned)TYPE_NUMBER))
		excluded = are_ranges_apart(c, a, b);
	schema_leave(c);
	return excluded;
}

static void check_pair(struct branches *b, size_t i, size_t k)
{
	struct converter *c = b->c;

	if (i == k || c->failed || excludes(c, b->branch[i].flat, b->branch[k].flat))
		return;
	schema_fail(c, "branches %zu and %zu of oneOf may both allow the same value; use anyOf if that is intended",
		i < k ? i : k, i < k ? k : i);
}

/* ---- facets ---- */

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
	const unsigned char *s = p;

	while (n--)
		h = (h ^ *s++) * 0x100000001b3u;
	return ((h ^ h >> 31) * 0x9e3779b97f4a7c15u) >> 1;
}

/* A tag, a property's name (NULL: the branch itself), and a type's bit or a value's hash. */
static uint64_t key(char tag, const struct json *property, uint64_t what)
{
	uint64_t h = mix(what + 1, &tag, 1);

	return property ? mix(h, property->key, property->key_n) : h;
}

/* Equal values have equal hashes; all arrays have one hash, and so have all objects. */
static uint64_t hash_value(const struct json *v)
{
	double d = v->d + 0.0;

	if (v->type == JSON_STRING)
		return mix(1, v->s, v->n);
	return schema_is_number(v) ? mix(2, &d, sizeof d) : 3 + (uint64_t)v->type;
}

static void add_facet(struct branches *b, uint64_t key, size_t branch)
{
	if (b->n_facets == b->room && grow(&b->facet, &b->room, sizeof *b->facet, 1024)) {
		schema_no_memory(b->c);
		return;
	}
	b->facet[b->n_facets++] = (struct facet){ key, branch };
}

enum {
	HAS_TYPE = 't', HAS_RANGE = 'r',        /* OTHER, without constants: a type; RANGE: a type */
	HAS_CONSTANT = 'c', HAS_VALUE = 'v',    /* constants of a type; one of them */
	HAS = 'h', HAS_ANY = 'a', HAS_OPEN = 'o'        /* a property; without constants; in an open object */
};

static const struct json *constants_of(const struct json *s, const struct json **end)
{
	const struct json *one = json_get(s, "const"), *list = json_get(s, "enum");

	*end = one ? one->next : NULL;
	return one ? one : list ? list->child : NULL;
}

static void add_property(struct branches *b, size_t i, const struct json *name, const struct json *schema)
{
	const struct json *flat = schema ? schema_flatten(b->c, schema) : NULL, *end, *v;

	add_facet(b, key(HAS, name, 0), i);
	if (b->branch[i].is_open)
		add_facet(b, key(HAS_OPEN, name, 0), i);
	v = flat ? constants_of(flat, &end) : NULL;
	if (!v)
		add_facet(b, key(HAS_ANY, name, 0), i);
	for (; v && v != end; v = v->next)
		add_facet(b, key(HAS_VALUE, name, hash_value(v)), i);
}

static void add_object(struct branches *b, size_t i)
{
	const struct json *flat = b->branch[i].flat, *properties = json_get(flat, "properties");
	const struct json *required = json_get(flat, "required");

	for (const struct json *p = properties ? properties->child : NULL; p && !b->c->failed; p = p->next)
		add_property(b, i, p, p);
	for (const struct json *r = required ? required->child : NULL; r; r = r->next) {
		struct json name = { .key = r->s, .key_n = r->n };

		if (r->type == JSON_STRING && !index_find(&b->c->index, properties, r->s, r->n))
			add_property(b, i, &name, NULL);
	}
}

static void add_branch(struct branches *b, size_t i)
{
	struct branch *x = &b->branch[i];
	const struct json *end, *v = constants_of(x->flat, &end);

	x->types = x->flat->type == JSON_OBJECT ? schema_types(b->c, x->flat)
		: x->flat->type == JSON_TRUE ? TYPE_ALL : 0;
	x->kind = v ? OTHER : x->types == TYPE_OBJECT ? OBJECT
		: x->types && !(x->types & ~(unsigned)TYPE_NUMBER) ? RANGE : OTHER;
	x->range = (struct schema_range){ INT64_MIN, INT64_MAX, 0, 0 };
	x->is_open = x->kind == OBJECT && is_open(x->flat);
	b->n_open += (size_t)x->is_open;
	if (x->kind == OBJECT)
		add_object(b, i);
	if (x->kind == RANGE)
		schema_range(b->c, x->flat, &x->range);
	for (unsigned bit = 1; bit < TYPE_ALL && x->kind != OBJECT; bit <<= 1)
		if (x->types & bit)
			add_facet(b, key(v ? HAS_CONSTANT : x->kind == RANGE ? HAS_RANGE : HAS_TYPE, NULL, bit), i);
	for (; v && v != end; v = v->next)
		add_facet(b, key(HAS_VALUE, NULL, hash_value(v)), i);
}

static int by_key(const void *x, const void *y)
{
	const struct facet *a = x, *b = y;

	if (a->key != b->key)
		return a->key > b->key ? 1 : -1;
	return (a->branch > b->branch) - (a->branch < b->branch);
}

/* The first facet with that key or a larger one. */
static size_t first_facet(const struct branches *b, uint64_t key)
{
	size_t from = 0, to = b->n_facets;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (b->facet[middle].key < key)
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
	for (size_t i = first_facet(b, key); i < b->n_facets && b->facet[i].key == key && !b->c->failed; i++)
		check_pair(b, b->facet[i].branch, k);
}

/* ---- who can overlap a branch ---- */

/* Compares branch k with all that are not of kind OBJECT. check_ranges() compares two of kind RANGE. */
static void check_others(struct branches *b, size_t k)
{
	const struct branch *x = &b->branch[k];
	const struct json *end, *v = constants_of(x->flat, &end);
	int typed = v || json_get(x->flat, "type");

	for (unsigned bit = 1; bit < TYPE_ALL; bit <<= 1) {
		if (typed && !(x->types & bit))
			continue;
		check_having(b, key(HAS_TYPE, NULL, bit), k);
		if (x->kind != RANGE || !typed)
			check_having(b, key(HAS_RANGE, NULL, bit), k);
		if (!v)
			check_having(b, key(HAS_CONSTANT, NULL, bit), k);
	}
	for (; v && v != end; v = v->next)
		check_having(b, key(HAS_VALUE, NULL, hash_value(v)), k);
}

/* Branch k requires a property. Returns how many OBJECTs may have it with a value that branch k allows; *open is
 * the number of those that do not declare it but allow further properties, which are not counted. With `check`,
 * compares those counted with branch k. */
static size_t property_overlaps(struct branches *b, size_t k, const struct json *required, size_t *open, int check)
{
	struct json name = { .key = required->s, .key_n = required->n };
	const struct json *properties = json_get(b->branch[k].flat, "properties"), *end;
	const struct json *p = index_find(&b->c->index, properties, name.key, name.key_n);
	const struct json *flat = p ? schema_flatten(b->c, p) : NULL, *v = flat ? constants_of(flat, &end) : NULL;
	uint64_t rest = key(v ? HAS_ANY : HAS, &name, 0);
	size_t n = count(b, rest);

	*open = b->n_open - count(b, key(HAS_OPEN, &name, 0));
	if (check)
		check_having(b, rest, k);
	for (; v && v != end; v = v->next) {
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
		size_t n = r->type == JSON_STRING ? property_overlaps(b, k, r, &open, 0) + open : b->n;

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

static int by_low(const void *x, const void *y)
{
	const struct branch *const *a = x, *const *b = y;

	return ((*a)->range.low > (*b)->range.low) - ((*a)->range.low < (*b)->range.low);
}

/* In order of lower bounds: a range that overlaps an earlier one overlaps the earlier one with the highest upper
 * bound. */
static void check_ranges(struct branches *b)
{
	const struct branch **order = calloc(b->n, sizeof *order), *furthest = NULL;
	size_t n = 0;

	if (!order)
		schema_no_memory(b->c);
	for (size_t i = 0; order && i < b->n; i++)
		if (b->branch[i].kind == RANGE)
			order[n++] = &b->branch[i];
	if (n)
		qsort(order, n, sizeof *order, by_low);
	for (size_t i = 0; i < n && !b->c->failed; i++) {
		if (furthest)
			check_pair(b, (size_t)(furthest - b->branch), (size_t)(order[i] - b->branch));
		if (!furthest || order[i]->range.high >= furthest->range.high)
			furthest = order[i];
	}
	free(order);
}

static void check_all(struct branches *b)
{
	check_ranges(b);
	for (size_t k = 0; k < b->n && !b->c->failed; k++) {
		const struct json *flat = b->branch[k].flat;

		if (flat->type == JSON_FALSE)
			continue;
		check_others(b, k);
		if ((b->branch[k].types & TYPE_OBJECT) || !json_get(flat, "type"))
			check_objects(b, k);
	}
}

void schema_check_exclusive(struct converter *c, const struct json *list)
{
	struct branches b = { .c = c, .branch = calloc(list->n, sizeof *b.branch) };

	if (!b.branch)
		schema_no_memory(c);
	for (const struct json *s = list->child; s && !c->failed; s = s->next) {
		const struct json *flat = schema_flatten(c, s);

		if (!flat)
			break;
		b.branch[b.n].flat = flat;
		add_branch(&b, b.n++);
	}
	if (b.n_facets)
		qsort(b.facet, b.n_facets, sizeof *b.facet, by_key);
	check_all(&b);
	free(b.branch);
	free(b.facet);
}
