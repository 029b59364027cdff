/* Flattening: each keyword of a schema becomes keywords of a flat one, or a schema to be merged in. */
#include "converter.h"

#include <string.h>

struct rewriting {
	const struct json *from;        /* the schema */
	struct json *flat;              /* what needs no merging */
	struct json *parts;             /* the other schemas that must hold, not flat */
	const struct json *before;      /* the target of $ref: it comes first, for the order of properties */
};

static const struct json *get(const struct rewriting *r, const char *keyword)
{
	return json_get(r->from, keyword);
}

static void add_part(struct converter *c, struct rewriting *r, const struct json *s)
{
	schema_add(c, r->parts, NULL, s);
}

/* One of the schemas must hold. */
static void add_choice(struct converter *c, struct rewriting *r, const struct json *schemas)
{
	add_part(c, r, schema_of(c, SCHEMA_ANY_OF, schema_list(c, schemas)));
}

static void add_pair(struct converter *c, struct rewriting *r, const struct json *a, const struct json *b)
{
	struct json *list = schema_list(c, a);

	schema_add(c, list, NULL, b);
	add_choice(c, r, list);
}

/* ---- combinations ---- */

static void rewrite_all_of(struct converter *c, struct rewriting *r, const struct json *m)
{
	if (m->type != JSON_ARRAY)
		schema_fail(c, "allOf must be an array of schemas");
	for (const struct json *s = m->child; s && !c->failed; s = s->next)
		add_part(c, r, s);
}

static void rewrite_any_of(struct converter *c, struct rewriting *r, const struct json *m)
{
	if (m->type != JSON_ARRAY || !m->n)
		schema_fail(c, "%s must be an array of schemas", m->key);
	else
		add_choice(c, r, *m->key == 'o' ? schema_make_exclusive(c, m) : m);
}

static void rewrite_not(struct converter *c, struct rewriting *r, const struct json *m)
{
	const struct json *flat = schema_flatten(c, m);

	if (flat)
		add_part(c, r, schema_negate(c, flat));
}

static void rewrite_if(struct converter *c, struct rewriting *r, const struct json *m)
{
	const struct json *then = get(r, "then"), *otherwise = get(r, "else"), *not = schema_not(c, m);

	if (then || otherwise || get(r, "unevaluatedProperties") || get(r, "unevaluatedItems"))
		add_pair(c, r, then ? schema_both(c, m, then) : m, otherwise ? schema_both(c, not, otherwise) : not);
}

static void rewrite_ref(struct converter *c, struct rewriting *r, const struct json *m)
{
	const struct json *target = schema_follow(c, m);

	if (target && !r->before)
		r->before = target;
	else if (target)
		add_part(c, r, target);
}

/* ---- values of any type ---- */

static void rewrite_const(struct converter *c, struct rewriting *r, const struct json *m)
{
	add_part(c, r, schema_of(c, "enum", schema_list(c, m)));
}

static void rewrite_enum(struct converter *c, struct rewriting *r, const struct json *m)
{
	if (m->type != JSON_ARRAY || !m->n)
		schema_fail(c, "enum must be an array of values");
	schema_add(c, r->flat, "enum", m);
}

/* In OpenAPI 3.0 `nullable` adds null to the type beside it. */
static void rewrite_type(struct converter *c, struct rewriting *r, const struct json *m)
{
	const struct json *nullable = get(r, "nullable");
	struct json *list;

	if (nullable && nullable->type == JSON_TRUE) {
		list = schema_list(c, json_new_string(&c->arena, "null", 4));
		for (const struct json *t = m->type == JSON_ARRAY ? m->child : m; t; t = m->type == JSON_ARRAY ? t->next
			: NULL)
			schema_add(c, list, NULL, t);
		m = list;
	}
	schema_add(c, r->flat, "type", m);
	if (!c->failed)
		schema_types(c, r->flat);
}

/* ---- objects ---- */

/* Without patterns and other properties, properties are merged by name. */
static void rewrite_members(struct converter *c, struct rewriting *r)
{
	static const char *const keywords[] = { "properties", "patternProperties", "additionalProperties" };
	struct json *members;

	for (size_t i = 0; i < 2; i++)
		if (get(r, keywords[i]) && get(r, keywords[i])->type != JSON_OBJECT)
			schema_fail(c, "%s must be an object of schemas", keywords[i]);
	if (c->failed)
		return;
	if (!get(r, "patternProperties") && !get(r, "additionalProperties")) {
		schema_add(c, r->flat, "properties", get(r, "properties"));
		return;
	}
	members = schema_make(c, JSON_OBJECT);
	for (size_t i = 0; i < 3; i++)
		if (get(r, keywords[i]))
			schema_add(c, members, keywords[i], get(r, keywords[i]));
	schema_add(c, r->flat, SCHEMA_MEMBERS, schema_list(c, members));
}

/* dependentRequired, dependentSchemas, and what was both: dependencies. */
static void rewrite_dependent(struct converter *c, struct rewriting *r, const struct json *m)
{
	if (m->type != JSON_OBJECT)
		schema_fail(c, "%s must be an object", m->key);
	for (const struct json *d = m->child; d && !c->failed; d = d->next)
		add_pair(c, r, schema_absent(c, d), schema_both(c, schema_present(c, d),
			d->type == JSON_ARRAY ? schema_of(c, "required", d) : d));
}

static void rewrite_required(struct converter *c, struct rewriting *r, const struct json *m)
{
	int names = m->type == JSON_ARRAY;

	for (const struct json *v = names ? m->child : NULL; v; v = v->next)
		names &= v->type == JSON_STRING;
	if (names)
		schema_add(c, r->flat, "required", m);
	else
		schema_fail(c, "required must be an array of names");
}

/* ---- arrays ---- */

/* Drafts up to 2019-09 have items (an array) and additionalItems in place of prefixItems and items. */
static void rewrite_items(struct converter *c, struct rewriting *r)
{
	const struct json *first = get(r, "prefixItems"), *others = get(r, "items");
	struct json *items = schema_make(c, JSON_OBJECT);

	if (first && first->type != JSON_ARRAY) {
		schema_fail(c, "prefixItems must be an array of schemas");
	} else if (others && others->type == JSON_ARRAY) {
		if (first)
			schema_fail(c, "items beside prefixItems must be one schema");
		first = others;
		others = get(r, "additionalItems");
	} else if (!others && !first) {
		return;         /* additionalItems alone says nothing */
	}
	if (first)
		schema_add(c, items, "prefixItems", first);
	if (others)
		schema_add(c, items, "items", others);
	schema_add(c, r->flat, SCHEMA_ITEMS, schema_list(c, items));
}

static void rewrite_contains(struct converter *c, struct rewriting *r, const struct json *m)
{
	struct json *contains = schema_of(c, "contains", m);

	for (int i = 0; i < 2; i++) {
		const char *keyword = i ? "maxContains" : "minContains";

		if (get(r, keyword))
			schema_add(c, contains, keyword, get(r, keyword));
	}
	schema_add(c, r->flat, SCHEMA_CONTAINS, schema_list(c, contains));
}

/* ---- numbers ---- */

/* In draft 4 and OpenAPI 3.0 exclusiveMinimum says whether `minimum` is excluded. */
static void rewrite_bound(struct converter *c, struct rewriting *r, const struct json *m)
{
	int low = strstr(m->key, "inimum") != NULL, exclusive = *m->key == 'e';
	const struct json *excludes = get(r, low ? "exclusiveMinimum" : "exclusiveMaximum");
	int is_word = excludes && (excludes->type == JSON_TRUE || excludes->type == JSON_FALSE);

	if (exclusive && is_word)
		return;
	if (!schema_is_number(m))
		schema_fail(c, "%s must be a number", m->key);
	else if (is_word && excludes->type == JSON_TRUE)
		schema_add(c, r->flat, low ? "exclusiveMinimum" : "exclusiveMaximum", m);
	else
		schema_add(c, r->flat, m->key, m);
}

/* ---- schemas ---- */

static void rewrite_as_list(struct converter *c, struct rewriting *r, const struct json *m)
{
	const char *keyword = !strcmp(m->key, "pattern") ? SCHEMA_PATTERNS : !strcmp(m->key, "format") ? SCHEMA_FORMATS
		: SCHEMA_MULTIPLES;

	if (m->type != JSON_STRING && strcmp(m->key, "multipleOf"))
		schema_fail(c, "%s must be a string", m->key);
	schema_add(c, r->flat, keyword, schema_list(c, m));
}

static void rewrite_unique(struct converter *c, struct rewriting *r, const struct json *m)
{
	if (m->type == JSON_TRUE)
		schema_add(c, r->flat, m->key, m);
}

static const struct {
	const char *name;
	void (*rewrite)(struct converter *c, struct rewriting *r, const struct json *m);
} rewrites[] = {
	{ "$ref", rewrite_ref }, { "$dynamicRef", rewrite_ref }, { "allOf", rewrite_all_of }, { "anyOf",
		rewrite_any_of },
	{ "oneOf", rewrite_any_of }, { "not", rewrite_not }, { "if", rewrite_if }, { "const", rewrite_const },
	{ "enum", rewrite_enum }, { "type", rewrite_type }, { "required", rewrite_required },
	{ "dependentRequired", rewrite_dependent }, { "dependentSchemas", rewrite_dependent },
	{ "dependencies", rewrite_dependent }, { "contains", rewrite_contains }, { "minimum", rewrite_bound },
	{ "maximum", rewrite_bound }, { "exclusiveMinimum", rewrite_bound }, { "exclusiveMaximum", rewrite_bound },
	{ "pattern", rewrite_as_list }, { "format", rewrite_as_list }, { "multipleOf", rewrite_as_list },
	{ "uniqueItems", rewrite_unique },
};

static void rewrite_keyword(struct converter *c, struct rewriting *r, const struct json *m)
{
	const struct schema_keyword *k = schema_keyword(m);

	if (json_get(r->from, m->key) != m)
		return;                 /* given again later */
	if (!k) {
		if (m->key_n < 2 || memcmp(m->key, "x-", 2))
			schema_refuse(c, "the keyword \"%.60s\"", m->key);
		return;
	}
	for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++)
		if (!strcmp(rewrites[i].name, k->name)) {
			rewrites[i].rewrite(c, r, m);
			return;
		}
	if (k->merged < MERGED_APART || !strcmp(k->name, SCHEMA_TYPES))
		schema_add(c, r->flat, k->name, m);
}

/* Merges the first n schemas of a list, past which *list moves. Merging by halves copies no long result for each
 * schema. */
static const struct json *flatten_list(struct converter *c, const struct json **list, size_t n)
{
	const struct json *a, *b;

	if (n > 1) {
		a = flatten_list(c, list, n / 2);
		b = a ? flatten_list(c, list, n - n / 2) : NULL;
		return b ? schema_merge(c, a, b) : NULL;
	}
	a = schema_flatten(c, *list);
	*list = (*list)->next;
	return a;
}

static const struct json *rewrite(struct converter *c, const struct json *s)
{
	struct rewriting r = { s, schema_make(c, JSON_OBJECT), schema_make(c, JSON_ARRAY), NULL };
	const struct json *out, *list;

	for (const struct json *m = s->child; m && !c->failed; m = m->next)
		rewrite_keyword(c, &r, m);
	if (!c->failed && (get(&r, "properties") || get(&r, "patternProperties") || get(&r, "additionalProperties")))
		rewrite_members(c, &r);
	if (!c->failed)
		rewrite_items(c, &r);
	out = c->failed ? NULL : r.flat;
	if (out && r.before) {
		list = schema_flatten(c, r.before);
		out = list ? schema_merge(c, list, out) : NULL;
	}
	if (out && r.parts->n) {
		list = r.parts->child;
		list = flatten_list(c, &list, r.parts->n);
		out = list ? schema_merge(c, out, list) : NULL;
	}
	return out && (get(&r, "unevaluatedProperties") || get(&r, "unevaluatedItems")) ? schema_evaluate(c, out, s)
		: out;
}

const struct json *schema_flatten(struct converter *c, const struct json *s)
{
	const struct json *out;

	if (s->type == JSON_OBJECT && !s->child)
		return s;
	if (s->type != JSON_OBJECT) {
		if (schema_enter(c, s))
			return NULL;
		schema_leave(c);
		return s;
	}
	out = index_noted(&c->flat, s->child);
	if (out)
		return out;
	if (schema_enter(c, s))
		return NULL;
	out = rewrite(c, s);
	schema_leave(c);
	if (out) {
		index_note(&c->flat, s->child, out);
		schema_is_flat(c, out);
	}
	return c->failed ? NULL : out;
}
