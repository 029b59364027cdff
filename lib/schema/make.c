/* Making schemas. */
#include "converter.h"

#include <string.h>

struct json *schema_make(struct converter *c, enum json_type type)
{
	struct json *v = json_new(&c->arena, type);

	if (!v)
		schema_no_memory(c);
	return v;
}

struct json *schema_make_int(struct converter *c, int64_t i)
{
	struct json *v = schema_make(c, JSON_INT);

	if (v) {
		v->i = i;
		v->d = (double)i;
	}
	return v;
}

static struct json *add(struct converter *c, struct json *to, const struct json *value)
{
	struct json *copy = to && value ? schema_make(c, JSON_NULL) : NULL;

	if (!copy) {
		schema_no_memory(c);
		return NULL;
	}
	*copy = *value;
	copy->next = NULL;
	json_add(to, NULL, copy);
	return copy;
}

void schema_add(struct converter *c, struct json *to, const char *key, const struct json *value)
{
	struct json *copy = add(c, to, value);

	if (copy) {
		copy->key = key;
		copy->key_n = key ? strlen(key) : 0;
	}
}

void schema_add_named(struct converter *c, struct json *to, const struct json *like, const struct json *value)
{
	struct json *copy = add(c, to, value);

	if (copy) {
		copy->key = like->key ? like->key : like->s;
		copy->key_n = like->key ? like->key_n : like->n;
	}
}

struct json *schema_list(struct converter *c, const struct json *element)
{
	struct json *list = schema_make(c, JSON_ARRAY);

	schema_add(c, list, NULL, element);
	return list;
}

struct json *schema_of(struct converter *c, const char *keyword, const struct json *value)
{
	struct json *out = schema_make(c, JSON_OBJECT);

	schema_add(c, out, keyword, value);
	return out;
}

const struct json *schema_without(struct converter *c, const struct json *s, const char *keyword)
{
	struct json *out = schema_make(c, JSON_OBJECT);

	for (const struct json *m = s->child; m; m = m->next)
		if (m->key_n != strlen(keyword) || memcmp(m->key, keyword, m->key_n))
			schema_add_named(c, out, m, m);
	return c->failed ? NULL : out;
}

const void *schema_identity(const struct json *s)
{
	return s->child ? (const void *)s->child : s;
}

static const char both_key[] = "allOf";         /* a key at this address marks the result of schema_both() */

int schema_is_both(const struct json *s)
{
	return s->type == JSON_OBJECT && s->n == 1 && s->child->key == both_key;
}

const struct json *schema_both(struct converter *c, const struct json *a, const struct json *b)
{
	const struct json *known;
	struct json *out;

	if (!a || schema_identity(a) == schema_identity(b) || a->type == JSON_TRUE || b->type == JSON_FALSE)
		return b;
	if (b->type == JSON_TRUE || a->type == JSON_FALSE)
		return a;
	known = index_paired(&c->flat, schema_identity(a), schema_identity(b));
	if (known)
		return known;
	out = schema_make(c, JSON_ARRAY);
	schema_add(c, out, NULL, a);
	schema_add(c, out, NULL, b);
	out = schema_of(c, both_key, out);
	if (c->failed)
		return NULL;
	index_pair(&c->flat, &c->arena, schema_identity(a), schema_identity(b), out);
	return out;
}

/* ---- what several rewritings need ---- */

const struct json *schema_is_flat(struct converter *c, const struct json *s)
{
	if (s->child)
		index_note(&c->flat, s->child, s);
	if (c->flat.failed)
		schema_no_memory(c);
	return s;
}

const struct json *schema_not(struct converter *c, const struct json *s)
{
	static const char not[] = "not";
	const struct json *known;
	struct json *out;

	if (s->type == JSON_TRUE || s->type == JSON_FALSE)
		return schema_make(c, s->type == JSON_TRUE ? JSON_FALSE : JSON_TRUE);
	known = index_paired(&c->flat, schema_identity(s), not);
	if (known)
		return known;
	out = schema_of(c, not, s);
	if (!c->failed)
		index_pair(&c->flat, &c->arena, schema_identity(s), not, out);
	return out;
}

struct json *schema_of_types(struct converter *c, unsigned types)
{
	return schema_of(c, SCHEMA_TYPES, schema_make_int(c, types));
}

const struct json *schema_absent(struct converter *c, const struct json *name)
{
	return schema_with_member(c, name, schema_make(c, JSON_FALSE), schema_make(c, JSON_OBJECT));
}

struct json *schema_present(struct converter *c, const struct json *name)
{
	struct json *out = schema_of_types(c, TYPE_OBJECT);
	const char *s = name->key ? name->key : name->s;

	schema_add(c, out, SCHEMA_HAS, schema_list(c, json_new_string(&c->arena, s, name->key ? name->key_n
		: name->n)));
	return out;
}

const struct json *schema_with_member(struct converter *c, const struct json *name, const struct json *value,
	struct json *to)
{
	struct json *properties = schema_make(c, JSON_OBJECT), *members;

	schema_add_named(c, properties, name, value);
	members = schema_of(c, "properties", properties);
	schema_add(c, members, SCHEMA_NEGATED, schema_make(c, JSON_TRUE));
	schema_add(c, to, SCHEMA_MEMBERS, schema_list(c, members));
	return to;
}
