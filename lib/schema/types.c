/* What there is to know about keywords and types by name; the types of values and of schemas; constants. */
#include "converter.h"

#include <math.h>
#include <string.h>

const struct schema_type schema_types_by_name[SCHEMA_TYPES] = {
	{ "object", TYPE_OBJECT }, { "array", TYPE_ARRAY }, { "string", TYPE_STRING }, { "number", TYPE_NUMBER },
	{ "integer", TYPE_INTEGER }, { "boolean", TYPE_BOOLEAN }, { "null", TYPE_NULL },
};

static const struct schema_keyword keywords[] = {
	{ "type", MERGED_APART, 0 }, { "enum", MERGED_APART, 0 }, { "const", MERGED_APART, 0 },
	{ "anyOf", MERGED_IF_EQUAL, 0 }, { "oneOf", MERGED_IF_EQUAL, 0 }, { "allOf", MERGED_IF_EQUAL, 0 },
	{ "$ref", MERGED_IF_EQUAL, 0 },
	{ "properties", MERGED_APART, TYPE_OBJECT }, { "required", MERGED_AS_LISTS, TYPE_OBJECT },
	{ "additionalProperties", MERGED_AS_SCHEMAS, TYPE_OBJECT },
	{ "items", MERGED_AS_SCHEMAS, TYPE_ARRAY }, { "prefixItems", MERGED_IF_EQUAL, TYPE_ARRAY },
	{ "additionalItems", MERGED_AS_SCHEMAS, TYPE_ARRAY }, { "minItems", MERGED_TO_LARGER, TYPE_ARRAY },
	{ "maxItems", MERGED_TO_SMALLER, TYPE_ARRAY }, { "uniqueItems", MERGED_IF_EQUAL, TYPE_ARRAY },
	{ "minLength", MERGED_TO_LARGER, TYPE_STRING }, { "maxLength", MERGED_TO_SMALLER, TYPE_STRING },
	{ "pattern", MERGED_IF_EQUAL, TYPE_STRING }, { "format", MERGED_IF_EQUAL, TYPE_STRING },
	{ "minimum", MERGED_TO_LARGER, TYPE_NUMBER }, { "maximum", MERGED_TO_SMALLER, TYPE_NUMBER },
	{ "exclusiveMinimum", MERGED_TO_LARGER, TYPE_NUMBER }, { "exclusiveMaximum", MERGED_TO_SMALLER, TYPE_NUMBER },
	{ "multipleOf", MERGED_IF_EQUAL, TYPE_NUMBER },
	{ "title", ANNOTATION, 0 }, { "description", ANNOTATION, 0 }, { "default", ANNOTATION, 0 },
	{ "examples", ANNOTATION, 0 }, { "example", ANNOTATION, 0 }, { "$comment", ANNOTATION, 0 },
	{ "deprecated", ANNOTATION, 0 }, { "readOnly", ANNOTATION, 0 }, { "writeOnly", ANNOTATION, 0 },
	{ "$schema", ANNOTATION, 0 }, { "$id", ANNOTATION, 0 }, { "id", ANNOTATION, 0 }, { "$anchor", ANNOTATION, 0 },
	{ "$defs", ANNOTATION, 0 }, { "definitions", ANNOTATION, 0 }, { "contentEncoding", ANNOTATION, 0 },
	{ "contentMediaType", ANNOTATION, 0 }, { "contentSchema", ANNOTATION, 0 }, { "$vocabulary", ANNOTATION, 0 },
	{ "discriminator", ANNOTATION, 0 },
};

const struct schema_keyword *schema_keyword(const struct json *member)
{
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (*keywords[i].name == *member->key && !strcmp(keywords[i].name, member->key)
			&& strlen(keywords[i].name) == member->key_n)
			return &keywords[i];
	return NULL;
}

int schema_has_assertion(const struct json *s)
{
	const struct schema_keyword *k;

	for (const struct json *m = s->child; m; m = m->next)
		if ((k = schema_keyword(m)) && k->merged != ANNOTATION)
			return 1;
	return 0;
}

/* ---- types ---- */

unsigned schema_type_of(const struct json *v)
{
	switch (v->type) {
	case JSON_NULL:
		return TYPE_NULL;
	case JSON_FALSE: case JSON_TRUE:
		return TYPE_BOOLEAN;
	case JSON_INT: case JSON_BIG:
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

unsigned schema_types_of_keywords(const struct json *s)
{
	const struct schema_keyword *k;
	unsigned types = 0;

	for (const struct json *m = s->child; m; m = m->next)
		types |= (k = schema_keyword(m)) ? k->types : 0;
	return types;
}

static unsigned named_type(struct converter *c, const struct json *name)
{
	for (size_t i = 0; name->type == JSON_STRING && i < SCHEMA_TYPES; i++)
		if (!strcmp(name->s, schema_types_by_name[i].name))
			return schema_types_by_name[i].types;
	schema_fail(c, "\"%.40s\" is not a type", name->type == JSON_STRING ? name->s : json_type_name(name));
	return 0;
}

unsigned schema_types(struct converter *c, const struct json *s)
{
	const struct json *type = json_get(s, "type"), *v, *end;
	unsigned types = 0;

	if (type && type->type != JSON_ARRAY)
		return named_type(c, type);
	for (v = type ? type->child : NULL; v; v = v->next)
		types |= named_type(c, v);
	for (v = type ? NULL : schema_constants(s, &end); v && v != end; v = v->next)
		types |= schema_type_of(v);
	if (type || types)
		return types;
	types = schema_types_of_keywords(s);
	for (size_t i = 0; i < SCHEMA_TYPES; i++)       /* the first in this order, if they are about several */
		if (types & schema_types_by_name[i].types)
			return schema_types_by_name[i].types;
	return TYPE_ALL;
}

/* ---- values ---- */

int schema_is_number(const struct json *v)
{
	return v->type == JSON_INT || v->type == JSON_BIG || v->type == JSON_FLOAT;
}

int schema_equal(const struct json *a, const struct json *b)
{
	if (schema_is_number(a) && schema_is_number(b))
		return a->type == JSON_INT && b->type == JSON_INT ? a->i == b->i : a->d == b->d;
	if (a->type != b->type)
		return 0;
	if (a->type == JSON_STRING)
		return a->n == b->n && !memcmp(a->s, b->s, a->n);
	a = a->child;
	b = b->child;
	for (; a && b; a = a->next, b = b->next) {
		if (!a->key != !b->key || (a->key && (a->key_n != b->key_n || memcmp(a->key, b->key, a->key_n))))
			return 0;
		if (!schema_equal(a, b))
			return 0;
	}
	return !a && !b;
}

const struct json *schema_constants(const struct json *s, const struct json **end)
{
	const struct json *one = json_get(s, "const"), *list = json_get(s, "enum");

	*end = one ? one->next : NULL;
	return one ? one : list ? list->child : NULL;
}

int schema_is_constant(struct converter *c, const struct json *s, const struct json *value)
{
	const struct json *one = json_get(s, "const"), *list = json_get(s, "enum");
	size_t compared = 0;

	if (c->failed || !list || (one && !schema_equal(one, value)))
		return one && schema_equal(one, value);
	if (value->type == JSON_STRING)
		return index_find(&c->index, list, value->s, value->n) != NULL;
	for (const struct json *v = list->child; v; v = v->next, compared++)
		if (schema_equal(v, value))
			break;
	schema_work(c, compared / 64);
	return compared < list->n;
}
