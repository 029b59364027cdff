/* Whether the branches of a oneOf exclude each other. Two branches are compared by types, constants, required
 * properties and bounds. To avoid comparing all pairs, a table of facets (the types and constants of each branch,
 * the properties that its objects can have, and their constants) finds for each branch the others that it could
 * overlap. */
#include "converter.h"

#include <stdlib.h>
#include <string.h>

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
	int64_t high;           /* a RANGE's upper bound */
};

struct branches {
	struct converter *c;
	struct branch *branch;  /* [n] */
	size_t n, n_open;
	struct facets facets;
	struct facets ranges;   /* by lower bound */
};

/* ---- whether one excludes another ---- */

static int are_constants_apart(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *end, *v = schema_constants(a, &end);

	if ((!v && !json_get(a, "enum")) || (!json_get(b, "const") && !json_get(b, "enum")))
		return 0;
	for (; v && v != end; v = v->next)
		if (schema_is_constant(c, b, v))
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

/* Whether b allows no text of a's grammar. Both are flat. */
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
	if (!shared || are_constants_apart(c, a, b))
		return 1;
	if (schema_enter(c, a))
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

static void add_facet(struct branches *b, struct facets *to, uint64_t key, size_t branch)
{
	if (to->n == to->room && grow(&to->at, &to->room, sizeof *to->at, 1024))
		schema_no_memory(b->c);
	else
		to->at[to->n++] = (struct facet){ key, branch };
}

enum {
	HAS_TYPE = 't', HAS_RANGE = 'r',        /* OTHER, without constants: a type; RANGE: a type */
	HAS_CONSTANT = 'c', HAS_VALUE = 'v',    /* constants of a type; one of them */
	HAS = 'h', HAS_ANY = 'a', HAS_OPEN = 'o'        /* a property; without constants; in an open object */
};

static void add_property(struct branches *b, size_t i, const struct json *name, const struct json *schema)
{
	const struct json *flat = schema ? schema_flatten(b->c, schema) : NULL, *end, *v;

	add_facet(b, &b->facets, key(HAS, name, 0), i);
	if (b->branch[i].is_open)
		add_facet(b, &b->facets, key(HAS_OPEN, name, 0), i);
	v = flat ? schema_constants(flat, &end) : NULL;
	if (!v)
		add_facet(b, &b->facets, key(HAS_ANY, name, 0), i);
	for (; v && v != end; v = v->next)
		add_facet(b, &b->facets, key(HAS_VALUE, name, hash_value(v)), i);
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
	struct schema_range range = { INT64_MIN, INT64_MAX, 0, 0 };
	struct branch *x = &b->branch[i];
	const struct json *end, *v = schema_constants(x->flat, &end);

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
		schema_range(b->c, x->flat, &range);
		x->high = range.high;
		add_facet(b, &b->ranges, (uint64_t)range.low ^ (uint64_t)1 << 63, i);
	}
	for (unsigned bit = 1; bit < TYPE_ALL; bit <<= 1)
		if (x->types & bit)
			add_facet(b, &b->facets,
				key(v ? HAS_CONSTANT : x->kind == RANGE ? HAS_RANGE : HAS_TYPE, NULL, bit), i);
	for (; v && v != end; v = v->next)
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
	const struct json *end, *v = schema_constants(x->flat, &end);
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
	const struct json *flat = p ? schema_flatten(b->c, p) : NULL, *v = flat ? schema_constants(flat, &end) : NULL;
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

/* In order of lower bounds: a range that overlaps an earlier one overlaps the earlier one with the highest upper
 * bound. */
static void check_ranges(struct branches *b)
{
	const struct facet *at = b->ranges.at;
	size_t furthest = b->ranges.n ? at->branch : 0;

	for (size_t i = 1; i < b->ranges.n && !b->c->failed; i++) {
		check_pair(b, furthest, at[i].branch);
		if (b->branch[at[i].branch].high >= b->branch[furthest].high)
			furthest = at[i].branch;
	}
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
	sort(&b.facets);
	sort(&b.ranges);
	check_all(&b);
	free(b.branch);
	free(b.facets.at);
	free(b.ranges.at);
}
