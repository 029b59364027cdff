/* References, and merging schemas that must both hold. */
#include "converter.h"

#include <string.h>

#include "lib/base/hex.h"

/* ---- making schemas ---- */

static struct json *make(struct converter *c, enum json_type type)
{
	struct json *v = json_new(&c->arena, type);

	if (!v)
		schema_no_memory(c);
	return v;
}

/* Adds a shallow copy of the value. `to` or `value` is NULL if there was no memory for it. */
static void add(struct converter *c, struct json *to, const char *key, size_t key_n, const struct json *value)
{
	struct json *copy = to && value ? make(c, JSON_NULL) : NULL;

	if (!copy) {
		schema_no_memory(c);
		return;
	}
	*copy = *value;
	copy->next = NULL;
	json_add(to, NULL, copy);
	copy->key = key;
	copy->key_n = key_n;
}

const struct json *schema_without(struct converter *c, const struct json *s, const char *keyword)
{
	struct json *out = make(c, JSON_OBJECT);

	for (const struct json *m = s->child; m; m = m->next)
		if (m->key_n != strlen(keyword) || memcmp(m->key, keyword, m->key_n))
			add(c, out, m->key, m->key_n, m);
	return c->failed ? NULL : out;
}

/* { "allOf": [a, b] }, to be merged when it is written. */
static const struct json *both(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *out = make(c, JSON_OBJECT), *list = make(c, JSON_ARRAY);

	add(c, list, NULL, 0, a);
	add(c, list, NULL, 0, b);
	if (!c->failed)
		json_add(out, "allOf", list);
	return out;
}

/* ---- references ---- */

/* Decodes percent-encoding in s[n] in place; returns the new length. A '%' without two hexadecimal digits is kept. */
static size_t decode_percent(char *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		int high = s[i] == '%' && n - i > 2 ? hex_digit(s[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s[i + 2]) : -1;

		s[kept++] = low < 0 ? s[i] : (char)(high << 4 | low);
		i += low < 0 ? 0 : 2;
	}
	return kept;
}

/* The next name of a JSON pointer, with ~0 and ~1 decoded in place. *at is on the '/' before it, and moves past it. */
static struct json next_name(char **at, const char *end)
{
	struct json like = { .key = ++*at };
	char *out = *at;

	for (; *at < end && **at != '/'; (*at)++) {
		int tilde = **at == '~' && *at + 1 < end && ((*at)[1] == '0' || (*at)[1] == '1');

		*at += tilde;
		*out++ = !tilde ? **at : **at == '0' ? '~' : '/';
	}
	like.key_n = (size_t)(out - like.key);
	return like;
}

/* The element of an array whose index is spelt by name; NULL: there is none. */
static const struct json *element(const struct json *array, const struct json *name)
{
	const struct json *v = name->key_n && name->key_n < 10 ? array->child : NULL;
	size_t i = 0;

	for (size_t k = 0; k < name->key_n && v; k++) {
		v = name->key[k] < '0' || name->key[k] > '9' ? NULL : v;
		i = i * 10 + (size_t)(name->key[k] - '0');
	}
	for (; v && i; i--)
		v = v->next;
	return v;
}

const struct json *schema_follow(struct converter *c, const struct json *s)
{
	const struct json *ref = json_get(s, "$ref"), *v = c->document;
	char *at, *end;

	at = arena_text(&c->arena, ref->n + 1);
	if (!at) {
		schema_no_memory(c);
		return NULL;
	}
	memcpy(at, ref->s ? ref->s : "", ref->n);
	end = at + decode_percent(at, ref->n);
	if (ref->type != JSON_STRING || at == end || *at != '#' || (end - at > 1 && at[1] != '/')) {
		schema_fail(c, "$ref \"%.80s\": only references within the document (#/...) can be followed",
			ref->type == JSON_STRING ? ref->s : "");
		return NULL;
	}
	for (at++; v && at < end; ) {
		struct json name = next_name(&at, end);

		v = v->type == JSON_ARRAY ? element(v, &name) : index_find(&c->index, v, name.key, name.key_n);
	}
	if (!v)
		schema_fail(c, "$ref \"%.80s\": there is nothing of that name", ref->s);
	else if (v->type != JSON_OBJECT && v->type != JSON_TRUE && v->type != JSON_FALSE)
		schema_fail(c, "$ref \"%.80s\": that is no schema", ref->s);
	else
		return v;
	return NULL;
}

/* ---- flattening ---- */

static const struct json *flatten_deeper(struct converter *c, const struct json *s)
{
	const struct json *out;

	if (schema_enter(c, s))
		return NULL;
	out = schema_flatten(c, s);
	schema_leave(c);
	return c->failed ? NULL : out;
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
	a = flatten_deeper(c, *list);
	*list = (*list)->next;
	return a;
}

const struct json *schema_flatten(struct converter *c, const struct json *s)
{
	const struct json *all = json_get(s, "allOf"), *rest, *target, *list;
	int refers = json_get(s, "$ref") != NULL;

	if (!refers && !all)
		return s;
	if (!refers && all->type != JSON_ARRAY) {
		schema_fail(c, "allOf must be an array of schemas");
		return NULL;
	}
	rest = schema_without(c, s, refers ? "$ref" : "allOf");
	if (!rest || (!refers && !all->n))
		return rest;
	if (!refers) {
		list = all->child;
		target = flatten_list(c, &list, all->n);
		return target ? schema_merge(c, rest, target) : NULL;
	}
	target = schema_follow(c, s);
	target = target ? flatten_deeper(c, target) : NULL;
	rest = target ? flatten_deeper(c, rest) : NULL;
	return rest ? schema_merge(c, target, rest) : NULL;
}

/* ---- merging ---- */

static const struct json *merge_types(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *list = make(c, JSON_ARRAY);
	unsigned left = schema_types(c, a) & schema_types(c, b);

	for (size_t i = 0; i < SCHEMA_TYPES; i++) {
		const struct schema_type *t = &schema_types_by_name[i];

		if ((left & t->types) != t->types)
			continue;
		add(c, list, NULL, 0, json_new_string(&c->arena, t->name, strlen(t->name)));
		left &= ~t->types;
	}
	return list;
}

static int has_constants(const struct json *s)
{
	return json_get(s, "enum") || json_get(s, "const");
}

/* The values that both allow; each side has const or enum. */
static const struct json *merge_constants(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *end, *v = schema_constants(a, &end);
	struct json *list = make(c, JSON_ARRAY);

	for (; v && v != end; v = v->next)
		if (schema_is_constant(c, b, v))
			add(c, list, NULL, 0, v);
	return list;
}

/* Adds the properties of a; those that b has too only if `shared`. The others must also be valid against
 * additionalProperties of b. */
static void add_properties(struct converter *c, struct json *to, const struct json *a, const struct json *b, int shared)
{
	const struct json *in_a = json_get(a, "properties"), *in_b = json_get(b, "properties");
	const struct json *others = json_get(b, "additionalProperties");

	for (const struct json *p = in_a ? in_a->child : NULL; p && !c->failed; p = p->next) {
		const struct json *same = index_find(&c->index, in_b, p->key, p->key_n), *with = same ? same : others;

		if (!same || shared)
			add(c, to, p->key, p->key_n, with ? both(c, p, with) : p);
	}
}

static const struct json *merge_properties(struct converter *c, const struct json *a, const struct json *b)
{
	struct json *list = make(c, JSON_OBJECT);

	add_properties(c, list, a, b, 1);
	add_properties(c, list, b, a, 0);
	return list;
}

/* What a keyword that both sides have becomes. NULL: failed. */
static const struct json *merge_keyword(struct converter *c, const struct schema_keyword *k, const struct json *a,
	const struct json *b)
{
	struct json *list;

	if (schema_equal(a, b))
		return a;
	switch (k ? k->merged : ANNOTATION) {
	case MERGED_AS_LISTS:
		if (a->type != JSON_ARRAY || b->type != JSON_ARRAY)
			return a;
		list = make(c, JSON_ARRAY);
		for (const struct json *v = a->child; v; v = v->next)
			add(c, list, NULL, 0, v);
		for (const struct json *v = b->child; v; v = v->next)
			add(c, list, NULL, 0, v);
		return list;
	case MERGED_TO_LARGER: case MERGED_TO_SMALLER:
		if (schema_is_number(a) && schema_is_number(b))
			return (a->d > b->d) == (k->merged == MERGED_TO_LARGER) ? a : b;
		schema_fail(c, "%s must be a number", k->name);
		return NULL;
	case MERGED_AS_SCHEMAS:
		return both(c, a, b);
	case MERGED_IF_EQUAL:
		schema_fail(c, "two different values of %s that both must hold are not supported", k->name);
		return NULL;
	case MERGED_APART: case ANNOTATION:
		break;
	}
	return a;
}

/* Adds the keywords of both sides, except those that are merged apart and in `out` already. */
static void merge_keywords(struct converter *c, struct json *out, const struct json *a, const struct json *b,
	int constants)
{
	const struct json *pair[] = { a, b };

	for (unsigned i = 0; i < 2; i++)
		for (const struct json *m = pair[i]->child; m && !c->failed; m = m->next) {
			const struct json *other = index_find(&c->index, pair[1 - i], m->key, m->key_n);
			const struct schema_keyword *k = schema_keyword(m);

			if ((other && i) || (k && k->merged == MERGED_APART
				&& (json_get(out, m->key) || (constants && !strcmp(m->key, "const")))))
				continue;
			add(c, out, m->key, m->key_n, other ? merge_keyword(c, k, m, other) : m);
		}
}

/* Whether the two sides describe arrays in ways that cannot be merged keyword by keyword. */
static int mixes_items(const struct json *a, const struct json *b)
{
	return json_get(a, "prefixItems") && !json_get(b, "prefixItems") && json_get(b, "items");
}

const struct json *schema_merge(struct converter *c, const struct json *a, const struct json *b)
{
	int constants = has_constants(a) && has_constants(b);
	const struct json *types = NULL, *values = NULL;
	struct json *out;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_TRUE ? a : b;
	if (!(out = make(c, JSON_OBJECT)))
		return NULL;
	if (mixes_items(a, b) || mixes_items(b, a))
		schema_fail(c, "prefixItems in one schema and items in another that both must hold are not supported");
	if (json_get(a, "type") && json_get(b, "type"))
		add(c, out, "type", 4, types = merge_types(c, a, b));
	if (constants)
		add(c, out, "enum", 4, values = merge_constants(c, a, b));
	if (json_get(a, "properties") || json_get(b, "properties"))
		add(c, out, "properties", 10, merge_properties(c, a, b));
	merge_keywords(c, out, a, b, constants);
	if (c->failed)
		return NULL;
	return (types && !types->n) || (values && !values->n) ? make(c, JSON_FALSE) : out;
}
