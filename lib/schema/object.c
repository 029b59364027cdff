/* Objects: the properties that have a name, and then the others, if there are any. */
#include "object.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

enum { SCRATCH_MAX = 1 << 27 };

struct gbnf_expr *object_write_member(struct converter *c, struct gbnf_expr *name, const struct json *schema,
	const char *keyword, const char *word, size_t n)
{
	struct gbnf_expr *value = schema_write(c, schema, keyword, word, n);
	struct gbnf_rule *rule = gbnf_rule(&c->g, word ? word : "other", word ? n : 5, NULL);

	gbnf_define(&c->g, rule, gbnf_join(&c->g, "%_:_%_", name, value));
	return gbnf_use(&c->g, rule);
}

static void add_property(struct object_schema *o, const char *name, size_t n)
{
	const struct json *required = json_get(o->s, "required"), *has = json_get(o->s, SCHEMA_HAS);

	if (o->n == o->room && grow(&o->property, &o->room, sizeof *o->property, 16))
		schema_no_memory(o->c);
	else
		o->property[o->n++] = (struct schema_property){ name, n, NULL, NULL,
			index_find(&o->c->index, required, name, n) || index_find(&o->c->index, has, name, n) };
}

static int is_declared(struct object_schema *o, const struct json *until, const char *name, size_t n)
{
	if (index_find(&o->c->index, json_get(o->s, "properties"), name, n))
		return 1;
	for (const struct json *m = o->lists ? o->lists->child : NULL; m != until; m = m->next)
		if (index_find(&o->c->index, json_get(m, "properties"), name, n))
			return 1;
	return 0;
}

/* Adds the names of a list that have not been added. */
static void add_required(struct object_schema *o, const struct json *list, const struct json *before)
{
	for (const struct json *r = list ? list->child : NULL; r && !o->c->failed; r = r->next)
		if (index_find(&o->c->index, list, r->s, r->n) == r && !is_declared(o, NULL, r->s, r->n)
			&& !index_find(&o->c->index, before, r->s, r->n))
			add_property(o, r->s, r->n);
}

/* In the order of the schema; those that are required but not declared come last. */
static void find_properties(struct object_schema *o)
{
	const struct json *plain = json_get(o->s, "properties"), *required = json_get(o->s, "required");
	const struct json *has = json_get(o->s, SCHEMA_HAS);

	for (const struct json *p = plain ? plain->child : NULL; p && !o->c->failed; p = p->next)
		if (index_find(&o->c->index, plain, p->key, p->key_n) == p)
			add_property(o, p->key, p->key_n);
	for (const struct json *m = o->lists ? o->lists->child : NULL; m && !o->c->failed; m = m->next) {
		const struct json *declared = json_get(m, "properties");

		for (const struct json *p = declared ? declared->child : NULL; p && !o->c->failed; p = p->next)
			if (index_find(&o->c->index, declared, p->key, p->key_n) == p
				&& !is_declared(o, m, p->key, p->key_n))
				add_property(o, p->key, p->key_n);
	}
	add_required(o, has, NULL);
	add_required(o, required, has);
}

/* Whether a closed object has the property only because some schema must not hold. It would not be written otherwise,
 * so such an alternative is left out. */
static int is_foreign(struct object_schema *o, const struct schema_property *p)
{
	if (!o->is_closed || index_find(&o->c->index, json_get(o->s, "required"), p->name, p->n)
		|| index_find(&o->c->index, json_get(o->s, "properties"), p->name, p->n))
		return 0;
	for (const struct json *m = o->lists ? o->lists->child : NULL; m; m = m->next)
		if (!json_get(m, SCHEMA_NEGATED) && (json_get(m, "patternProperties")
			|| index_find(&o->c->index, json_get(m, "properties"), p->name, p->n)))
			return 0;
	o->c->narrowed = 1;
	return 1;
}

/* Writes the members. Returns 0 if a required one cannot be present. Another one without values stays declared: its
 * name is none of the others'. */
static int write_properties(struct object_schema *o)
{
	struct converter *c = o->c;

	for (size_t i = 0; i < o->n && !c->failed; i++) {
		struct schema_property *p = &o->property[i];
		struct json name = { .type = JSON_STRING, .s = p->name, .n = p->n };

		p->schema = is_foreign(o, p) ? NULL : object_schema_of(o, p->name, p->n);
		p->member = p->schema ? object_write_member(c, schema_literal(c, &name), p->schema, "properties",
			p->name,
			p->n) : gbnf_never();
		if (gbnf_is_never(p->member) && p->required)
			return 0;
	}
	return !c->failed;
}

static int gives_others(const struct object_schema *o)
{
	for (const struct json *m = o->lists ? o->lists->child : NULL; m; m = m->next)
		if (json_get(m, "additionalProperties"))
			return 1;
	return 0;
}

/* The property that SCHEMA_OTHER requires; if there are several, one that is all of them. */
static void write_last(struct object_schema *o)
{
	const struct json *lists = json_get(o->s, SCHEMA_OTHER), *value = NULL;
	const struct automaton *names = lists && !o->c->failed ? automaton_any(o->w, 0, UINT32_MAX) : NULL;

	for (const struct json *l = lists ? lists->child : NULL; l && !o->c->failed; l = l->next) {
		names = automaton_combine(o->w, names, AUTOMATON_AND, schema_names_of_some(o->c, o->w, l));
		value = schema_both(o->c, value, json_get(l, SCHEMA_VALUE));
	}
	if (names && !o->c->failed)
		o->last = object_write_some(o, names, value);
}

static struct gbnf_expr *write_object(struct object_schema *o)
{
	struct converter *c = o->c;
	struct gbnf_rule *rule = schema_new_rule(c, NULL);

	o->lists = json_get(o->s, SCHEMA_MEMBERS);
	o->min = schema_count(c, o->s, "minProperties", 0);
	o->max = schema_count(c, o->s, "maxProperties", GBNF_FOREVER);
	o->is_closed = schema_is_closed(c, o->s) && !gives_others(o)
		&& (json_get(o->s, "properties") || json_get(o->s, "required") || o->lists);
	object_read_names(o);
	find_properties(o);
	if (o->min > o->max || !write_properties(o))
		return gbnf_never();
	o->others = object_write_others(o);
	write_last(o);
	if (c->failed)
		return gbnf_never();
	gbnf_define(&c->g, rule, gbnf_join(&c->g, "{_%}", object_write_members(o)));
	return gbnf_use(&c->g, rule);
}

struct gbnf_expr *schema_write_object(struct converter *c, const struct json *s)
{
	struct workshop w = { .arena = { .limit = SCRATCH_MAX } };
	struct object_schema o = { .c = c, .w = &w, .s = s };
	struct gbnf_expr *out;

	if (!(schema_types_of_keywords(s) & TYPE_OBJECT))
		return gbnf_primitive(&c->g, GBNF_OBJECT);
	out = write_object(&o);
	free(o.property);
	arena_free(&w.arena);
	return out;
}
