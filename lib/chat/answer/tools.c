/* Tools, their schemas, and values as these want them. */
#include "tools.h"

#include <string.h>

#include "literals.h"

enum { SCHEMA_DEPTH = 16 };

/* The function of an item of a list of tools, or NULL: an object with a name, by itself or in OpenAI's form. */
static const struct json *function_of(const struct json *item)
{
	const struct json *function = json_get(item, "function");

	if (!function)
		function = item;
	return json_get_string(function, "name") ? function : NULL;
}

static int is_tools(const struct json *variable)
{
	return variable->type == JSON_ARRAY && strcmp(variable->key, "messages") && variable->n;
}

int tools_any(const struct json *variables)
{
	for (const struct json *v = variables->child; v; v = v->next)
		if (is_tools(v) && (function_of(v->child) || !strcmp(v->key, "builtin_tools")))
			return 1;
	return 0;
}

/* The schema of its arguments, or NULL. */
static const struct json *parameters_of(const struct json *function)
{
	const struct json *parameters = json_get(function, "parameters");

	return parameters ? parameters : json_get(function, "input_schema");
}

/* The first tool of that name: a function, or a string; NULL: none. */
static const struct json *find(const struct json *variables, struct span name)
{
	const struct json *function, *called;

	for (const struct json *v = variables->child; v; v = v->next)
		for (const struct json *item = is_tools(v) ? v->child : NULL; item; item = item->next) {
			function = function_of(item);
			called = function ? json_get(function, "name") : item->type == JSON_STRING ? item : NULL;
			if (called && span_equal((struct span){ called->s, called->n }, name))
				return function ? function : item;
		}
	return NULL;
}

int tools_find(const struct json *variables, struct span name, const struct json **parameters)
{
	const struct json *tool = find(variables, name);

	*parameters = parameters_of(tool);
	return tool != NULL;
}

int tools_next(const struct json *variables, struct tools_at *at, struct span *name, const struct json **parameters)
{
	const struct json *function;

	if (!at->list)
		at->list = variables->child;
	for (; at->list; at->list = at->list->next, at->tool = NULL) {
		if (!is_tools(at->list))
			continue;
		for (at->tool = at->tool ? at->tool->next : at->list->child; at->tool; at->tool = at->tool->next) {
			if (!(function = function_of(at->tool)))
				continue;
			*name = (struct span){ json_get(function, "name")->s, json_get(function, "name")->n };
			if (find(variables, *name) != function)
				continue;
			*parameters = parameters_of(function);
			return 1;
		}
	}
	return 0;
}

const struct json *schema_member(const struct json *schema, struct span key)
{
	const struct json *properties = json_get(schema, "properties");
	const struct json *more = json_get(schema, "additionalProperties");

	for (const struct json *p = properties ? properties->child : NULL; p; p = p->next)
		if (p->key && span_equal((struct span){ p->key, p->key_n }, key))
			return p;
	return more && more->type == JSON_OBJECT ? more : NULL;
}

const struct json *schema_items(const struct json *schema)
{
	const struct json *items = json_get(schema, "items");

	return items && items->type == JSON_OBJECT ? items : NULL;
}

/* ---- types ---- */

enum { ANY_NUMBER = 1 << JSON_INT | 1 << JSON_FLOAT, ANY_BOOL = 1 << JSON_TRUE | 1 << JSON_FALSE };

static unsigned type_named(const struct json *name)
{
	static const struct {
		const char *name;
		unsigned types;
	} names[] = {
		{ "string", 1 << JSON_STRING }, { "str", 1 << JSON_STRING }, { "number", ANY_NUMBER },
		{ "float", ANY_NUMBER }, { "integer", ANY_NUMBER }, { "int", ANY_NUMBER }, { "boolean", ANY_BOOL },
		{ "bool", ANY_BOOL }, { "array", 1 << JSON_ARRAY }, { "list", 1 << JSON_ARRAY },
		{ "object", 1 << JSON_OBJECT }, { "dict", 1 << JSON_OBJECT }, { "null", 1 << JSON_NULL },
	};

	for (size_t i = 0; name->type == JSON_STRING && i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, name->s))
			return names[i].types;
	return 0;
}

static unsigned type_of(const struct json *v)
{
	return v->type == JSON_INT || v->type == JSON_BIG || v->type == JSON_FLOAT ? ANY_NUMBER
		: v->type == JSON_TRUE || v->type == JSON_FALSE ? ANY_BOOL : 1u << v->type;
}

static unsigned types_at(const struct json *schema, int depth)
{
	static const char *const unions[] = { "anyOf", "oneOf", "allOf" };
	const struct json *type = json_get(schema, "type"), *list = json_get(schema, "enum"), *v;
	unsigned types = 0, part;

	if (type && type->type == JSON_ARRAY)
		for (v = type->child; v; v = v->next)
			types |= type_named(v);
	else if (type)
		types = type_named(type);
	if (types || depth == SCHEMA_DEPTH)
		return types;
	if ((v = json_get(schema, "const")))
		return type_of(v);
	if (list && list->type == JSON_ARRAY)
		for (v = list->child; v; v = v->next)
			types |= type_of(v);
	for (size_t i = 0; i < sizeof unions / sizeof *unions; i++) {
		list = json_get(schema, unions[i]);
		for (v = list && list->type == JSON_ARRAY ? list->child : NULL; v; v = v->next) {
			if (!(part = types_at(v, depth + 1)))
				return 0;
			types |= part;
		}
	}
	return types ? types : json_get(schema, "properties") ? 1 << JSON_OBJECT
		: json_get(schema, "items") ? 1 << JSON_ARRAY : 0;
}

unsigned value_types(const struct json *schema)
{
	return schema ? types_at(schema, 0) : 0;
}

/* ---- values ---- */

void value_put_escaped(const char *s, size_t n, struct bytes *out)
{
	struct json_writer w = json_to_bytes(out);
	size_t start = out->n;

	w.raw = 1;
	json_string(&w, s, n);
	if (out->failed)
		return;
	/* the quotes */
	memmove(out->p + start, out->p + start + 1, out->n - start - 2);
	out->n -= 2;
}

/* Whether the text is one JSON value of the types, or of any if these are 0. */
static int is_value(struct span text, unsigned types)
{
	struct arena a = { .limit = text.n * 64 + 65536 };
	struct why ignored;
	const struct json *v = json_parse(&a, text.s, text.n, &ignored);
	int fits = v && (!types || types & type_of(v));

	arena_free(&a);
	return fits;
}

/* Appends the text, read as Python writes values, if that is a value of the types: 1, or 0. */
static int put_literal(struct span text, unsigned types, struct bytes *out)
{
	struct bytes value = { .limit = out->limit };
	struct literals l;
	size_t used;
	int fits;

	literals_start(&l, "", 0);
	fits = literals_read(&l, text.s, text.n, 1, &value, &used) == MATCH_YES && used == text.n && value.n
		&& is_value((struct span){ value.p, value.n }, types);
	if (fits)
		bytes_put(out, value.p, value.n);
	bytes_free(&value);
	return fits;
}

/* As plain text: 1, or 0 if it is no value of the types. */
static int put_value(struct span text, unsigned types, struct bytes *out)
{
	if (!is_value(text, types))
		return put_literal(text, types, out);
	bytes_put(out, text.s, text.n);
	return 1;
}

int value_put(struct span text, unsigned types, struct bytes *out)
{
	const unsigned string = 1u << JSON_STRING;
	struct span value = span_trim_end(span_trim_start(text));

	/* what may be a string is one, unless it is another value that it may be */
	if (value.n && types != string && put_value(value, types & ~string, out))
		return 0;
	if (value.n && types && !(types & string) && put_value(value, 0, out))
		return 0;
	bytes_puts(out, "\"");
	value_put_escaped(text.s, text.n, out);
	return bytes_puts(out, "\"");
}
