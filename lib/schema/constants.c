/* enum. If other keywords stand beside it, the values that these do not allow are dropped: each value is matched
 * against the grammar of the other keywords. */
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
	if (value->type == JSON_FLOAT && text.n > 2 && !memcmp(text.p + text.n - 2, ".0", 2))
		text.n -= 2;
	out = gbnf_text(&c->g, bytes_text(&text), text.n);
	if (schema_is_number(value) && !memchr(text.p, '.', text.n) && !memchr(text.p, 'e', text.n))
		out = gbnf_join(&c->g, "%%", out, gbnf_repeat(&c->g, gbnf_text(&c->g, ".0", 2), 0, 1));
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

/* The grammar of the schema without enum. NULL: failed, or no value matches it. */
static struct grammar *other_grammar(struct converter *c, const struct json *s)
{
	const struct json *rest = schema_without(c, s, "enum");
	struct bytes text = { .limit = GRAMMAR_TEXT };
	struct converter other = *c;
	struct grammar *g = NULL;
	int status = -1;

	other.g = (struct gbnf){ .arena = { .limit = c->g.arena.limit } };
	other.all_open = 1;
	other.rules = (struct index){ 0 };
	if (rest)
		status = schema_write_grammar(&other, rest, &text);
	if (!status && !(g = grammar_parse(text.p, text.n, c->w)))
		status = -1;
	c->arena = other.arena;
	c->index = other.index;
	c->flat = other.flat;
	c->work = other.work;
	c->failed |= status < 0;
	arena_free(&other.g.arena);
	index_free(&other.rules);
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

const struct json *schema_constants(struct converter *c, const struct json *s)
{
	int others = schema_types_of_keywords(s) != 0;
	unsigned types = schema_types(c, s);
	struct grammar *g = others ? other_grammar(c, s) : NULL;
	struct json *out = schema_make(c, JSON_ARRAY);

	for (const struct json *v = json_get(s, "enum")->child; v && !c->failed; v = v->next)
		if ((schema_type_of(v) & types) && (!others || (g && allows(c, g, v))))
			schema_add(c, out, NULL, v);
	grammar_free(g);
	return c->failed ? NULL : out;
}

struct gbnf_expr *schema_write_constants(struct converter *c, const struct json *s)
{
	const struct json *list = schema_constants(c, s);
	struct gbnf_expr *out = gbnf_alternatives(&c->g);

	for (const struct json *v = list ? list->child : NULL; v && !c->failed; v = v->next)
		gbnf_add(&c->g, out, schema_literal(c, v));
	return out;
}

const struct json *schema_of_value(struct converter *c, const struct json *value)
{
	int is_object = value->type == JSON_OBJECT;
	struct json *parts = schema_make(c, is_object ? JSON_OBJECT : JSON_ARRAY), *names = schema_make(c, JSON_ARRAY);
	struct json *out = schema_of_types(c, is_object ? TYPE_OBJECT : TYPE_ARRAY);

	for (const struct json *v = value->child; v && !c->failed; v = v->next) {
		const struct json *one = schema_of(c, "const", v);

		if (is_object) {
			schema_add_named(c, parts, v, one);
			schema_add(c, names, NULL, json_new_string(&c->arena, v->key, v->key_n));
		} else {
			schema_add(c, parts, NULL, one);
		}
	}
	schema_add(c, out, is_object ? "properties" : "prefixItems", parts);
	if (is_object)
		schema_add(c, out, "required", names);
	schema_add(c, out, is_object ? "maxProperties" : "minItems", schema_make_int(c, (int64_t)value->n));
	if (!is_object)
		schema_add(c, out, "maxItems", schema_make_int(c, (int64_t)value->n));
	return out;
}
