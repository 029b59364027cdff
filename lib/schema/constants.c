/* const and enum: values that are written as they are. If other keywords stand beside them, those values are left that hold to these too: which is what
 * their grammar says. */
#include "lib/grammar/grammar.h"
#include "priv.h"

#include <stdlib.h>
#include <string.h>

static int has_others(const struct json *s)
{
	static const char *const names[] = { "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "minItems", "maxItems", "items", "prefixItems", "additionalItems", "uniqueItems", "properties", "required",
		"additionalProperties" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_get(s, names[i]))
			return 1;
	return 0;
}

/* The grammar of the schema without its constants. SCHEMA_NEVER: of nothing. */
static int other_grammar(struct schema *c, const struct json *s, struct grammar **g)
{
	struct bytes text = { .limit = c->out->limit };
	struct schema other = { .arena = { .limit = c->arena.limit }, .document = c->document, .out = &text, .w = c->w, .spot = c->spot, .depth = c->depth,
		.work = c->work };
	int status = -1;

	other.top = schema_without(c, s, "enum");
	if (other.top)
		other.top = schema_without(c, other.top, "const");
	if (other.top && ++other.depth > SCHEMA_DEPTH)
		schema_fail(c, "schemas are nested more than %d deep", SCHEMA_DEPTH);
	else if (other.top)
		status = schema_write_grammar(&other);
	c->work = other.work;
	if (!status && !(*g = grammar_parse(text.p, text.n, c->w)))
		status = -1;
	arena_free(&other.arena);
	free(other.rule);
	bytes_free(&text);
	return status;
}

/* Whether the grammar allows the value; 1 without a grammar. */
static int allows(struct schema *c, const struct grammar *g, const struct json *value)
{
	struct bytes text = { .limit = c->out->limit };
	struct json_writer w = json_to_bytes(&text);
	int status;

	if (!g)
		return 1;
	json_value(&w, value);
	status = w.failed ? schema_fail(c, "no memory") : grammar_matches(g, text.p, text.n, c->w);
	bytes_free(&text);
	return status;
}

static int among(const struct json *list, const struct json *value)
{
	for (const struct json *l = list->child; l; l = l->next)
		if (schema_equal(l, value))
			return 1;
	return 0;
}

int schema_write_constants(struct schema *c, const struct json *s, struct bytes *to)
{
	const struct json *constant = json_get(s, "const"), *list = json_get(s, "enum");
	struct grammar *g = NULL;
	unsigned types = TYPE_ALL;
	int any = 0, status = 0;

	if (list && (list->type != JSON_ARRAY || !list->n))
		return schema_fail(c, "enum wants an array of values");
	if (json_get(s, "type") && schema_types(c, s, &types))
		return -1;
	if (has_others(s))
		status = other_grammar(c, s, &g);
	for (const struct json *v = constant ? constant : list->child; v && !status; v = constant ? NULL : v->next) {
		int allowed = (!constant || !list || among(list, v)) && (schema_type_of(v) & types) ? allows(c, g, v) : 0;

		if (allowed < 0 || (allowed && (schema_put(c, to, any ? " | " : "(") || schema_literal(c, to, v))))
			status = -1;
		any |= allowed;
	}
	grammar_free(g);
	return status ? status : any ? schema_put(c, to, ")") : SCHEMA_NEVER;
}
