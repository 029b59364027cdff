/* Arguments: JSON by lib/schema, or values each of which has tags or is a literal. */
#include <stdio.h>
#include <string.h>

#include "lib/base/members.h"
#include "lib/schema/schema.h"
#include "ruleset.h"
#include "tools.h"

enum { STRING = 1 << JSON_STRING, ARRAY = 1 << JSON_ARRAY, OBJECT = 1 << JSON_OBJECT };
enum { VALUES_DEPTH = 24, LABEL = 256 };

/* ---- JSON ---- */

static int is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* Appends a grammar with the names of its rules after a prefix. */
static void put_renamed(const struct bytes *grammar, const char *prefix, struct bytes *out)
{
	const char *s = grammar->p, *end = s + grammar->n, *from;
	char close = 0;

	for (; s < end; s++) {
		if (!close && is_name(*s)) {
			for (from = s; s + 1 < end && is_name(s[1]); s++)
				;
			bytes_puts(out, prefix);
			bytes_put(out, from, (size_t)(s - from) + 1);
			continue;
		}
		bytes_put(out, s, 1);
		if (close && *s == '\\')
			bytes_put(out, ++s, 1);
		else if (close)
			close = *s == close ? 0 : close;
		else
			close = *s == '"' ? '"' : *s == '[' ? ']' : *s == '{' ? '}' : 0;
	}
}

void rules_json(struct ruleset *r, const struct bytes *schema, const char *label, struct bytes *to)
{
	struct bytes grammar = { .limit = r->out->limit };
	char prefix[24];

	if (r->failed)
		return;
	snprintf(prefix, sizeof prefix, "json%u-", r->names++);
	if (schema_grammar(bytes_text(schema), schema->n, r->left_out, &grammar, r->w)) {
		why_in(r->w, label);
		r->failed = 1;
	} else {
		put_renamed(&grammar, prefix, r->out);
		bytes_print(to, " %sroot", prefix);
	}
	bytes_free(&grammar);
}

struct values {
	struct ruleset *r;
	const struct call_format *call;
	const struct tool *tool;
	int depth;
};

/* A part of the tool's schema, with what it may refer to; as an object if it must be one. */
static void put_json(const struct values *v, const struct json *schema, int object, struct bytes *to)
{
	static const char *const definitions[] = { "$defs", "definitions" };
	struct bytes text = { .limit = v->r->out->limit };
	struct json_writer w = json_to_bytes(&text);
	const struct json *d;
	char label[LABEL];

	json_open(&w, '{');
	if (object) {
		member_text(&w, "type", "object");
	}
	if (schema) {
		member_open(&w, "allOf", '[');
		json_value(&w, schema);
		json_close(&w, ']');
	} else {
		member_flag(&w, "additionalProperties", 0);
	}
	for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
		if ((d = json_get(v->tool->parameters, definitions[i]))) {
			json_name(&w, definitions[i]);
			json_value(&w, d);
		}
	json_close(&w, '}');
	snprintf(label, sizeof label, "the tool %.*s", (int)v->tool->name.n, v->tool->name.s);
	rules_json(v->r, &text, label, to);
	bytes_free(&text);
}

/* ---- strings without quotes ---- */

static unsigned long bound(const struct json *schema, const char *keyword, unsigned long otherwise)
{
	const struct json *v = json_get(schema, keyword);

	return v && v->d >= 0 && v->d <= 1e9 ? (unsigned long)v->d : otherwise;
}

/* {low,high} as the schema's keywords say, after what is repeated. */
static void put_bounds(const struct json *schema, const char *low, const char *high, struct bytes *to)
{
	bytes_print(to, "{%lu,", bound(schema, low, 0));
	if (json_get(schema, high))
		bytes_print(to, "%lu", bound(schema, high, 0));
	bytes_puts(to, "}");
}

/* A string up to the text `end`. */
static void put_text(const struct values *v, const struct json *schema, const char *end, const struct fill *fill,
	struct bytes *to)
{
	const char *core = pattern_core(end);

	if (!json_get(schema, "minLength") && !json_get(schema, "maxLength")) {
		rules_until(v->r, end, fill, to);
		return;
	}
	if (rules_control(v->r, core, strlen(core)))
		bytes_puts(to, " .");
	else
		bytes_print(to, " [^%s%c]", strchr("]^\\-", *core) ? "\\" : "", *core);
	put_bounds(schema, "minLength", "maxLength", to);
}

/* The values of a list, as alternatives: strings as they are. */
static void put_constants(const struct values *v, const struct json *first, const struct json *last,
	const struct fill *fill, struct bytes *to)
{
	const char *quote = v->call->quote;

	bytes_puts(to, " (");
	for (const struct json *c = first; c; c = c == last ? NULL : c->next) {
		struct bytes text = { .limit = to->limit };
		struct json_writer w = json_to_bytes(&text);

		bytes_puts(to, c == first ? "" : " |");
		if (c->type == JSON_STRING) {
			rules_pattern(v->r, quote, fill, 0, to);
			rules_literal((struct span){ c->s, c->n }, to);
			rules_pattern(v->r, quote, fill, 0, to);
			bytes_puts(to, *quote || c->n ? "" : " \"\"");
		} else {
			json_value(&w, c);
			rules_literal((struct span){ text.p, text.n }, to);
		}
		bytes_free(&text);
	}
	bytes_puts(to, " )");
}

/* ---- values ---- */

static void put_members(struct values *v, const struct json *schema, struct bytes *to);

static void put_value(struct values *v, const struct json *schema, const char *end, const struct fill *fill,
	struct bytes *to);

/* The items of a list, each between its tags or after a comma. */
static void put_items(struct values *v, const struct json *schema, struct bytes *to)
{
	const struct json *items = schema_items(schema), any = { .type = JSON_OBJECT };
	const struct call_format *call = v->call;
	struct fill fill = { 0 };
	unsigned long low = bound(schema, "minItems", 0), high = bound(schema, "maxItems", 0);
	int tags = call->kind == CALL_TAGS;

	items = items ? items : &any;
	if (json_get(schema, "maxItems") && !high) {
		bytes_puts(to, tags ? " \"\"" : " \"[]\"");
		return;
	}
	if (tags) {
		bytes_puts(to, " (");
		rules_pattern(v->r, call->item, &fill, 0, to);
		put_value(v, items, call->item_end, &fill, to);
		rules_pattern(v->r, call->item_end, &fill, 0, to);
		bytes_puts(to, " )");
		put_bounds(schema, "minItems", "maxItems", to);
		return;
	}
	bytes_puts(to, " \"[\" (");
	put_value(v, items, call->quote, &fill, to);
	bytes_puts(to, " (\",\"");
	put_value(v, items, call->quote, &fill, to);
	bytes_print(to, " ){%lu,", low ? low - 1 : 0);
	if (json_get(schema, "maxItems"))
		bytes_print(to, "%lu", high - 1);
	bytes_puts(to, low ? "} ) \"]\"" : "} )? \"]\"");
}

/* The same, but it does not begin as the pattern `other` does. */
static void put_text_unlike(const struct values *v, const struct json *schema, const char *other, const char *end,
	const struct fill *fill, struct bytes *to)
{
	int free = !json_get(schema, "minLength") && !json_get(schema, "maxLength");

	if (free)
		bytes_print(to, " ([^%s%c]", strchr("]^\\-", *pattern_core(other)) ? "\\" : "", *pattern_core(other));
	put_text(v, schema, end, fill, to);
	bytes_puts(to, free ? " )?" : "");
}

/* A string that the format writes without JSON's quotes. */
static void put_string(const struct values *v, const struct json *schema, const char *end, const struct fill *fill,
	struct bytes *to)
{
	const struct call_format *call = v->call;

	if (*call->quote) {
		rules_pattern(v->r, call->quote, fill, 0, to);
		put_text(v, schema, end, fill, to);
		rules_pattern(v->r, call->quote, fill, 0, to);
	} else if (*call->raw) {
		bytes_puts(to, " (");
		rules_pattern(v->r, call->raw, fill, 0, to);
		put_text(v, schema, call->raw_end, fill, to);
		rules_pattern(v->r, call->raw_end, fill, 0, to);
		bytes_puts(to, " |");
		put_text_unlike(v, schema, call->raw, end, fill, to);
		bytes_puts(to, " )");
	} else if (*call->item && value_types(schema) != STRING) {
		/* tags in it would make it a list or an object */
		put_text_unlike(v, schema, call->item, end, fill, to);
	} else {
		put_text(v, schema, end, fill, to);
	}
}

/* Whether the schema says what its types do not. */
static int is_composed(const struct json *schema)
{
	return json_get(schema, "$ref") || json_get(schema, "anyOf") || json_get(schema, "oneOf")
		|| json_get(schema, "allOf") || json_get(schema, "not");
}

/* A value that ends with the pattern `end`, which is not appended. */
static void put_value(struct values *v, const struct json *schema, const char *end, const struct fill *fill,
	struct bytes *to)
{
	const struct json *constant = json_get(schema, "const"), *list = json_get(schema, "enum");
	const struct call_format *call = v->call;
	unsigned types = value_types(schema);
	int text = call->kind == CALL_TAGS || *call->quote, nested = *call->item || *call->quote;

	if (text && constant)
		put_constants(v, constant, constant, fill, to);
	else if (text && list && list->child)
		put_constants(v, list->child, NULL, fill, to);
	else if (nested && types == ARRAY && v->depth < VALUES_DEPTH) {
		v->depth++;
		put_items(v, schema, to);
		v->depth--;
	} else if (nested && types == OBJECT && v->depth < VALUES_DEPTH) {
		v->depth++;
		put_members(v, schema, to);
		v->depth--;
	} else if (text && (types == STRING || (call->kind == CALL_TAGS && !is_composed(schema)
		   && (!types || types & STRING)))) {
		put_string(v, schema, end, fill, to);
	} else {
		put_json(v, schema, 0, to);
	}
}

/* ---- members ---- */

/* The word for the type of a value, where keys have one. */
static const char *type_word(const struct call_format *call, unsigned types)
{
	static const char *const words[] = { [JSON_NULL] = "null", [JSON_FALSE] = "boolean", [JSON_TRUE] = "boolean",
		[JSON_INT] = "number", [JSON_BIG] = "number", [JSON_FLOAT] = "number", [JSON_STRING] = "string",
		[JSON_ARRAY] = "array", [JSON_OBJECT] = "object" };
	size_t type = 0;

	if (!types || types & STRING)
		return call->string;
	if (strcmp(call->string, "string") != 0)
		return "false";
	while (!(types >> type & 1))
		type++;
	return words[type];
}

/* A key as a literal has it. */
static void put_key(struct span key, struct bytes *to)
{
	struct bytes text = { .limit = to->limit };
	struct json_writer w = json_to_bytes(&text);
	size_t i = 0;

	while (i < key.n && ((is_name(key.s[i]) && key.s[i] != '-') || key.s[i] == '_'))
		i++;
	if (i < key.n || !key.n)
		json_string(&w, key.s, key.n);
	rules_literal(text.n ? (struct span){ text.p, text.n } : key, to);
	bytes_free(&text);
}

/* A rule for a member, and a reference to it. */
static void put_member(struct values *v, const struct json *p, char sign, struct bytes *to)
{
	struct fill fill = { v->tool->name, { p->key, p->key_n }, type_word(v->call, value_types(p)) };
	struct bytes body = { .limit = to->limit };
	const struct call_format *call = v->call;
	unsigned name = v->r->names++;

	if (call->kind == CALL_TAGS) {
		rules_pattern(v->r, call->key, &fill, 0, &body);
		put_value(v, p, call->value_end, &fill, &body);
		rules_pattern(v->r, call->value_end, &fill, 0, &body);
	} else {
		put_key(fill.key, &body);
		rules_literal((struct span){ &sign, 1 }, &body);
		put_value(v, p, call->quote, &fill, &body);
	}
	bytes_print(v->r->out, "member%u ::=", name);
	bytes_put(v->r->out, body.p, body.n);
	bytes_puts(v->r->out, "\n");
	bytes_print(to, " member%u", name);
	v->r->failed |= body.failed;
	bytes_free(&body);
}

static int is_required(const struct json *schema, const struct json *property)
{
	const struct json *list = json_get(schema, "required");

	for (const struct json *c = list && list->type == JSON_ARRAY ? list->child : NULL; c; c = c->next)
		if (c->type == JSON_STRING && c->n == property->key_n && !memcmp(c->s, property->key, c->n))
			return 1;
	return 0;
}

/* The members of literals: name[n] are their rules, and a comma is between two of them. */
static void put_listed(const struct bytes *name, const int *required, size_t n, const char *comma, struct bytes *to)
{
	size_t first = 0;

	bytes_puts(to, " (");
	for (; first < n; first++) {
		bytes_puts(to, first ? " |" : "");
		bytes_put(to, name[first].p, name[first].n);
		for (size_t i = first + 1; i < n; i++) {
			bytes_print(to, " (%s", comma);
			bytes_put(to, name[i].p, name[i].n);
			bytes_puts(to, required[i] ? " )" : " )?");
		}
		if (required[first])
			break;
	}
	bytes_puts(to, first < n ? " )" : n ? " | \"\" )" : " \"\" )");
}

/* The declared members of an object, in their order, and the bracket that closes a literal. */
static void put_members(struct values *v, const struct json *schema, struct bytes *to)
{
	const struct json *properties = json_get(schema, "properties");
	const char *begin = v->call->begin;
	int python = *begin && begin[strlen(begin) - 1] == '(';
	int inner = v->depth > 0, tags = v->call->kind == CALL_TAGS;
	size_t n = 0, room = properties && properties->type == JSON_OBJECT ? properties->n : 0;
	struct bytes *name = arena_array(&v->r->arena, room + 1, sizeof *name);
	int *required = arena_array(&v->r->arena, room + 1, sizeof *required);

	if (!name || !required) {
		v->r->failed = 1;
		why(v->r->w, "out of memory");
		return;
	}
	for (const struct json *p = room ? properties->child : NULL; p; p = p->next) {
		if (p->type == JSON_FALSE)
			continue;
		name[n].limit = to->limit;
		required[n] = is_required(schema, p);
		put_member(v, p, python && !inner ? '=' : ':', &name[n++]);
	}
	if (tags) {
		for (size_t i = 0; i < n; i++) {
			bytes_put(to, name[i].p, name[i].n);
			bytes_puts(to, required[i] ? "" : "?");
		}
		bytes_puts(to, n ? "" : " \"\"");
	} else {
		bytes_puts(to, inner ? " \"{\"" : "");
		put_listed(name, required, n, python ? " \",\" \" \"?" : " \",\"", to);
		bytes_puts(to, python && !inner ? " \")\"" : " \"}\"");
	}
	while (n)
		bytes_free(&name[--n]);
}

void rules_arguments(struct ruleset *r, const struct call_format *call, const struct tool *tool, struct bytes *to)
{
	struct values v = { .r = r, .call = call, .tool = tool };

	if (call->kind == CALL_JSON || call->kind == CALL_MEMBERS)
		put_json(&v, tool->parameters, 1, to);
	else
		put_members(&v, tool->parameters, to);
}
