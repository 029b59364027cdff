/* Types, of values and of schemas; equal values. */
#include "converter.h"

#include <math.h>
#include <string.h>

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

static unsigned named_type(struct converter *c, const struct json *name)
{
	static const struct {
		const char *name;
		unsigned type;
	} all[] = { { "null", TYPE_NULL }, { "boolean", TYPE_BOOLEAN }, { "integer", TYPE_INTEGER },
		{ "number", TYPE_NUMBER }, { "string", TYPE_STRING }, { "array", TYPE_ARRAY },
		{ "object", TYPE_OBJECT } };

	for (size_t i = 0; name->type == JSON_STRING && i < sizeof all / sizeof *all; i++)
		if (!strcmp(name->s, all[i].name))
			return all[i].type;
	schema_fail(c, "\"%.40s\" is not a type", name->type == JSON_STRING ? name->s : json_type_name(name));
	return 0;
}

/* The types that keywords other than type, enum and const are about. */
static unsigned types_of_keywords(const struct json *s)
{
	static const struct {
		unsigned type;
		const char *keyword[8];
	} about[] = {
		{ TYPE_OBJECT, { "properties", "required", "additionalProperties" } },
		{ TYPE_ARRAY, { "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems" } },
		{ TYPE_STRING, { "minLength", "maxLength", "pattern", "format" } },
		{ TYPE_NUMBER, { "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf" } },
	};

	for (size_t i = 0; i < sizeof about / sizeof *about; i++)
		for (const char *const *k = about[i].keyword; *k; k++)
			if (json_get(s, *k))
				return about[i].type;
	return TYPE_ALL;
}

unsigned schema_types(struct converter *c, const struct json *s)
{
	const struct json *type = json_get(s, "type"), *list = json_get(s, "enum"), *constant = json_get(s, "const");
	unsigned types = 0;

	if (type && type->type != JSON_ARRAY)
		return named_type(c, type);
	if (type) {
		for (const struct json *t = type->child; t; t = t->next)
			types |= named_type(c, t);
		return types;
	}
	if (constant)
		return schema_type_of(constant);
	for (const struct json *v = list ? list->child : NULL; v; v = v->next)
		types |= schema_type_of(v);
	return types ? types : types_of_keywords(s);
}
