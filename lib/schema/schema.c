/* The walk over a schema: keywords, references, alternatives and types. */
#include "converter.h"

#include <errno.h>
#include <string.h>

enum {
	TREES_MAX = 1 << 27,            /* bytes of JSON trees, those of merged schemas included */
	EXPRESSIONS_MAX = 1 << 28       /* bytes of the grammar before it is printed */
};

static void check_keywords(struct converter *c, const struct json *s)
{
	for (const struct json *m = s->child; m; m = m->next)
		if (!schema_keyword(m) && (m->key_n < 2 || memcmp(m->key, "x-", 2)))
			schema_fail(c, "the keyword \"%.60s\" is not supported", m->key);
}

/* ---- alternatives ---- */

static struct gbnf_expr *write_branches(struct converter *c, const struct json *s, const char *keyword)
{
	const struct json *branches = json_get(s, keyword), *rest = schema_without(c, s, keyword);
	struct gbnf_expr *out = gbnf_alternatives(&c->g);
	int alone;

	if (branches->type != JSON_ARRAY || !branches->n)
		schema_fail(c, "%s must be an array of schemas", keyword);
	else if (!strcmp(keyword, "oneOf"))
		schema_check_exclusive(c, branches);
	if (c->failed)
		return gbnf_never();
	alone = !schema_has_assertion(rest);
	for (const struct json *b = branches->child; b && !c->failed; b = b->next) {
		const struct json *flat = alone ? b : schema_flatten(c, b);
		const struct json *both = alone ? b : flat ? schema_merge(c, rest, flat) : NULL;

		if (both)
			gbnf_add(&c->g, out, schema_write(c, both, keyword, strlen(keyword)));
	}
	return out;
}

/* ---- types ---- */

static struct gbnf_expr *write_type(struct converter *c, const struct json *s, unsigned type)
{
	struct gbnf_expr *out;

	switch (type) {
	case TYPE_NULL:
		return gbnf_join(&c->g, "null");
	case TYPE_BOOLEAN:
		out = gbnf_alternatives(&c->g);
		gbnf_add(&c->g, out, gbnf_join(&c->g, "true"));
		gbnf_add(&c->g, out, gbnf_join(&c->g, "false"));
		return out;
	case TYPE_INTEGER:
	case TYPE_NUMBER:
		return schema_write_number(c, s, type == TYPE_INTEGER);
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

	if (types == TYPE_ALL)
		return gbnf_primitive(&c->g, GBNF_VALUE);
	for (size_t i = 0; i < SCHEMA_TYPES && !c->failed; i++) {
		unsigned each = schema_types_by_name[i].types;

		if ((types & each) != each)
			continue;
		gbnf_add(&c->g, out, write_type(c, s, each));
		types &= ~each;
	}
	return out;
}

/* ---- schemas ---- */

static struct gbnf_expr *write_here(struct converter *c, const struct json *s)
{
	s = s->type == JSON_OBJECT ? schema_flatten(c, s) : s;
	if (!s || s->type == JSON_FALSE)
		return gbnf_never();
	if (s->type == JSON_TRUE)
		return gbnf_primitive(&c->g, GBNF_VALUE);
	check_keywords(c, s);
	if (c->failed)
		return gbnf_never();
	if (json_get(s, "anyOf"))
		return write_branches(c, s, "anyOf");
	if (json_get(s, "oneOf"))
		return write_branches(c, s, "oneOf");
	if (json_get(s, "enum") || json_get(s, "const"))
		return schema_write_constants(c, s);
	return write_types(c, s);
}

/* A schema that is referred to has a rule, so that it may contain itself. */
struct schema_rule {
	struct gbnf_rule *rule;
	int level;              /* of nested arrays and objects where it begins */
	int open;               /* its rule is being written */
};

static struct schema_rule *write_rule(struct converter *c, const struct json *s, const char *label)
{
	struct schema_rule *r = (struct schema_rule *)index_noted(&c->index, s);

	if (r && r->open && r->level == c->level)
		schema_fail(c, "the schema refers to itself with no array or object between");
	if (r)
		return r;
	r = arena_alloc(&c->arena, sizeof *r);
	if (!r) {
		schema_no_memory(c);
		return NULL;
	}
	*r = (struct schema_rule){ gbnf_rule(&c->g, c->path->name, c->path->n, label), c->level, 1 };
	index_note(&c->index, s, r);
	gbnf_define(&c->g, r->rule, write_here(c, s));
	r->open = 0;
	return r;
}

struct gbnf_expr *schema_write(struct converter *c, const struct json *s, const char *name, size_t n)
{
	struct schema_path path = { c->path, name, n };
	const struct json *rest, *target;
	struct gbnf_expr *out = gbnf_never();
	struct schema_rule *r;

	c->path = &path;
	if (!schema_enter(c, s)) {
		rest = json_get(s, "$ref") ? schema_without(c, s, "$ref") : NULL;
		if (!rest || schema_has_assertion(rest)) {
			out = write_here(c, s);
		} else if ((target = schema_follow(c, s))) {
			r = write_rule(c, target, json_get_string(s, "$ref"));
			out = r ? gbnf_use(&c->g, r->rule) : out;
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
	if (c->g.failed || c->index.failed)
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
}

int schema_grammar(const char *json, size_t n, struct bytes *out, struct why *w)
{
	struct schema_path top = { NULL, "#", 1 };
	struct converter c = { .arena = { .limit = TREES_MAX }, .g = { .arena = { .limit = EXPRESSIONS_MAX } }, .w = w,
		.path = &top };
	int status = -1, error;

	errno = 0;
	c.document = json_parse(&c.arena, json, n, w);
	if (c.document)
		status = schema_write_grammar(&c, c.document, out);
	if (status > 0 && c.endless)
		status = why(w, "%s: every value of this schema would have to contain another one, without end",
			c.endless);
	else if (status > 0)
		status = schema_fail(&c, "no value matches this schema");
	error = errno;
	schema_close(&c);
	errno = error;
	return status;
}
