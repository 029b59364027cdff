/* const and enum. If other keywords stand beside them, the values that these do not allow are dropped: each value
 * is matched against the grammar of the other keywords. */
#include "lib/grammar/grammar.h"
#include "converter.h"

#include <string.h>

/* ---- literals ---- */

/* A value without children, or a member's name, as json_value() spells it. */
static struct gbnf_expr *token(struct converter *c, const struct json *value)
{
	struct bytes text = { .limit = SIZE_MAX };
	struct json_writer w = json_to_bytes(&text);
	struct gbnf_expr *out;

	json_value(&w, value);
	if (w.failed)
		schema_no_memory(c);
	out = gbnf_text(&c->g, text.p ? text.p : "", text.n);
	bytes_free(&text);
	return out;
}

struct gbnf_expr *schema_literal(struct converter *c, const struct json *value)
{
	struct gbnf *g = &c->g;
	struct gbnf_expr *out, *space;

	if (value->type != JSON_ARRAY && value->type != JSON_OBJECT)
		return token(c, value);
	space = gbnf_primitive(g, GBNF_SPACE);
	out = gbnf_join(g, gbnf_literal(g, value->type == JSON_ARRAY ? "[" : "{"), space, NULL);
	for (const struct json *v = value->child; v; v = v->next) {
		struct json name = { .type = JSON_STRING, .s = v->key, .n = v->key_n };

		if (v->key)
			gbnf_add(g, out, gbnf_join(g, token(c, &name), space, gbnf_literal(g, ":"), space, NULL));
		gbnf_add(g, out, gbnf_join(g, schema_literal(c, v), space, NULL));
		if (v->next)
			gbnf_add(g, out, gbnf_join(g, gbnf_literal(g, ","), space, NULL));
	}
	gbnf_add(g, out, gbnf_literal(g, value->type == JSON_ARRAY ? "]" : "}"));
	return out;
}

/* ---- which values ---- */

static int has_others(const struct json *s)
{
	static const char *const names[] = { "minLength", "maxLength", "pattern", "format", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "items", "prefixItems",
		"additionalItems", "uniqueItems", "properties", "required", "additionalProperties" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_get(s, names[i]))
			return 1;
	return 0;
}

/* The grammar of the schema without const and enum. NULL: failed, or no value holds to it. */
static struct grammar *other_grammar(struct converter *c, const struct json *s)
{
	struct bytes text = { .limit = GRAMMAR_TEXT };
	struct converter other = { .arena = { .limit = c->arena.limit },
		.g = { .arena = { .limit = c->g.arena.limit } },
		.document = c->document, .w = c->w, .path = c->path, .depth = c->depth, .work = c->work };
	const struct json *rest = schema_without(c, s, "enum");
	struct grammar *g = NULL;
	int status = -1;

	rest = rest ? schema_without(c, rest, "const") : NULL;
	if (rest)
		status = schema_write_grammar(&other, rest, &text);
	if (!status && !(g = grammar_parse(text.p, text.n, c->w)))
		status = -1;
	c->work = other.work;
	c->failed |= status < 0;
	schema_close(&other);
	bytes_free(&text);
	return g;
}

static int allows(struct converter *c, const struct grammar *g, const struct json *value)
{
	struct bytes text = { .limit = SIZE_MAX };
	struct json_writer w = json_to_bytes(&text);
	int allowed;

	json_value(&w, value);
	if (w.failed)
		schema_no_memory(c);
	allowed = w.failed ? 0 : grammar_matches(g, text.p, text.n, c->w);
	c->failed |= allowed < 0;
	bytes_free(&text);
	return allowed > 0;
}

static int among(const struct json *list, const struct json *value)
{
	for (const struct json *l = list->child; l; l = l->next)
		if (schema_equal(l, value))
			return 1;
	return 0;
}

struct gbnf_expr *schema_write_constants(struct converter *c, const struct json *s)
{
	const struct json *constant = json_get(s, "const"), *list = json_get(s, "enum");
	int others = has_others(s);
	unsigned types = TYPE_ALL;
	struct grammar *g;
	struct gbnf_expr *out = gbnf_alternatives(&c->g);

	if (list && (list->type != JSON_ARRAY || !list->n)) {
		schema_fail(c, "enum must be an array of values");
		return out;
	}
	if (json_get(s, "type"))
		types = schema_types(c, s);
	g = others ? other_grammar(c, s) : NULL;
	for (const struct json *v = constant ? constant : list->child; v && !c->failed; v = constant ? NULL : v->next)
		if ((!constant || !list || among(list, v)) && (schema_type_of(v) & types)
			&& (!others || (g && allows(c, g, v))))
			gbnf_add(&c->g, out, schema_literal(c, v));
	grammar_free(g);
	return out;
}
