/* const and enum. If other keywords stand beside them, the values that these do not allow are dropped: each value
 * is matched against the grammar of the other keywords. */
#include "lib/grammar/grammar.h"
#include "converter.h"

#include <math.h>
#include <string.h>

/* ---- literals ---- */

/* A value as json_value() spells it, in *text, which is empty before. */
static void spell(struct converter *c, const struct json *value, struct bytes *text)
{
	struct json_writer w = json_to_bytes(text);

	w.raw = 1;
	text->limit = SIZE_MAX;
	json_value(&w, value);
	if (w.failed)
		schema_no_memory(c);
}

/* A value without children, or a member's name. */
static struct gbnf_expr *token(struct converter *c, const struct json *value)
{
	struct bytes text = { 0 };
	struct gbnf_expr *out;

	if (value->type == JSON_FLOAT && !isfinite(value->d))
		schema_fail(c, "a number is too large");
	spell(c, value, &text);
	out = gbnf_text(&c->g, text.p ? text.p : "", text.n);
	bytes_free(&text);
	return out;
}

struct gbnf_expr *schema_literal(struct converter *c, const struct json *value)
{
	struct gbnf *g = &c->g;
	struct gbnf_expr *list = gbnf_sequence(g);

	if (value->type != JSON_ARRAY && value->type != JSON_OBJECT)
		return token(c, value);
	for (const struct json *v = value->child; v; v = v->next) {
		struct json name = { .type = JSON_STRING, .s = v->key, .n = v->key_n };

		if (v->key)
			gbnf_add(g, list, gbnf_join(g, "%_:_", token(c, &name)));
		gbnf_add(g, list, gbnf_join(g, v->next ? "%_,_" : "%_", schema_literal(c, v)));
	}
	return gbnf_join(g, value->type == JSON_ARRAY ? "[_%]" : "{_%}", list);
}

/* ---- which values ---- */

/* The grammar of the schema without const and enum. NULL: failed, or no value matches it. */
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
	struct bytes text = { 0 };
	int allowed;

	spell(c, value, &text);
	allowed = c->failed ? 0 : grammar_matches(g, text.p, text.n, c->w);
	c->failed |= allowed < 0;
	bytes_free(&text);
	return allowed > 0;
}

struct gbnf_expr *schema_write_constants(struct converter *c, const struct json *s)
{
	const struct json *list = json_get(s, "enum"), *one = json_get(s, "const");
	const struct json *end, *v = schema_constants(s, &end);
	int others = schema_types_of_keywords(s) != 0;
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
	for (; v && v != end && !c->failed; v = v->next)
		if ((v != one || schema_is_constant(c, s, v)) && (schema_type_of(v) & types)
			&& (!others || (g && allows(c, g, v))))
			gbnf_add(&c->g, out, schema_literal(c, v));
	grammar_free(g);
	return out;
}
