/* What there is to know about keywords and types by name; the types of values and of schemas; constants. */
#include "converter.h"

#include <math.h>
#include <string.h>

const struct schema_type schema_types_by_name[SCHEMA_N_TYPES] = {
	{ "object", TYPE_OBJECT }, { "array", TYPE_ARRAY }, { "string", TYPE_STRING }, { "number", TYPE_NUMBER },
	{ "integer", TYPE_INTEGER }, { "boolean", TYPE_BOOLEAN }, { "null", TYPE_NULL },
};

const struct schema_keyword schema_keywords[] = {
	{ "type", MERGED_APART, 0 }, { "enum", MERGED_APART, 0 }, { SCHEMA_TYPES, MERGED_APART, 0 },
	{ SCHEMA_NOT_ENUM, MERGED_AS_LISTS, TYPE_NULL | TYPE_BOOLEAN | TYPE_STRING | TYPE_NUMBER },
	{ SCHEMA_ANY_OF, MERGED_AS_LISTS, 0 },
	{ "properties", MERGED_APART, TYPE_OBJECT }, { "required", MERGED_AS_LISTS, TYPE_OBJECT },
	{ SCHEMA_MEMBERS, MERGED_AS_LISTS, TYPE_OBJECT }, { "propertyNames", MERGED_AS_SCHEMAS, TYPE_OBJECT },
	{ "minProperties", MERGED_TO_LARGER, TYPE_OBJECT }, { "maxProperties", MERGED_TO_SMALLER, TYPE_OBJECT },
	{ SCHEMA_HAS, MERGED_AS_LISTS, TYPE_OBJECT }, { SCHEMA_SOME, MERGED_AS_LISTS, TYPE_OBJECT }, { SCHEMA_OTHER,
		MERGED_AS_LISTS, TYPE_OBJECT },
	{ SCHEMA_ITEMS, MERGED_AS_LISTS, TYPE_ARRAY }, { SCHEMA_CONTAINS, MERGED_AS_LISTS, TYPE_ARRAY },
	{ "minItems", MERGED_TO_LARGER, TYPE_ARRAY }, { "maxItems", MERGED_TO_SMALLER, TYPE_ARRAY },
	{ "uniqueItems", MERGED_TO_EITHER, TYPE_ARRAY },
	{ "minLength", MERGED_TO_LARGER, TYPE_STRING }, { "maxLength", MERGED_TO_SMALLER, TYPE_STRING },
	{ SCHEMA_PATTERNS, MERGED_AS_LISTS, TYPE_STRING }, { SCHEMA_NOT_PATTERNS, MERGED_AS_LISTS, TYPE_STRING },
	{ SCHEMA_FORMATS, MERGED_AS_LISTS, TYPE_STRING | TYPE_NUMBER },
	{ "minimum", MERGED_TO_LARGER, TYPE_NUMBER }, { "maximum", MERGED_TO_SMALLER, TYPE_NUMBER },
	{ "exclusiveMinimum", MERGED_TO_LARGER, TYPE_NUMBER }, { "exclusiveMaximum", MERGED_TO_SMALLER, TYPE_NUMBER },
	{ SCHEMA_MULTIPLES, MERGED_AS_LISTS, TYPE_NUMBER }, { SCHEMA_NOT_MULTIPLES, MERGED_AS_LISTS, TYPE_NUMBER },
	{ "const", REWRITTEN, 0 }, { "anyOf", REWRITTEN, 0 }, { "oneOf", REWRITTEN, 0 }, { "allOf", REWRITTEN, 0 },
	{ "not", REWRITTEN, 0 }, { "if", REWRITTEN, 0 }, { "then", REWRITTEN, 0 }, { "else", REWRITTEN, 0 },
	{ "$ref", REWRITTEN, 0 }, { "$dynamicRef", REWRITTEN, 0 }, { "nullable", REWRITTEN, 0 },
	{ "patternProperties", REWRITTEN, TYPE_OBJECT }, { "additionalProperties", REWRITTEN, TYPE_OBJECT },
	{ "unevaluatedProperties", REWRITTEN, TYPE_OBJECT }, { "dependentRequired", REWRITTEN, TYPE_OBJECT },
	{ "dependentSchemas", REWRITTEN, TYPE_OBJECT }, { "dependencies", REWRITTEN, TYPE_OBJECT },
	{ "items", REWRITTEN, TYPE_ARRAY }, { "prefixItems", REWRITTEN, TYPE_ARRAY },
	{ "additionalItems", REWRITTEN, TYPE_ARRAY }, { "unevaluatedItems", REWRITTEN, TYPE_ARRAY },
	{ "contains", REWRITTEN, TYPE_ARRAY }, { "minContains", REWRITTEN, TYPE_ARRAY },
	{ "maxContains", REWRITTEN, TYPE_ARRAY }, { "pattern", REWRITTEN, TYPE_STRING },
	{ "format", REWRITTEN, TYPE_STRING | TYPE_NUMBER }, { "multipleOf", REWRITTEN, TYPE_NUMBER },
	{ "title", ANNOTATION, 0 }, { "description", ANNOTATION, 0 }, { "default", ANNOTATION, 0 },
	{ "examples", ANNOTATION, 0 }, { "example", ANNOTATION, 0 }, { "$comment", ANNOTATION, 0 },
	{ "deprecated", ANNOTATION, 0 }, { "readOnly", ANNOTATION, 0 }, { "writeOnly", ANNOTATION, 0 },
	{ "$schema", ANNOTATION, 0 }, { "$id", ANNOTATION, 0 }, { "id", ANNOTATION, 0 }, { "$anchor", ANNOTATION, 0 },
	{ "$dynamicAnchor", ANNOTATION, 0 }, { "$defs", ANNOTATION, 0 }, { "definitions", ANNOTATION, 0 },
	{ "contentEncoding", ANNOTATION, 0 }, { "contentMediaType", ANNOTATION, 0 },
	{ "contentSchema", ANNOTATION, 0 }, { "$vocabulary", ANNOTATION, 0 }, { "discriminator", ANNOTATION, 0 },
	{ "xml", ANNOTATION, 0 }, { "externalDocs", ANNOTATION, 0 },
};

const size_t schema_n_keywords = sizeof schema_keywords / sizeof *schema_keywords;

const struct schema_keyword *schema_keyword(const struct json *member)
{
	for (size_t i = 0; i < schema_n_keywords; i++)
		if (*schema_keywords[i].name == *member->key && !strcmp(schema_keywords[i].name, member->key)
			&& strlen(schema_keywords[i].name) == member->key_n)
			return &schema_keywords[i];
	return NULL;
}

int schema_has_assertion(const struct json *s)
{
	const struct schema_keyword *k;

	for (const struct json *m = s->child; m; m = m->next)
		if (!(k = schema_keyword(m)) || k->merged != ANNOTATION)
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
	for (size_t i = 0; name->type == JSON_STRING && i < SCHEMA_N_TYPES; i++)
		if (!strcmp(name->s, schema_types_by_name[i].name))
			return schema_types_by_name[i].types;
	schema_fail(c, "\"%.40s\" is not a type", name->type == JSON_STRING ? name->s : json_type_name(name));
	return 0;
}

unsigned schema_types(struct converter *c, const struct json *s)
{
	const struct json *type = json_get(s, "type"), *set = json_get(s, SCHEMA_TYPES), *constants = json_get(s,
		"enum");
	unsigned types = type ? 0 : TYPE_ALL, seen = 0;

	if (type && type->type != JSON_ARRAY)
		types = named_type(c, type);
	for (const struct json *v = type && type->type == JSON_ARRAY ? type->child : NULL; v; v = v->next)
		types |= named_type(c, v);
	for (const struct json *v = constants ? constants->child : NULL; v; v = v->next)
		seen |= schema_type_of(v);
	return types & (set ? (unsigned)set->i : TYPE_ALL) & (constants ? seen : TYPE_ALL);
}

int schema_is_closed(const struct converter *c, const struct json *s)
{
	return !c->all_open && json_get(s, "type");
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

int schema_is_constant(struct converter *c, const struct json *s, const struct json *value)
{
	const struct json *list = json_get(s, "enum");
	size_t compared = 0;

	if (value->type == JSON_STRING)
		return index_find(&c->index, list, value->s, value->n) != NULL;
	for (const struct json *v = list->child; v; v = v->next, compared++)
		if (schema_equal(v, value))
			break;
	schema_work(c, compared / 64);
	return compared < list->n;
}
