/* The walk over a schema: keywords, references, alternatives, constants; and the rules that all grammars share. */
#include "priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

enum {
	TREES_MAX = 1 << 27,            /* bytes of JSON trees, those of merged schemas included */
	WORK_MAX = 200000               /* schemas visited, each as often as it is */
};

/* ---- failures and text ---- */

static int print_spot(const struct schema_spot *spot, char *out, int room)
{
	int n = spot->up ? print_spot(spot->up, out, room) : 0;

	if (n < room)
		n += snprintf(out + n, (size_t)(room - n), spot->up ? "/%.*s" : "%.*s", (int)(spot->n < 60 ? spot->n : 60), spot->name);
	return n;
}

int schema_fail(struct schema *c, const char *format, ...)
{
	char where[240], reason[240];
	va_list ap;

	print_spot(c->spot, where, sizeof where);
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	return why(c->w, "%s: %s", where, reason);
}

static int no_room(struct schema *c)
{
	return schema_fail(c, "the grammar would be too large");
}

int schema_put(struct schema *c, struct bytes *to, const char *s)
{
	return bytes_puts(to, s) ? no_room(c) : 0;
}

int schema_append(struct schema *c, struct bytes *to, const struct bytes *from)
{
	return bytes_put(to, from->p, from->n) ? no_room(c) : 0;
}

int schema_print(struct schema *c, struct bytes *to, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	return schema_put(c, to, text);
}

int schema_space(struct schema *c, struct bytes *to)
{
	return schema_put(c, to, " ") || schema_primitive(c, to, SCHEMA_SPACE) || schema_put(c, to, " ") ? -1 : 0;
}

/* A value without children, or a member's name. */
static int put_token(struct schema *c, struct bytes *to, const struct json *value)
{
	struct bytes spelt = { .limit = to->limit };
	struct json_writer w = json_to_bytes(&spelt);
	int bad;

	json_value(&w, value);
	bad = w.failed || spelt.failed || bytes_puts(to, "\"");
	for (size_t i = 0; i < spelt.n && !bad; i++)
		bad = ((spelt.p[i] == '"' || spelt.p[i] == '\\') && bytes_puts(to, "\\")) || bytes_put(to, spelt.p + i, 1);
	bytes_free(&spelt);
	return bad || bytes_puts(to, "\"") ? no_room(c) : 0;
}

int schema_literal(struct schema *c, struct bytes *to, const struct json *value)
{
	int array = value->type == JSON_ARRAY;

	if (!array && value->type != JSON_OBJECT)
		return put_token(c, to, value);
	if (schema_put(c, to, array ? "\"[\"" : "\"{\"") || schema_space(c, to))
		return -1;
	for (const struct json *v = value->child; v; v = v->next) {
		struct json name = { .type = JSON_STRING, .s = v->key, .n = v->key_n };

		if (!array && (put_token(c, to, &name) || schema_space(c, to) || schema_put(c, to, "\":\"") || schema_space(c, to)))
			return -1;
		if (schema_literal(c, to, v) || schema_space(c, to) || (v->next && (schema_put(c, to, "\",\"") || schema_space(c, to))))
			return -1;
	}
	return schema_put(c, to, array ? "\"]\"" : "\"}\"");
}

/* ---- primitives ---- */

static const struct {
	const char *name, *body;
	unsigned uses;
} primitives[SCHEMA_PRIMITIVES] = {
#define USES(p) (1u << SCHEMA_##p)
	[SCHEMA_SPACE] = { "space", "| \" \" | \"\\n\" [ \\t]{0,20}", 0 },
	[SCHEMA_PLAIN] = { "plain", "[^\"\\\\\\x7F\\x00-\\x1F]", 0 },
	[SCHEMA_CHAR] = { "char", "plain | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" unit)", USES(PLAIN) | USES(UNIT) },
	/* the digits of \u: no half of a surrogate pair comes alone */
	[SCHEMA_UNIT] = { "unit", "[0-9a-cA-CefEF] hex{3} | [dD] [0-7] hex{2} | [dD] [89abAB] hex{2} \"\\\\u\" [dD] [c-fC-F] hex{2}", USES(HEX) },
	[SCHEMA_HEX] = { "hex", "[0-9a-fA-F]", 0 },
	[SCHEMA_STRING] = { "string", "\"\\\"\" char* \"\\\"\"", USES(CHAR) },
	[SCHEMA_INTEGER] = { "integer", "\"0\" | \"-\"? [1-9] [0-9]{0,15}", 0 },
	[SCHEMA_NUMBER] = { "number", "\"-\"? (\"0\" | [1-9] [0-9]{0,15}) (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?", 0 },
	[SCHEMA_VALUE] = { "value", "object | array | string | number | \"true\" | \"false\" | \"null\"",
		USES(OBJECT) | USES(ARRAY) | USES(STRING) | USES(NUMBER) },
	[SCHEMA_OBJECT] = { "object", "\"{\" space (member (\",\" space member)*)? \"}\"", USES(SPACE) | USES(MEMBER) },
	[SCHEMA_MEMBER] = { "member", "string space \":\" space value space",
		USES(SPACE) | USES(STRING) | USES(VALUE) },
	[SCHEMA_ARRAY] = { "array", "\"[\" space (value space (\",\" space value space)*)? \"]\"", USES(SPACE) | USES(VALUE) },
#undef USES
};

int schema_primitive(struct schema *c, struct bytes *to, enum schema_primitive p)
{
	c->primitives |= 1u << p;
	return schema_put(c, to, primitives[p].name);
}

static int write_primitives(struct schema *c)
{
	for (unsigned round = 0; round < SCHEMA_PRIMITIVES; round++)
		for (unsigned p = 0; p < SCHEMA_PRIMITIVES; p++)
			if (c->primitives >> p & 1)
				c->primitives |= primitives[p].uses;
	for (unsigned p = 0; p < SCHEMA_PRIMITIVES; p++)
		if ((c->primitives >> p & 1) && schema_print(c, c->out, "%s ::= %s\n", primitives[p].name, primitives[p].body))
			return -1;
	return 0;
}

/* ---- rules ---- */

/* Numbered, so it is unlike every other one and the primitives'. */
char *schema_name(struct schema *c)
{
	size_t n = 0;
	char *name = arena_text(&c->arena, 48);

	for (size_t i = 0; name && i < c->spot->n && n < 30; i++) {
		char x = c->spot->name[i];

		if ((x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_')
			name[n++] = x;
		else if (n && name[n - 1] != '-')
			name[n++] = '-';
	}
	if (name)
		snprintf(name + n, 48 - n, "%s%u", !n ? "rule-" : name[n - 1] == '-' ? "" : "-", c->names++);
	else
		no_room(c);
	return name;
}

int schema_rule(struct schema *c, const char *name, struct bytes *body)
{
	int bad = bytes_puts(c->out, name) || bytes_puts(c->out, " ::= ") || bytes_put(c->out, body->p, body->n) || bytes_puts(c->out, "\n");

	body->n = 0;
	return bad || body->failed ? no_room(c) : 0;
}

static int write_here(struct schema *c, const struct json *s, struct bytes *to);

/* The rule of a schema, written when it is first asked for. A schema that has come round to itself is possible as far as can be known by then. */
static int write_rule(struct schema *c, const struct json *s, struct bytes *to)
{
	struct bytes body = { .limit = c->out->limit };
	size_t at;
	int status;

	for (at = 0; at < c->n_rules; at++)
		if (c->rule[at].schema == s) {
			c->rule[at].within |= c->rule[at].open;
			return c->rule[at].never ? SCHEMA_NEVER : schema_put(c, to, c->rule[at].name);
		}
	if (c->n_rules == c->rules_room && grow(&c->rule, &c->rules_room, sizeof *c->rule, 32))
		return no_room(c);
	c->rule[at] = (struct schema_rule){ .schema = s, .name = schema_name(c), .open = 1 };
	c->n_rules++;
	if (!c->rule[at].name)
		return -1;
	status = write_here(c, s, &body);
	if (!status)
		status = schema_rule(c, c->rule[at].name, &body);
	if (status == SCHEMA_NEVER && c->rule[at].within)
		status = schema_fail(c, "a schema that contains itself, and that no value holds to");
	c->rule[at].never = status == SCHEMA_NEVER;
	c->rule[at].open = 0;
	bytes_free(&body);
	return status ? status : schema_put(c, to, c->rule[at].name);
}

/* ---- keywords ---- */

static const char *const skipped[] = {
	"title", "description", "default", "examples", "example", "$comment", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "id", "$anchor",
	"$defs", "definitions", "contentEncoding", "contentMediaType", "contentSchema", "$vocabulary", "discriminator",
};

static const char *const known[] = {
	"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "properties", "required", "additionalProperties", "items", "prefixItems",
	"additionalItems", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf",
};

static int among(const char *const *names, size_t n, const struct json *member)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == member->key_n && !memcmp(names[i], member->key, member->key_n))
			return 1;
	return 0;
}

static int check_keywords(struct schema *c, const struct json *s)
{
	for (const struct json *m = s->child; m; m = m->next) {
		if (among(known, sizeof known / sizeof *known, m) || among(skipped, sizeof skipped / sizeof *skipped, m))
			continue;
		if (m->key_n < 2 || memcmp(m->key, "x-", 2))
			return schema_fail(c, "the keyword \"%.60s\" is not supported", m->key);
	}
	return 0;
}

int schema_count(struct schema *c, const struct json *s, const char *keyword, uint32_t *out)
{
	const struct json *v = json_get(s, keyword);
	double d = v && (v->type == JSON_INT || v->type == JSON_FLOAT) ? v->d : -1;

	if (!v)
		return 0;
	if (d < 0 || d > 1e9 || d != (double)(uint32_t)d)
		return schema_fail(c, "%s wants a whole number from 0 to 1000000000", keyword);
	*out = (uint32_t)d;
	return 0;
}

/* ---- alternatives ---- */

/* Writes a schema as one more alternative; those that no value holds to leave no trace. */
static int alternative(struct schema *c, const struct json *s, const char *name, size_t name_n, int *any, struct bytes *to)
{
	size_t before = to->n;
	int status;

	if (schema_put(c, to, *any ? " | " : "("))
		return -1;
	status = schema_write(c, s, name, name_n, to);
	if (status == SCHEMA_NEVER) {
		to->n = before;
		return 0;
	}
	*any = 1;
	return status;
}

static int check_exclusive(struct schema *c, const struct json *branches)
{
	size_t i = 0, k;

	for (const struct json *a = branches->child; a; a = a->next, i++) {
		k = 0;
		for (const struct json *b = branches->child; b; b = b->next, k++) {
			const struct json *flat_a = a == b ? NULL : schema_flatten(c, a), *flat_b = a == b ? NULL : schema_flatten(c, b);
			int excluded = a == b ? 1 : flat_a && flat_b ? schema_excludes(c, flat_a, flat_b) : -1;

			if (excluded < 0)
				return -1;
			if (!excluded)
				return schema_fail(c, "what is written for branch %zu of oneOf may hold to branch %zu too; say anyOf if that is as it should be",
					i, k);
		}
	}
	return 0;
}

static int is_annotated_only(const struct json *s)
{
	for (const struct json *m = s->child; m; m = m->next)
		if (among(known, sizeof known / sizeof *known, m))
			return 0;
	return 1;
}

static int write_branches(struct schema *c, const struct json *s, const char *keyword, struct bytes *to)
{
	const struct json *branches = json_get(s, keyword), *rest = schema_without(c, s, keyword);
	int any = 0, alone;

	if (branches->type != JSON_ARRAY || !branches->n)
		return schema_fail(c, "%s wants an array of schemas", keyword);
	if (!rest || (!strcmp(keyword, "oneOf") && check_exclusive(c, branches)))
		return -1;
	alone = is_annotated_only(rest);
	for (const struct json *b = branches->child; b; b = b->next) {
		const struct json *flat = alone ? b : schema_flatten(c, b), *both = alone ? b : flat ? schema_merge(c, rest, flat) : NULL;

		if (!both || alternative(c, both, keyword, strlen(keyword), &any, to))
			return -1;
	}
	return any ? schema_put(c, to, ")") : SCHEMA_NEVER;
}

/* ---- types ---- */

static int write_type(struct schema *c, const struct json *s, unsigned type, struct bytes *to)
{
	switch (type) {
	case TYPE_NULL:
		return schema_put(c, to, "\"null\"");
	case TYPE_BOOLEAN:
		return schema_put(c, to, "(\"true\" | \"false\")");
	case TYPE_INTEGER:
	case TYPE_NUMBER:
		return schema_write_number(c, s, type == TYPE_INTEGER, to);
	case TYPE_STRING:
		return schema_write_string(c, s, to);
	case TYPE_ARRAY:
		return schema_write_array(c, s, to);
	}
	return schema_write_object(c, s, to);
}

static int write_types(struct schema *c, const struct json *s, struct bytes *to)
{
	static const unsigned each[] = { TYPE_OBJECT, TYPE_ARRAY, TYPE_STRING, TYPE_INTEGER, TYPE_NUMBER, TYPE_BOOLEAN, TYPE_NULL };
	unsigned types;
	int any = 0;

	if (schema_types(c, s, &types))
		return -1;
	if (types == TYPE_ALL)
		return schema_primitive(c, to, SCHEMA_VALUE);
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		size_t before = to->n;
		int status;

		if ((types & each[i]) != each[i] || (each[i] == TYPE_INTEGER && types & TYPE_FRACTION))
			continue;
		status = schema_put(c, to, any ? " | " : "(") ? -1 : write_type(c, s, each[i], to);
		if (status < 0)
			return -1;
		if (status == SCHEMA_NEVER)
			to->n = before;
		else
			any = 1;
	}
	return any ? schema_put(c, to, ")") : SCHEMA_NEVER;
}

/* ---- schemas ---- */

static int write_here(struct schema *c, const struct json *s, struct bytes *to)
{
	if (s->type == JSON_FALSE)
		return SCHEMA_NEVER;
	if (s->type == JSON_TRUE)
		return schema_primitive(c, to, SCHEMA_VALUE);
	s = schema_flatten(c, s);
	if (!s)
		return -1;
	if (s->type == JSON_FALSE)
		return SCHEMA_NEVER;
	if (check_keywords(c, s))
		return -1;
	if (json_get(s, "anyOf"))
		return write_branches(c, s, "anyOf", to);
	if (json_get(s, "oneOf"))
		return write_branches(c, s, "oneOf", to);
	if (json_get(s, "enum") || json_get(s, "const"))
		return schema_write_constants(c, s, to);
	return write_types(c, s, to);
}

/* A bare reference is the rule of what it refers to, so that a schema may contain itself. */
static const struct json *referred(struct schema *c, const struct json *s)
{
	const struct json *rest = json_get(s, "$ref") ? schema_without(c, s, "$ref") : NULL;

	return rest && is_annotated_only(rest) ? schema_follow(c, s) : s;
}

int schema_write(struct schema *c, const struct json *s, const char *name, size_t name_n, struct bytes *to)
{
	struct schema_spot spot = { c->spot, name, name_n };
	const struct json *target;
	int status;

	c->spot = &spot;
	c->depth++;
	if (s->type != JSON_OBJECT && s->type != JSON_TRUE && s->type != JSON_FALSE)
		status = schema_fail(c, "a schema is an object, true or false");
	else if (++c->work > WORK_MAX)
		status = schema_fail(c, "the schema is too large, or branches too often");
	else if (c->depth > SCHEMA_DEPTH)
		status = schema_fail(c, "schemas are nested more than %d deep", SCHEMA_DEPTH);
	else if (!(target = referred(c, s)))
		status = -1;
	else
		status = target != s ? write_rule(c, target, to) : write_here(c, s, to);
	c->depth--;
	c->spot = spot.up;
	return status;
}

int schema_write_grammar(struct schema *c)
{
	struct bytes root = { .limit = 128 };
	int status = -1;

	if (!schema_space(c, &root))
		status = write_rule(c, c->top, &root);
	if (!status)
		status = schema_space(c, &root) || schema_rule(c, "root", &root) ? -1 : write_primitives(c);
	bytes_free(&root);
	return status;
}

int schema_grammar(const char *json, size_t n, struct bytes *out, struct why *w)
{
	struct schema_spot top = { NULL, "#", 1 };
	struct schema c = { .arena = { .limit = TREES_MAX }, .out = out, .w = w, .spot = &top };
	int status = -1;

	c.document = c.top = json_parse(&c.arena, json, n, w);
	if (c.top && c.top->type != JSON_OBJECT && c.top->type != JSON_TRUE && c.top->type != JSON_FALSE)
		schema_fail(&c, "a schema is an object, true or false");
	else if (c.top)
		status = schema_write_grammar(&c);
	if (status == SCHEMA_NEVER)
		schema_fail(&c, "no value holds to this schema");
	arena_free(&c.arena);
	free(c.rule);
	return status ? -1 : 0;
}
