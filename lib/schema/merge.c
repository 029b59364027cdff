/* Two schemas that both hold, as one; and whether two can hold at once. */
#include "priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static int is_number(const struct json *v)
{
	return v->type == JSON_INT || v->type == JSON_BIG || v->type == JSON_FLOAT;
}

int schema_equal(const struct json *a, const struct json *b)
{
	if (is_number(a) && is_number(b))
		return a->type == JSON_INT && b->type == JSON_INT ? a->i == b->i : a->d == b->d;
	if (a->type != b->type)
		return 0;
	if (a->type == JSON_STRING)
		return a->n == b->n && !memcmp(a->s, b->s, a->n);
	a = a->child;
	b = b->child;
	for (; a && b; a = a->next, b = b->next)
		if (!a->key != !b->key || (a->key && (a->key_n != b->key_n || memcmp(a->key, b->key, a->key_n))) || !schema_equal(a, b))
			return 0;
	return !a && !b;
}

unsigned schema_type_of(const struct json *v)
{
	switch (v->type) {
	case JSON_NULL:
		return TYPE_NULL;
	case JSON_FALSE:
	case JSON_TRUE:
		return TYPE_BOOLEAN;
	case JSON_INT:
	case JSON_BIG:
		return TYPE_INTEGER;
	case JSON_FLOAT:
		return isfinite(v->d) && v->d == floor(v->d) ? TYPE_INTEGER : TYPE_FRACTION;
	case JSON_STRING:
		return TYPE_STRING;
	case JSON_ARRAY:
		return TYPE_ARRAY;
	case JSON_OBJECT:
		break;
	}
	return TYPE_OBJECT;
}

static int named_type(struct schema *c, const struct json *name, unsigned *types)
{
	static const struct {
		const char *name;
		unsigned type;
	} all[] = { { "null", TYPE_NULL }, { "boolean", TYPE_BOOLEAN }, { "integer", TYPE_INTEGER }, { "number", TYPE_NUMBER }, { "string", TYPE_STRING },
		{ "array", TYPE_ARRAY }, { "object", TYPE_OBJECT } };

	for (size_t i = 0; name->type == JSON_STRING && i < sizeof all / sizeof *all; i++)
		if (!strcmp(name->s, all[i].name)) {
			*types |= all[i].type;
			return 0;
		}
	return schema_fail(c, "\"%.40s\" is not a type", name->type == JSON_STRING ? name->s : json_type_name(name));
}

int schema_types(struct schema *c, const struct json *s, unsigned *types)
{
	static const struct {
		const char *keyword;
		unsigned type;
	} about[] = { { "properties", TYPE_OBJECT }, { "required", TYPE_OBJECT }, { "additionalProperties", TYPE_OBJECT }, { "items", TYPE_ARRAY },
		{ "prefixItems", TYPE_ARRAY }, { "additionalItems", TYPE_ARRAY }, { "minItems", TYPE_ARRAY }, { "maxItems", TYPE_ARRAY },
		{ "uniqueItems", TYPE_ARRAY }, { "minLength", TYPE_STRING },
		{ "maxLength", TYPE_STRING }, { "pattern", TYPE_STRING }, { "format", TYPE_STRING }, { "minimum", TYPE_NUMBER },
		{ "maximum", TYPE_NUMBER }, { "exclusiveMinimum", TYPE_NUMBER }, { "exclusiveMaximum", TYPE_NUMBER }, { "multipleOf", TYPE_NUMBER } };
	const struct json *type = json_get(s, "type"), *list;

	*types = 0;
	if (type && type->type != JSON_ARRAY)
		return named_type(c, type, types);
	if (type) {
		for (const struct json *t = type->child; t; t = t->next)
			if (named_type(c, t, types))
				return -1;
		return 0;
	}
	list = json_get(s, "enum");
	for (const struct json *v = list ? list->child : NULL; v; v = v->next)
		*types |= schema_type_of(v);
	if (json_get(s, "const"))
		*types = schema_type_of(json_get(s, "const"));
	for (size_t i = 0; !*types && i < sizeof about / sizeof *about; i++)
		if (json_get(s, about[i].keyword))
			*types = about[i].type;
	if (!*types)
		*types = TYPE_ALL;
	return 0;
}

/* ---- making schemas ---- */

static int no_memory(struct schema *c)
{
	return schema_fail(c, "merging these schemas needs more memory than it may have");
}

static struct json *make(struct schema *c, enum json_type type)
{
	struct json *v = json_new(&c->arena, type);

	if (!v)
		no_memory(c);
	return v;
}

/* A copy of the value, so that it can stand in another place; what is below it is shared. */
static int add(struct schema *c, struct json *to, const char *key, size_t key_n, const struct json *value)
{
	struct json *copy = make(c, JSON_NULL);

	if (!copy)
		return -1;
	*copy = *value;
	copy->next = NULL;
	json_add(to, NULL, copy);
	copy->key = key;
	copy->key_n = key_n;
	return 0;
}

static int is_named(const struct json *m, const char *name)
{
	return m->key_n == strlen(name) && !memcmp(m->key, name, m->key_n);
}

static const struct json *member(const struct json *o, const struct json *like)
{
	for (const struct json *m = o && o->type == JSON_OBJECT ? o->child : NULL; m; m = m->next)
		if (m->key_n == like->key_n && !memcmp(m->key, like->key, m->key_n))
			return m;
	return NULL;
}

const struct json *schema_without(struct schema *c, const struct json *s, const char *keyword)
{
	struct json *out = make(c, JSON_OBJECT);

	for (const struct json *m = s->child; out && m; m = m->next)
		if (!is_named(m, keyword) && add(c, out, m->key, m->key_n, m))
			return NULL;
	return out;
}

/* { "allOf": [a, b] }, to be merged when it is come to. */
static struct json *both(struct schema *c, const struct json *a, const struct json *b)
{
	struct json *out = make(c, JSON_OBJECT), *list = make(c, JSON_ARRAY);

	if (!out || !list || add(c, list, NULL, 0, a) || add(c, list, NULL, 0, b))
		return NULL;
	json_add(out, "allOf", list);
	return out;
}

/* ---- references ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent-decodes s[n] in place, as a URI's fragment wants; returns the new length. A '%' without two hexadecimal digits
 * stands for itself. */
static size_t decode_percent(char *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		int high = s[i] == '%' && n - i > 2 ? hex_digit(s[i + 1]) : -1, low = high >= 0 ? hex_digit(s[i + 2]) : -1;

		s[kept++] = low < 0 ? s[i] : (char)(high << 4 | low);
		i += low < 0 ? 0 : 2;
	}
	return kept;
}

/* The next name of a JSON pointer, with ~0 and ~1 undone in place; *at is on the '/' before it and moves behind it. */
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

/* The array's element of that name, a decimal number; NULL: there is none. */
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

const struct json *schema_follow(struct schema *c, const struct json *s)
{
	const struct json *ref = json_get(s, "$ref"), *v = c->document;
	char *at, *end;

	at = arena_text(&c->arena, ref->n + 1);
	if (!at) {
		no_memory(c);
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

		v = v->type == JSON_ARRAY ? element(v, &name) : member(v, &name);
	}
	if (!v)
		schema_fail(c, "$ref \"%.80s\": there is nothing of that name", ref->s);
	else if (v->type != JSON_OBJECT && v->type != JSON_TRUE && v->type != JSON_FALSE)
		schema_fail(c, "$ref \"%.80s\": that is no schema", ref->s);
	else
		return v;
	return NULL;
}

static const struct json *flatten_deeper(struct schema *c, const struct json *s)
{
	const struct json *out = NULL;

	if (++c->depth > SCHEMA_DEPTH || ++c->work > 200000)
		schema_fail(c, "references and allOf lead into each other without end, or too deeply");
	else if (s->type != JSON_OBJECT && s->type != JSON_TRUE && s->type != JSON_FALSE)
		schema_fail(c, "a schema is an object, true or false");
	else
		out = schema_flatten(c, s);
	c->depth--;
	return out;
}

const struct json *schema_flatten(struct schema *c, const struct json *s)
{
	const struct json *ref = json_get(s, "$ref"), *all = json_get(s, "allOf"), *target;

	if (ref) {
		const struct json *rest = schema_without(c, s, "$ref");

		target = schema_follow(c, s);
		target = target ? flatten_deeper(c, target) : NULL;
		rest = target && rest ? flatten_deeper(c, rest) : NULL;
		return rest ? schema_merge(c, target, rest) : NULL;
	}
	if (!all)
		return s;
	if (all->type != JSON_ARRAY) {
		schema_fail(c, "allOf wants an array of schemas");
		return NULL;
	}
	s = schema_without(c, s, "allOf");
	for (const struct json *a = all->child; s && a; a = a->next) {
		target = flatten_deeper(c, a);
		s = target ? schema_merge(c, s, target) : NULL;
	}
	return s;
}

/* ---- merging ---- */

static int merge_types(struct schema *c, struct json *out, const struct json *a, const struct json *b, int *never)
{
	static const struct {
		unsigned type;
		const char *name;
	} each[] = { { TYPE_OBJECT, "object" }, { TYPE_ARRAY, "array" }, { TYPE_STRING, "string" }, { TYPE_NUMBER, "number" }, { TYPE_INTEGER, "integer" },
		{ TYPE_BOOLEAN, "boolean" }, { TYPE_NULL, "null" } };
	struct json *list = make(c, JSON_ARRAY);
	unsigned in_a, in_b, left;

	if (!list || schema_types(c, a, &in_a) || schema_types(c, b, &in_b))
		return -1;
	left = in_a & in_b;
	*never |= !left;
	for (size_t i = 0; i < sizeof each / sizeof *each; i++)
		if ((left & each[i].type) == each[i].type) {
			struct json *name = json_new_string(&c->arena, each[i].name, strlen(each[i].name));

			if (!name)
				return no_memory(c);
			json_add(list, NULL, name);
			left &= ~each[i].type;
		}
	json_add(out, "type", list);
	return 0;
}

/* The values that both allow, as an enum: each side has a const or an enum. */
static int merge_constants(struct schema *c, struct json *out, const struct json *a, const struct json *b, int *never)
{
	const struct json *one = json_get(a, "const"), *list_a = json_get(a, "enum"), *two = json_get(b, "const"), *list_b = json_get(b, "enum");
	struct json *list = make(c, JSON_ARRAY);

	if (!list)
		return -1;
	for (const struct json *v = one ? one : list_a->child; v; v = one ? NULL : v->next)
		for (const struct json *u = two ? two : list_b->child; u; u = two ? NULL : u->next)
			if (schema_equal(v, u)) {
				if (add(c, list, NULL, 0, v))
					return -1;
				break;
			}
	*never |= !list->child;
	json_add(out, "enum", list);
	return 0;
}

/* What a's additionalProperties says about the properties that b alone names must hold for them too. */
static int add_properties(struct schema *c, struct json *to, const struct json *a, const struct json *b, int shared)
{
	const struct json *in_a = json_get(a, "properties"), *in_b = json_get(b, "properties"), *others = json_get(b, "additionalProperties");

	for (const struct json *p = in_a ? in_a->child : NULL; p; p = p->next) {
		const struct json *same = member(in_b, p), *with = same ? same : others, *s = p;

		if (same && !shared)
			continue;
		if (with && !(s = both(c, p, with)))
			return -1;
		if (add(c, to, p->key, p->key_n, s))
			return -1;
	}
	return 0;
}

static int merge_properties(struct schema *c, struct json *out, const struct json *a, const struct json *b)
{
	struct json *list = make(c, JSON_OBJECT);

	if (!list || add_properties(c, list, a, b, 1) || add_properties(c, list, b, a, 0))
		return -1;
	json_add(out, "properties", list);
	return 0;
}

static int merge_lists(struct schema *c, struct json *out, const struct json *m, const struct json *other)
{
	struct json *list = make(c, JSON_ARRAY);

	for (const struct json *v = m->child; list && v; v = v->next)
		if (add(c, list, NULL, 0, v))
			return -1;
	for (const struct json *v = other->child; list && v; v = v->next)
		if (add(c, list, NULL, 0, v))
			return -1;
	return list ? add(c, out, m->key, m->key_n, list) : -1;
}

static int tighter(struct schema *c, struct json *out, const struct json *m, const struct json *other, int larger)
{
	if (!is_number(m) || !is_number(other))
		return schema_fail(c, "%s wants a number", m->key);
	return add(c, out, m->key, m->key_n, (m->d > other->d) == larger ? m : other);
}

static int in_list(const struct json *m, const char *const *names)
{
	for (; *names; names++)
		if (is_named(m, *names))
			return 1;
	return 0;
}

/* A keyword that both sides have. */
static int merge_member(struct schema *c, struct json *out, const struct json *m, const struct json *other)
{
	static const char *const larger[] = { "minimum", "exclusiveMinimum", "minLength", "minItems", NULL };
	static const char *const smaller[] = { "maximum", "exclusiveMaximum", "maxLength", "maxItems", NULL };
	static const char *const schemas[] = { "items", "additionalItems", "additionalProperties", NULL };
	static const char *const separate[] = { "pattern", "format", "multipleOf", "uniqueItems", "prefixItems", "anyOf", "oneOf", "$ref", NULL };
	struct json *s;

	if (schema_equal(m, other))
		return add(c, out, m->key, m->key_n, m);
	if (is_named(m, "required") && m->type == JSON_ARRAY && other->type == JSON_ARRAY)
		return merge_lists(c, out, m, other);
	if (in_list(m, larger))
		return tighter(c, out, m, other, 1);
	if (in_list(m, smaller))
		return tighter(c, out, m, other, 0);
	if (in_list(m, schemas)) {
		s = both(c, m, other);
		return s ? add(c, out, m->key, m->key_n, s) : -1;
	}
	if (in_list(m, separate))
		return schema_fail(c, "two different values of %s that both must hold are not supported", m->key);
	return add(c, out, m->key, m->key_n, m);
}

/* True where the two sides' arrays are described in ways that do not add up keyword by keyword. */
static int mixes_items(const struct json *a, const struct json *b)
{
	return (json_get(a, "prefixItems") && !json_get(b, "prefixItems") && json_get(b, "items"))
		|| (json_get(b, "prefixItems") && !json_get(a, "prefixItems") && json_get(a, "items"));
}

const struct json *schema_merge(struct schema *c, const struct json *a, const struct json *b)
{
	static const char *const special[] = { "type", "enum", "const", "properties", NULL };
	const struct json *pair[] = { a, b };
	struct json *out;
	int never = 0, bad = 0, constants = 0;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_TRUE ? a : b;
	if (!(out = make(c, JSON_OBJECT)))
		return NULL;
	if (mixes_items(a, b)) {
		schema_fail(c, "prefixItems in one schema and items in another that both must hold are not supported");
		return NULL;
	}
	for (unsigned i = 0; i < 2; i++)
		constants += json_get(pair[i], "enum") || json_get(pair[i], "const");
	if (json_get(a, "type") && json_get(b, "type"))
		bad = merge_types(c, out, a, b, &never);
	if (!bad && constants == 2)
		bad = merge_constants(c, out, a, b, &never);
	if (!bad && (json_get(a, "properties") || json_get(b, "properties")))
		bad = merge_properties(c, out, a, b);
	for (unsigned i = 0; i < 2; i++)
		for (const struct json *m = pair[i]->child; m && !bad; m = m->next) {
			const struct json *other = member(pair[1 - i], m);
			int done = (other && i) || (in_list(m, special) && member(out, m)) || (constants == 2 && (is_named(m, "const") || is_named(m, "enum")));

			if (!done)
				bad = other ? merge_member(c, out, m, other) : add(c, out, m->key, m->key_n, m);
		}
	if (bad)
		return NULL;
	return never ? make(c, JSON_FALSE) : out;
}

/* ---- exclusion ---- */

static int requires(const struct json *s, const struct json *property)
{
	const struct json *list = json_get(s, "required");

	for (const struct json *r = list ? list->child : NULL; r; r = r->next)
		if (r->type == JSON_STRING && r->n == property->key_n && !memcmp(r->s, property->key, r->n))
			return 1;
	return 0;
}

static int excludes_constants(const struct json *a, const struct json *b)
{
	const struct json *one = json_get(a, "const"), *list_a = json_get(a, "enum"), *two = json_get(b, "const"), *list_b = json_get(b, "enum");

	if ((!one && !list_a) || (!two && !list_b))
		return 0;
	for (const struct json *v = one ? one : list_a->child; v; v = one ? NULL : v->next)
		for (const struct json *u = two ? two : list_b->child; u; u = two ? NULL : u->next)
			if (schema_equal(v, u))
				return 0;
	return 1;
}

/* b wants a property that a's objects do not have, or whose values for a are none of b's. */
static int excludes_objects(struct schema *c, const struct json *a, const struct json *b)
{
	const struct json *wanted = json_get(b, "required"), *others = json_get(a, "additionalProperties"), *in_a = json_get(a, "properties"),
		*in_b = json_get(b, "properties");

	for (const struct json *r = wanted ? wanted->child : NULL; r; r = r->next) {
		struct json like = { .key = r->s, .key_n = r->n };
		const struct json *p, *q;
		int excluded;

		if (r->type != JSON_STRING)
			continue;
		p = member(in_a, &like);
		q = member(in_b, &like);
		if (!p && !requires(a, &like) && (!others || others->type == JSON_FALSE))
			return 1;
		if (!p || !q)
			continue;
		p = schema_flatten(c, p);
		q = p ? schema_flatten(c, q) : NULL;
		excluded = q ? schema_excludes(c, p, q) : -1;
		if (excluded)
			return excluded;
	}
	return 0;
}

int schema_excludes(struct schema *c, const struct json *a, const struct json *b)
{
	struct schema_range x = { INT64_MIN, INT64_MAX, 0, 0 }, y = x;
	unsigned types_a, types_b, shared;
	int excluded = 0;

	if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
		return a->type == JSON_FALSE || b->type == JSON_FALSE;
	if (schema_types(c, a, &types_a) || schema_types(c, b, &types_b))
		return -1;
	shared = types_a & types_b;
	/* b need not be about a's type just because its keywords are about another one */
	if (!json_get(b, "type") && !json_get(b, "enum") && !json_get(b, "const"))
		shared = types_a;
	if (!shared || excludes_constants(a, b))
		return 1;
	if (++c->depth > SCHEMA_DEPTH)
		excluded = schema_fail(c, "schemas are nested more than %d deep", SCHEMA_DEPTH);
	else if (shared == TYPE_OBJECT)
		excluded = excludes_objects(c, a, b);
	else if (!(shared & ~(unsigned)TYPE_NUMBER) && schema_range(c, a, &x) >= 0 && schema_range(c, b, &y) >= 0)
		excluded = x.high < y.low || y.high < x.low || (x.high == y.low && (x.high_open || y.low_open)) || (y.high == x.low && (y.high_open || x.low_open));
	c->depth--;
	return excluded;
}
