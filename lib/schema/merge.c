/* Merging flat schemas that must both hold. */
#include "converter.h"

#include <string.h>

#include "decimal.h"

static const struct json *merge_types(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *list = schema_make(c, JSON_ARRAY), *in_a = schema_of(c, "type", a), *in_b = schema_of(c, "type",
		b);
	unsigned left = c->failed ? 0 : schema_types(c, in_a) & schema_types(c, in_b);

	for (size_t i = 0; i < SCHEMA_N_TYPES; i++) {
		const struct schema_type *t = &schema_types_by_name[i];

		if ((left & t->types) != t->types)
			continue;
		schema_add(c, list, NULL, json_new_string(&c->arena, t->name, strlen(t->name)));
		left &= ~t->types;
	}
	return list;
}

/* The values that both allow; each side has enum. */
static const struct json *merge_constants(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *list = schema_make(c, JSON_ARRAY);

	for (const struct json *v = json_get(a, "enum")->child; v && !c->failed; v = v->next)
		if (schema_is_constant(c, b, v))
			schema_add(c, list, NULL, v);
	return list;
}

/* Adds the properties of a; those that b has too only if `shared`. */
static void add_properties(struct converter *c, struct json *to, const struct json *a, const struct json *b, int shared)
{
	for (const struct json *p = a ? a->child : NULL; p && !c->failed; p = p->next) {
		const struct json *same = index_find(&c->index, b, p->key, p->key_n);

		if (!same || shared)
			schema_add_named(c, to, p, same ? schema_both(c, p, same) : p);
	}
}

static const struct json *merge_properties(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *list = schema_make(c, JSON_OBJECT);

	add_properties(c, list, a, b, 1);
	add_properties(c, list, b, a, 0);
	return list;
}

static const struct json *merge_lists(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *list = schema_make(c, JSON_ARRAY);

	for (const struct json *v = a->child; v; v = v->next)
		schema_add(c, list, NULL, v);
	for (const struct json *v = b->child; v; v = v->next)
		schema_add(c, list, NULL, v);
	return list;
}

static const struct json *merge_numbers(struct converter *c, const struct schema_keyword *k, const struct json *a,
	const struct json *b)
{
	struct decimal x, y;

	if (!schema_is_number(a) || !schema_is_number(b)) {
		schema_fail(c, "%s must be a number", k->name);
		return NULL;
	}
	if (decimal_read(&x, a) || decimal_read(&y, b))
		return (a->d > b->d) == (k->merged == MERGED_TO_LARGER) ? a : b;
	return (decimal_compare(&x, &y) > 0) == (k->merged == MERGED_TO_LARGER) ? a : b;
}

/* What a keyword that both sides have becomes. NULL: failed. */
static const struct json *merge_keyword(struct converter *c, const struct schema_keyword *k, const struct json *a,
	const struct json *b)
{
	switch (k->merged) {
	case MERGED_AS_LISTS:
		return a->child == b->child ? a : merge_lists(c, a, b);
	case MERGED_TO_LARGER: case MERGED_TO_SMALLER:
		return merge_numbers(c, k, a, b);
	case MERGED_AS_SCHEMAS:
		return schema_both(c, a, b);
	case MERGED_TO_EITHER: case MERGED_APART: case REWRITTEN: case ANNOTATION:
		break;
	}
	return a;
}

/* Adds the keywords of both sides, except those that are merged apart and in `out` already. */
static void merge_keywords(struct converter *c, struct json *out, const struct json *a, const struct json *b)
{
	const struct json *pair[] = { a, b };

	for (unsigned i = 0; i < 2; i++)
		for (const struct json *m = pair[i]->child; m && !c->failed; m = m->next) {
			const struct json *other = json_get(pair[1 - i], m->key);
			const struct schema_keyword *k = schema_keyword(m);

			if ((other && i) || (k->merged == MERGED_APART && json_get(out, m->key)))
				continue;
			schema_add(c, out, m->key, other ? merge_keyword(c, k, m, other) : m);
		}
}

const struct json *schema_merge(struct converter *c, const struct json *a, const struct json *b)
{
	static const char *const apart[] = { "type", "enum", "properties", SCHEMA_TYPES };
	struct json *out;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_TRUE ? a : b;
	if (!a->n || !b->n)
		return a->n ? a : b;
	out = schema_make(c, JSON_OBJECT);
	for (size_t i = 0; i < sizeof apart / sizeof *apart && !c->failed; i++) {
		const struct json *x = json_get(a, apart[i]), *y = json_get(b, apart[i]);

		if (x && y)
			schema_add(c, out, apart[i], i == 0 ? merge_types(c, x, y) : i == 1 ? merge_constants(c, a, b)
				: i == 2 ? merge_properties(c, x, y) : schema_make_int(c, x->i & y->i));
	}
	if (c->failed)
		return NULL;
	merge_keywords(c, out, a, b);
	if (c->failed)
		return NULL;
	return schema_types(c, out) ? schema_is_flat(c, out) : schema_make(c, JSON_FALSE);
}
