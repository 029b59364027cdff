/* Negating flat schemas: a value is not valid if one of the keywords does not allow it. */
#include "converter.h"

#include <string.h>

/* What cannot be negated; returns `true` if it is to be left out, and so the whole negation. */
static const struct json *refuse(struct converter *c, const char *what)
{
	return schema_refuse(c, "%s in a schema that must not hold", what) ? NULL : schema_make(c, JSON_TRUE);
}

static void add(struct converter *c, struct json *list, const struct json *s)
{
	schema_add(c, list, NULL, s);
}

/* A value of the types, with one more keyword. */
static struct json *typed(struct converter *c, unsigned types, const char *keyword, const struct json *value)
{
	struct json *out = schema_of_types(c, types);

	schema_add(c, out, keyword, value);
	return out;
}

/* ---- objects ---- */

static int says_nothing(const struct json *s)
{
	return !s || s->type == JSON_TRUE || (s->type == JSON_OBJECT && !s->child);
}

static void negate_properties(struct converter *c, struct json *list, const struct json *properties)
{
	for (const struct json *p = properties ? properties->child : NULL; p && !c->failed; p = p->next)
		if (!says_nothing(p))
			add(c, list, p->type == JSON_FALSE ? schema_present(c, p)
				: schema_with_member(c, p, schema_not(c, p), schema_present(c, p)));
}

/* The value of some property is valid; its name matches the pattern, if there is one, and no members declare it. */
static const struct json *some(struct converter *c, const struct json *pattern, const struct json *members,
	const struct json *value)
{
	static const char *const keywords[] = { "properties", "patternProperties" };
	struct json *out = schema_of(c, SCHEMA_VALUE, value);

	if (pattern)
		schema_add(c, out, "pattern", json_new_string(&c->arena, pattern->key, pattern->key_n));
	for (int i = 0; i < 2 && members; i++)
		if (json_get(members, keywords[i]))
			schema_add(c, out, keywords[i], json_get(members, keywords[i]));
	return typed(c, TYPE_OBJECT, SCHEMA_SOME, schema_list(c, out));
}

static void negate_members(struct converter *c, struct json *list, const struct json *lists)
{
	for (const struct json *m = lists->child; m && !c->failed; m = m->next) {
		const struct json *patterns = json_get(m, "patternProperties");
		const struct json *others = json_get(m, "additionalProperties");

		negate_properties(c, list, json_get(m, "properties"));
		for (const struct json *p = patterns ? patterns->child : NULL; p; p = p->next)
			if (!says_nothing(p))
				add(c, list, some(c, p, NULL, schema_not(c, p)));
		if (!says_nothing(others))
			add(c, list, some(c, NULL, m, schema_not(c, others)));
	}
}

/* The same names, each with the schema `true`. */
static const struct json *all_true(struct converter *c, const struct json *names)
{
	struct json *out = schema_make(c, JSON_OBJECT);

	for (const struct json *p = names->child; p && !c->failed; p = p->next)
		schema_add_named(c, out, p, schema_make(c, JSON_TRUE));
	return out;
}

/* No such property has the value. */
static void negate_some(struct converter *c, struct json *list, const struct json *lists)
{
	for (const struct json *m = lists->child; m && !c->failed; m = m->next) {
		struct json *members = schema_of(c, SCHEMA_NEGATED, schema_make(c, JSON_TRUE)), *by_pattern;
		const struct json *value = schema_not(c, json_get(m, SCHEMA_VALUE)), *pattern = json_get(m, "pattern");

		for (const struct json *k = m->child; k && !c->failed; k = k->next)
			if (k->type == JSON_OBJECT && strcmp(k->key, SCHEMA_VALUE))
				schema_add(c, members, k->key, all_true(c, k));
		if (pattern) {
			by_pattern = schema_make(c, JSON_OBJECT);
			schema_add_named(c, by_pattern, json_new_string(&c->arena, pattern->s, pattern->n), value);
			schema_add(c, members, "patternProperties", by_pattern);
		} else {
			schema_add(c, members, "additionalProperties", value);
		}
		add(c, list, typed(c, TYPE_OBJECT, SCHEMA_MEMBERS, schema_list(c, members)));
	}
}

/* ---- arrays ---- */

/* A list of n schemas `true` and then `last`, if it is not NULL. */
static struct json *trues(struct converter *c, uint32_t n, const struct json *last)
{
	struct json *out = schema_make(c, JSON_ARRAY);

	for (uint32_t i = 0; i < n && !c->failed; i++)
		schema_add(c, out, NULL, schema_make(c, JSON_TRUE));
	if (last)
		schema_add(c, out, NULL, last);
	return out;
}

static void negate_items(struct converter *c, struct json *list, const struct json *lists)
{
	for (const struct json *m = lists->child; m && !c->failed; m = m->next) {
		const struct json *first = json_get(m, "prefixItems"), *others = json_get(m, "items");
		struct json *one;
		uint32_t n = 0;

		for (const struct json *i = first ? first->child : NULL; i && !c->failed; i = i->next, n++) {
			if (says_nothing(i))
				continue;
			one = schema_of(c, "prefixItems", trues(c, n, schema_not(c, i)));
			schema_add(c, one, SCHEMA_NEGATED, schema_make(c, JSON_TRUE));
			one = typed(c, TYPE_ARRAY, SCHEMA_ITEMS, schema_list(c, one));
			schema_add(c, one, "minItems", schema_make_int(c, n + 1));
			add(c, list, one);
		}
		if (says_nothing(others))
			continue;
		if (others->type == JSON_FALSE) {
			add(c, list, typed(c, TYPE_ARRAY, "minItems", schema_make_int(c, n + 1)));
			continue;
		}
		one = schema_of(c, "contains", schema_not(c, others));
		schema_add(c, one, SCHEMA_AFTER, schema_make_int(c, n));
		schema_add(c, one, SCHEMA_NEGATED, schema_make(c, JSON_TRUE));
		add(c, list, typed(c, TYPE_ARRAY, SCHEMA_CONTAINS, schema_list(c, one)));
	}
}

static struct json *count_contained(struct converter *c, const struct json *contains, const char *keyword, uint32_t n)
{
	struct json *out = schema_of(c, "contains", json_get(contains, "contains"));

	if (json_get(contains, SCHEMA_AFTER))
		schema_add(c, out, SCHEMA_AFTER, json_get(contains, SCHEMA_AFTER));
	schema_add(c, out, SCHEMA_NEGATED, schema_make(c, JSON_TRUE));
	if (*keyword == 'm' && strcmp(keyword, "minContains"))
		schema_add(c, out, "minContains", schema_make_int(c, 0));
	schema_add(c, out, keyword, schema_make_int(c, n));
	return typed(c, TYPE_ARRAY, SCHEMA_CONTAINS, schema_list(c, out));
}

static void negate_contains(struct converter *c, struct json *list, const struct json *lists)
{
	for (const struct json *m = lists->child; m && !c->failed; m = m->next) {
		uint32_t low = schema_count(c, m, "minContains", 1), high = schema_count(c, m, "maxContains",
			GBNF_FOREVER);

		if (low)
			add(c, list, count_contained(c, m, "maxContains", low - 1));
		if (high != GBNF_FOREVER)
			add(c, list, count_contained(c, m, "minContains", high + 1));
	}
}

/* ---- values of any type ---- */

static void negate_types(struct converter *c, struct json *list, unsigned types)
{
	add(c, list, schema_of_types(c, TYPE_ALL & ~types));
}

/* None of the lists' schemas holds. */
static void negate_any_of(struct converter *c, struct json *list, const struct json *lists)
{
	for (const struct json *l = lists->child; l && !c->failed; l = l->next) {
		struct json *none = schema_make(c, JSON_ARRAY);

		for (const struct json *s = l->child; s && !c->failed; s = s->next)
			schema_add(c, none, NULL, schema_not(c, s));
		add(c, list, schema_of(c, "allOf", none));
	}
}

static void negate_enum(struct converter *c, struct json *list, const struct json *values)
{
	struct json *scalars = schema_make(c, JSON_ARRAY), *all = schema_make(c, JSON_ARRAY);

	for (const struct json *v = values->child; v && !c->failed; v = v->next)
		if (v->type == JSON_ARRAY || v->type == JSON_OBJECT)
			schema_add(c, all, NULL, schema_not(c, schema_of_value(c, v)));
		else
			schema_add(c, scalars, NULL, v);
	if (!c->failed && scalars->n)
		schema_add(c, all, NULL, schema_of(c, SCHEMA_NOT_ENUM, scalars));
	add(c, list, schema_of(c, "allOf", all));
}

/* ---- keywords ---- */

static void negate_list(struct converter *c, struct json *list, const struct json *m, const char *opposite,
	unsigned types)
{
	for (const struct json *v = m->child; v && !c->failed; v = v->next)
		add(c, list, typed(c, types, opposite, schema_list(c, v)));
}

/* A count or a bound: its opposite. */
static const struct {
	const char *name, *opposite;
	int step;                       /* 0: a bound, which stays the same */
} bounds[] = {
	{ "minProperties", "maxProperties", -1 }, { "maxProperties", "minProperties", 1 },
	{ "minItems", "maxItems", -1 }, { "maxItems", "minItems", 1 },
	{ "minLength", "maxLength", -1 }, { "maxLength", "minLength", 1 },
	{ "minimum", "exclusiveMaximum", 0 }, { "maximum", "exclusiveMinimum", 0 },
	{ "exclusiveMinimum", "maximum", 0 }, { "exclusiveMaximum", "minimum", 0 },
};

static void negate_bound(struct converter *c, struct json *list, const struct json *s, const struct json *m)
{
	for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
		const struct json *value = m;
		uint32_t n;

		if (strcmp(bounds[i].name, m->key))
			continue;
		if (bounds[i].step) {
			n = schema_count(c, s, m->key, 0);
			if (!n && bounds[i].step < 0)
				return;
			value = schema_make_int(c, (int64_t)n + bounds[i].step);
		}
		add(c, list, typed(c, schema_keyword(m)->types, bounds[i].opposite, value));
	}
}

/* Adds the alternatives in which this keyword does not hold. Returns what the negation is then, if it is something
 * else, or NULL. */
static const struct json *negate_keyword(struct converter *c, struct json *list, const struct json *s,
	const struct json *m)
{
	const char *key = m->key;

	if (!strcmp(key, "type"))
		negate_types(c, list, schema_types(c, schema_of(c, "type", m)));
	else if (!strcmp(key, SCHEMA_TYPES))
		negate_types(c, list, (unsigned)m->i);
	else if (!strcmp(key, "enum"))
		negate_enum(c, list, m);
	else if (!strcmp(key, SCHEMA_NOT_ENUM))
		add(c, list, schema_of(c, "enum", m));
	else if (!strcmp(key, SCHEMA_ANY_OF))
		negate_any_of(c, list, m);
	else if (!strcmp(key, "properties"))
		negate_properties(c, list, m);
	else if (!strcmp(key, SCHEMA_MEMBERS))
		negate_members(c, list, m);
	else if (!strcmp(key, SCHEMA_SOME) || !strcmp(key, SCHEMA_OTHER))
		negate_some(c, list, m);
	else if (!strcmp(key, "required") || !strcmp(key, SCHEMA_HAS))
		for (const struct json *v = m->child; v && !c->failed; v = v->next)
			add(c, list, schema_with_member(c, v, schema_make(c, JSON_FALSE), schema_of_types(c,
				TYPE_OBJECT)));
	else if (!strcmp(key, SCHEMA_ITEMS))
		negate_items(c, list, m);
	else if (!strcmp(key, SCHEMA_CONTAINS))
		negate_contains(c, list, m);
	else if (!strcmp(key, SCHEMA_PATTERNS) || !strcmp(key, SCHEMA_NOT_PATTERNS))
		negate_list(c, list, m, !strcmp(key, SCHEMA_PATTERNS) ? SCHEMA_NOT_PATTERNS : SCHEMA_PATTERNS,
			TYPE_STRING);
	else if (!strcmp(key, SCHEMA_MULTIPLES) || !strcmp(key, SCHEMA_NOT_MULTIPLES))
		negate_list(c, list, m, !strcmp(key, SCHEMA_MULTIPLES) ? SCHEMA_NOT_MULTIPLES : SCHEMA_MULTIPLES,
			TYPE_NUMBER);
	else if (!strcmp(key, "propertyNames") && !says_nothing(m))
		return refuse(c, "propertyNames");
	else if (!strcmp(key, "uniqueItems"))
		return refuse(c, "uniqueItems");
	else if (!strcmp(key, SCHEMA_FORMATS))
		return refuse(c, "format");
	else
		negate_bound(c, list, s, m);
	return NULL;
}

const struct json *schema_negate(struct converter *c, const struct json *s)
{
	struct json *list = schema_make(c, JSON_ARRAY);
	const struct json *other = NULL;

	if (s->type != JSON_OBJECT)
		return schema_make(c, s->type == JSON_TRUE ? JSON_FALSE : JSON_TRUE);
	for (const struct json *m = s->child; m && !other && !c->failed; m = m->next)
		other = negate_keyword(c, list, s, m);
	if (c->failed || other)
		return other;
	if (list->n < 2)
		return list->n ? list->child : schema_make(c, JSON_FALSE);
	return schema_of(c, SCHEMA_ANY_OF, schema_list(c, list));
}
