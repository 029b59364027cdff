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

static void add_like(struct converter *c, struct json *to, const struct json *member)
{
	add(c, to, member->key, member->key_n, member);
}

static int is_named(const struct json *m, const char *name)
{
	return m->key_n == strlen(name) && !memcmp(m->key, name, m->key_n);
}

static int in_list(const struct json *m, const char *const *names)
{
	for (; *names; names++)
		if (is_named(m, *names))
			return 1;
	return 0;
}

/* The keyword of s that has the name of m. */
static const struct json *same_keyword(const struct json *s, const struct json *m)
{
	for (const struct json *i = s->child; i; i = i->next)
		if (i->key_n == m->key_n && !memcmp(i->key, m->key, m->key_n))
			return i;
	return NULL;
}

const struct json *schema_without(struct converter *c, const struct json *s, const char *keyword)
{
	struct json *out = make(c, JSON_OBJECT);

	for (const struct json *m = s->child; m; m = m->next)
		if (!is_named(m, keyword))
			add_like(c, out, m);
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
	size_t i = name->key_n && name->key_n < 10 ? 0 : array->n;
	const struct json *v;

	for (size_t k = 0; k < name->key_n && i < array->n; k++)
		i = name->key[k] < '0' || name->key[k] > '9' ? array->n : i * 10 + (size_t)(name->key[k] - '0');
	for (v = i < array->n ? array->child : NULL; v && i; i--)
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
	const struct json *out = NULL;

	if (s->type != JSON_OBJECT && s->type != JSON_TRUE && s->type != JSON_FALSE)
		schema_fail(c, "a schema is an object, true or false");
	if (schema_enter(c))
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
	static const struct {
		unsigned type;
		const char *name;
	} each[] = { { TYPE_OBJECT, "object" }, { TYPE_ARRAY, "array" }, { TYPE_STRING, "string" },
		{ TYPE_NUMBER, "number" }, { TYPE_INTEGER, "integer" },
		{ TYPE_BOOLEAN, "boolean" }, { TYPE_NULL, "null" } };
	struct json *list = make(c, JSON_ARRAY);
	unsigned left = schema_types(c, a) & schema_types(c, b);

	for (size_t i = 0; i < sizeof each / sizeof *each; i++)
		if ((left & each[i].type) == each[i].type) {
			add(c, list, NULL, 0, json_new_string(&c->arena, each[i].name, strlen(each[i].name)));
			left &= ~each[i].type;
		}
	return list;
}

static const struct json *equal_value(struct converter *c, const struct json *list, const struct json *v)
{
	if (v->type == JSON_STRING)
		return index_find(&c->index, list, v->s, v->n);
	for (const struct json *i = list->child; i; i = i->next)
		if (schema_equal(i, v))
			return i;
	return NULL;
}

/* The values of const or enum, as an array. */
static const struct json *constants_of(struct converter *c, const struct json *s)
{
	const struct json *constant = json_get(s, "const"), *list = json_get(s, "enum");
	struct json *one;

	if (!constant)
		return list;
	one = make(c, JSON_ARRAY);
	add(c, one, NULL, 0, constant);
	return one;
}

/* The values that both allow, as an enum; each side has const or enum. */
static const struct json *merge_constants(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *in_a = constants_of(c, a), *in_b = constants_of(c, b);
	struct json *list = make(c, JSON_ARRAY);

	for (const struct json *v = in_a && in_b ? in_a->child : NULL; v; v = v->next)
		if (equal_value(c, in_b, v))
			add(c, list, NULL, 0, v);
	return list;
}

/* Adds the properties of a; those that b has too only if `shared`. The others must also hold to
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

static void merge_properties(struct converter *c, struct json *out, const struct json *a, const struct json *b)
{
	struct json *list = make(c, JSON_OBJECT);

	if (!json_get(a, "properties") && !json_get(b, "properties"))
		return;
	add_properties(c, list, a, b, 1);
	add_properties(c, list, b, a, 0);
	add(c, out, "properties", 10, list);
}

static void merge_lists(struct converter *c, struct json *out, const struct json *m, const struct json *other)
{
	struct json *list = make(c, JSON_ARRAY);

	for (const struct json *v = m->child; v; v = v->next)
		add(c, list, NULL, 0, v);
	for (const struct json *v = other->child; v; v = v->next)
		add(c, list, NULL, 0, v);
	add(c, out, m->key, m->key_n, list);
}

/* A keyword that both sides have. */
static void merge_keyword(struct converter *c, struct json *out, const struct json *m, const struct json *other)
{
	static const char *const larger[] = { "minimum", "exclusiveMinimum", "minLength", "minItems", NULL };
	static const char *const smaller[] = { "maximum", "exclusiveMaximum", "maxLength", "maxItems", NULL };
	static const char *const schemas[] = { "items", "additionalItems", "additionalProperties", NULL };
	static const char *const separate[] = { "pattern", "format", "multipleOf", "uniqueItems", "prefixItems",
		"anyOf", "oneOf", "$ref", NULL };
	int is_bound = in_list(m, larger) || in_list(m, smaller);

	if (schema_equal(m, other))
		add_like(c, out, m);
	else if (is_named(m, "required") && m->type == JSON_ARRAY && other->type == JSON_ARRAY)
		merge_lists(c, out, m, other);
	else if (is_bound && schema_is_number(m) && schema_is_number(other))
		add_like(c, out, (m->d > other->d) == in_list(m, larger) ? m : other);
	else if (is_bound)
		schema_fail(c, "%s must be a number", m->key);
	else if (in_list(m, schemas))
		add(c, out, m->key, m->key_n, both(c, m, other));
	else if (in_list(m, separate))
		schema_fail(c, "two different values of %s that both must hold are not supported", m->key);
	else
		add_like(c, out, m);
}

/* Whether the two sides describe arrays in ways that cannot be merged keyword by keyword. */
static int mixes_items(const struct json *a, const struct json *b)
{
	return (json_get(a, "prefixItems") && !json_get(b, "prefixItems") && json_get(b, "items"))
		|| (json_get(b, "prefixItems") && !json_get(a, "prefixItems") && json_get(a, "items"));
}

static int has_constants(const struct json *s)
{
	return json_get(s, "enum") || json_get(s, "const");
}

/* Adds the keywords of both sides, except those that are merged as a whole and are in `out` already. */
static void merge_keywords(struct converter *c, struct json *out, const struct json *a, const struct json *b)
{
	static const char *const special[] = { "type", "enum", "const", "properties", NULL };
	int constants = has_constants(a) && has_constants(b);
	const struct json *pair[] = { a, b };

	for (unsigned i = 0; i < 2; i++)
		for (const struct json *m = pair[i]->child; m && !c->failed; m = m->next) {
			const struct json *other = same_keyword(pair[1 - i], m);

			if ((other && i) || (in_list(m, special) && same_keyword(out, m))
				|| (constants && (is_named(m, "const") || is_named(m, "enum"))))
				continue;
			if (other)
				merge_keyword(c, out, m, other);
			else
				add_like(c, out, m);
		}
}

const struct json *schema_merge(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *types = NULL, *constants = NULL;
	struct json *out;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_TRUE ? a : b;
	if (!(out = make(c, JSON_OBJECT)))
		return NULL;
	if (mixes_items(a, b))
		schema_fail(c, "prefixItems in one schema and items in another that both must hold are not supported");
	if (json_get(a, "type") && json_get(b, "type"))
		types = merge_types(c, a, b);
	if (has_constants(a) && has_constants(b))
		constants = merge_constants(c, a, b);
	if (types)
		add(c, out, "type", 4, types);
	if (constants)
		add(c, out, "enum", 4, constants);
	merge_properties(c, out, a, b);
	merge_keywords(c, out, a, b);
	if (c->failed)
		return NULL;
	return (types && !types->n) || (constants && !constants->n) ? make(c, JSON_FALSE) : out;
}
