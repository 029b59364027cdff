/* The walk over a schema: keywords, references, alternatives and types. */
#include "converter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	TREES_MAX = 1 << 27,            /* bytes of JSON trees, those of merged schemas included */
	EXPRESSIONS_MAX = 1 << 28       /* bytes of the grammar before it is printed */
};

/* ---- alternatives ---- */

/* A list of alternatives; those of a schema that says nothing else may be referred to. */
static struct gbnf_expr *write_branches(struct converter *c, const struct json *s)
{
	const struct json *lists = json_get(s, SCHEMA_ANY_OF);
	const struct json *list = lists && s->n == 1 && lists->n == 1 ? lists->child : schema_alternatives(c, s);
	struct gbnf_expr *out = gbnf_alternatives(&c->g);
	char number[24];
	size_t i = 0;

	for (const struct json *b = list ? list->child : NULL; b && !c->failed; b = b->next) {
		int n = snprintf(number, sizeof number, "%zu", i++);

		gbnf_add(&c->g, out, schema_write(c, b, "anyOf", number, (size_t)n));
	}
	return out;
}

/* ---- types ---- */

/* null, true and false, unless they are excluded. */
static struct gbnf_expr *write_words(struct converter *c, const struct json *s, const struct json *words, size_t n)
{
	struct gbnf_expr *out = gbnf_alternatives(&c->g);
	const struct json *v;

	for (size_t i = 0; i < n; i++) {
		const struct json *excluded = json_get(s, SCHEMA_NOT_ENUM);

		for (v = excluded ? excluded->child : NULL; v && v->type != words[i].type; v = v->next)
			;
		if (!v)
			gbnf_add(&c->g, out, schema_literal(c, &words[i]));
	}
	return out;
}

static struct gbnf_expr *write_type(struct converter *c, const struct json *s, unsigned type)
{
	static const struct json words[] = { { .type = JSON_NULL }, { .type = JSON_TRUE }, { .type = JSON_FALSE } };
	struct gbnf_expr *out;

	switch (type) {
	case TYPE_NULL:
		return write_words(c, s, &words[0], 1);
	case TYPE_BOOLEAN:
		return write_words(c, s, &words[1], 2);
	case TYPE_INTEGER: case TYPE_FRACTION: case TYPE_NUMBER:
		return schema_write_number(c, s, type);
	case TYPE_STRING:
		return schema_write_string(c, s);
	}
	c->level++;
	out = type == TYPE_ARRAY ? schema_write_array(c, s) : schema_write_object(c, s);
	c->level--;
	return out;
}

static struct gbnf_expr *write_types(struct converter *c, const struct json *s)
{
	unsigned types = schema_types(c, s);
	struct gbnf_expr *out = gbnf_alternatives(&c->g);

	if (types == TYPE_ALL && !schema_types_of_keywords(s))
		return gbnf_primitive(&c->g, GBNF_VALUE);
	for (size_t i = 0; i < SCHEMA_N_TYPES && !c->failed; i++) {
		unsigned each = schema_types_by_name[i].types;

		each = each == TYPE_NUMBER ? types & TYPE_NUMBER : each;
		if (!each || (types & each) != each)
			continue;
		gbnf_add(&c->g, out, write_type(c, s, each));
		types &= ~each;
	}
	return out;
}

/* ---- schemas ---- */

static struct gbnf_expr *write_here(struct converter *c, const struct json *s)
{
	s = schema_flatten(c, s);
	if (!s || s->type == JSON_FALSE)
		return gbnf_never();
	if (s->type == JSON_TRUE)
		return gbnf_primitive(&c->g, GBNF_VALUE);
	if (schema_has_alternatives(s))
		return write_branches(c, s);
	return json_get(s, "enum") ? schema_write_constants(c, s) : write_types(c, s);
}

struct gbnf_rule *schema_new_rule(struct converter *c, const char *label)
{
	const struct schema_path *p = c->path;
	int is_number = !p->name || (p->n && *p->name >= '0' && *p->name <= '9');
	const char *stem = !is_number ? p->name : p->keyword ? p->keyword : "";

	return gbnf_rule(&c->g, stem, is_number ? strlen(stem) : p->n, label);
}

/* A schema that is referred to has a rule, so that it may contain itself. */
struct schema_rule {
	struct gbnf_rule *rule;
	int level;              /* of nested arrays and objects where it begins */
	int open;               /* its rule is being written */
};

static struct schema_rule *write_rule(struct converter *c, const struct json *s, const char *label)
{
	struct schema_rule *r = (struct schema_rule *)index_noted(&c->rules, schema_identity(s));

	if (r && r->open && r->level == c->level)
		schema_fail(c, "the schema refers to itself with no array or object between");
	if (r)
		return r;
	r = arena_alloc(&c->arena, sizeof *r);
	if (!r) {
		schema_no_memory(c);
		return NULL;
	}
	*r = (struct schema_rule){ schema_new_rule(c, label), c->level, 1 };
	index_note(&c->rules, schema_identity(s), r);
	gbnf_define(&c->g, r->rule, write_here(c, s));
	r->open = 0;
	return r;
}

/* A schema in a rule: the target of a reference that stands alone, or what was made of two schemas. NULL: neither. */
static const struct json *with_rule(struct converter *c, const struct json *s)
{
	const struct json *ref = json_get(s, "$ref"), *rest;

	if (schema_is_both(s))
		return s;
	ref = ref ? ref : json_get(s, "$dynamicRef");
	rest = ref ? schema_without(c, s, ref->key) : NULL;
	return rest && !schema_has_assertion(rest) ? schema_follow(c, ref) : NULL;
}

struct gbnf_expr *schema_write(struct converter *c, const struct json *s, const char *keyword, const char *name,
	size_t n)
{
	struct schema_path path = { c->path, keyword, name, n };
	const struct json *target;
	struct gbnf_expr *out = gbnf_never();
	struct schema_rule *r;

	c->path = &path;
	if (!schema_enter(c, s)) {
		target = with_rule(c, s);
		if (target) {
			r = write_rule(c, target, json_get_string(s, "$ref"));
			out = r ? gbnf_use(&c->g, r->rule) : out;
		} else {
			out = write_here(c, s);
		}
		schema_leave(c);
	}
	c->path = path.up;
	return out;
}

/* ---- the whole grammar ---- */

int schema_write_grammar(struct converter *c, const struct json *s, struct bytes *out)
{
	struct gbnf_rule *root = gbnf_rule(&c->g, "", 0, NULL);
	struct schema_rule *top;

	if (schema_enter(c, s))
		return -1;
	top = write_rule(c, s, "#");
	schema_leave(c);
	if (top)
		gbnf_define(&c->g, root, gbnf_join(&c->g, "_%_", gbnf_use(&c->g, top->rule)));
	if (c->g.failed || c->index.failed || c->flat.failed || c->rules.failed)
		schema_no_memory(c);
	if (c->failed)
		return -1;
	if (gbnf_settle(&c->g, root, &c->endless))
		return 1;
	if (gbnf_print(&c->g, root, out) && errno == ENOMEM)
		return schema_no_memory(c);
	if (out->failed)
		return schema_fail(c, "the grammar would be larger than %zu MiB", out->limit >> 20);
	return 0;
}

void schema_close(struct converter *c)
{
	arena_free(&c->arena);
	arena_free(&c->g.arena);
	index_free(&c->index);
	index_free(&c->flat);
	index_free(&c->rules);
}

/* What APIs wrap a schema in: {"type": "json_schema", "json_schema": {"name": ..., "schema": ...}}, or the inner one
 * of these. */
static const struct json *unwrapped(const struct json *document)
{
	const struct json *inner = json_get(document, "json_schema"), *schema;

	inner = inner ? inner : document;
	schema = json_get(inner, "schema");
	return schema && json_get_string(inner, "name") && schema->type == JSON_OBJECT ? schema : document;
}

int schema_grammar(const char *json, size_t n, struct bytes *left_out, struct bytes *out, struct why *w)
{
	struct schema_path top = { NULL, NULL, NULL, 0 };
	struct converter c = { .arena = { .limit = TREES_MAX }, .g = { .arena = { .limit = EXPRESSIONS_MAX } }, .w = w,
		.left_out = left_out, .path = &top };
	int status = -1, error;

	errno = 0;
	c.document = json_parse(&c.arena, json, n, w);
	if (c.document) {
		c.document = unwrapped(c.document);
		schema_find_bases(&c);
		status = schema_write_grammar(&c, c.document, out);
	}
	if (status > 0 && c.endless)
		status = why(w, "%s: every value of this schema would have to contain another one, without end",
			c.endless);
	else if (status > 0)
		status = schema_fail(&c, c.narrowed ? "no value matches this schema,"
			" except objects with properties that it"
			" does not declare; if it has oneOf, use anyOf for branches that overlap"
			: "no value matches this schema");
	error = errno;
	schema_close(&c);
	errno = error;
	return status;
}
