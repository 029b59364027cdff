/* Objects: the declared properties in order, optional ones or not, and further properties if allowed. */
#include "converter.h"

#include "lib/base/grow.h"
#include "lib/base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1000 };         /* of a name that the names of further properties must differ from */

static const struct json anything = { .type = JSON_TRUE };

struct property {
	const char *name;               /* name[n] */
	size_t n;
	struct gbnf_expr *member;       /* "name": value */
	int required;
};

struct object_schema {
	struct property *property;      /* those that can be present */
	size_t n, room;
	struct gbnf_expr *others;       /* a further "name": value, or never */
};

/* A rule for a member: name, colon, value and the white space after it. It is used in several places. */
static struct gbnf_expr *write_member(struct converter *c, struct gbnf_expr *name, const struct json *schema,
	const char *word, size_t n)
{
	struct gbnf_expr *value = schema_write(c, schema, word, n);
	struct gbnf_rule *rule = gbnf_rule(&c->g, word, n, NULL);

	gbnf_define(&c->g, rule, gbnf_join(&c->g, "%_:_%_", name, value));
	return gbnf_use(&c->g, rule);
}

/* ---- further properties ---- */

static int by_name(const void *x, const void *y)
{
	const struct property *a = x, *b = y;
	int c = memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);

	return c ? c : (a->n > b->n) - (a->n < b->n);
}

/* The rests of all names other than p[n], which are sorted and have their first `depth` bytes in common. */
static struct gbnf_expr *unlike(struct converter *c, const struct property *p, size_t n, size_t depth)
{
	struct gbnf_expr *out = gbnf_alternatives(&c->g);
	struct bytes not = { .limit = SIZE_MAX };
	struct gbnf_rule *rule;
	size_t first = 0;

	while (first < n && p[first].n == depth)
		first++;
	bytes_puts(&not, "^\"\\\\\\x7F\\x00-\\x1F");
	for (size_t i = first, end; i < n; i = end) {
		unsigned used;
		uint32_t point = (uint32_t)utf8_next(p[i].name + depth, p[i].n - depth, &used);

		end = i;
		while (end < n && p[end].n >= depth + used && !memcmp(p[end].name + depth, p[i].name + depth, used))
			end++;
		if (point < 0x20 || point == '"' || point == '\\' || point == 0x7f)
			continue;       /* only spelt with an escape, which names of further properties do not have */
		gbnf_spell(&not, point);
		gbnf_add(&c->g, out, gbnf_join(&c->g, "%%", gbnf_text(&c->g, p[i].name + depth, used),
			unlike(c, p + i, end - i, depth + used)));
	}
	if (not.failed)
		schema_no_memory(c);
	gbnf_add(&c->g, out, gbnf_join(&c->g, "%%", gbnf_class(&c->g, not.p ? not.p : "", not.n),
		gbnf_repeat(&c->g, gbnf_primitive(&c->g, GBNF_PLAIN), 0, GBNF_FOREVER)));
	if (!first)
		gbnf_add(&c->g, out, gbnf_sequence(&c->g));
	bytes_free(&not);
	rule = gbnf_rule(&c->g, "other", 5, NULL);
	gbnf_define(&c->g, rule, out);
	return gbnf_use(&c->g, rule);
}

/* Any name except those of properties that are declared (even if they cannot be present) or required. */
static struct gbnf_expr *other_name(struct converter *c, const struct json *declared, const struct object_schema *o)
{
	size_t n = 0, all = (declared ? declared->n : 0) + o->n;
	struct gbnf_expr *out;
	struct property *list;

	if (!all)
		return gbnf_primitive(&c->g, GBNF_STRING);
	list = calloc(all, sizeof *list);
	if (!list) {
		schema_no_memory(c);
		return gbnf_never();
	}
	for (const struct json *m = declared ? declared->child : NULL; m; m = m->next)
		list[n++] = (struct property){ .name = m->key, .n = m->key_n };
	for (size_t i = 0; i < o->n; i++)
		list[n++] = o->property[i];
	for (size_t i = 0; i < n; i++)
		if (list[i].n > NAME_MAX_BYTES)
			schema_fail(c, "property names of more than %d bytes beside additionalProperties are not "
				"supported", NAME_MAX_BYTES);
	qsort(list, n, sizeof *list, by_name);
	out = c->failed ? gbnf_never() : gbnf_join(&c->g, "\"%\"", unlike(c, list, n, 0));
	free(list);
	return out;
}

static struct gbnf_expr *write_others(struct converter *c, const struct json *s, const struct object_schema *o)
{
	const struct json *others = json_get(s, "additionalProperties");

	if (!others || others->type == JSON_FALSE || c->failed)
		return gbnf_never();
	return write_member(c, other_name(c, json_get(s, "properties"), o), others, "additionalProperties", 20);
}

/* ---- declared properties ---- */

/* A property without values is left out; returns 0 if it is required. */
static int add_property(struct converter *c, struct object_schema *o, struct property p, const struct json *schema)
{
	struct json name = { .type = JSON_STRING, .s = p.name, .n = p.n };

	p.member = write_member(c, schema_literal(c, &name), schema, p.name, p.n);
	if (gbnf_is_never(p.member))
		return !p.required;
	if (o->n == o->room && grow(&o->property, &o->room, sizeof *o->property, 16)) {
		schema_no_memory(c);
		return 0;
	}
	o->property[o->n++] = p;
	return 1;
}

/* Finds the properties that can be present; those that are required but not declared have the schema of
 * additionalProperties. Returns 0 if a required one cannot be present. */
static int find_properties(struct converter *c, const struct json *s, struct object_schema *o)
{
	const struct json *declared = json_get(s, "properties"), *required = json_get(s, "required");
	const struct json *others = json_get(s, "additionalProperties");

	if (declared && declared->type != JSON_OBJECT)
		schema_fail(c, "properties must be an object of schemas");
	if (required && required->type != JSON_ARRAY)
		schema_fail(c, "required must be an array of names");
	for (const struct json *p = declared && !c->failed ? declared->child : NULL; p && !c->failed; p = p->next) {
		int is_required = index_find(&c->index, required, p->key, p->key_n) != NULL;

		if (index_find(&c->index, declared, p->key, p->key_n) != p)
			schema_fail(c, "the property \"%.60s\" is declared twice", p->key);
		else if (!add_property(c, o, (struct property){ p->key, p->key_n, NULL, is_required }, p))
			return 0;
	}
	for (const struct json *r = required && !c->failed ? required->child : NULL; r && !c->failed; r = r->next)
		if (r->type != JSON_STRING)
			schema_fail(c, "required must be an array of names");
		else if (!index_find(&c->index, declared, r->s, r->n)
			&& index_find(&c->index, required, r->s, r->n) == r
			&& !add_property(c, o, (struct property){ r->s, r->n, NULL, 1 }, others ? others : &anything))
			return 0;
	return !c->failed;
}

/* ---- the object ---- */

/* A comma and the member, low to high times. */
static struct gbnf_expr *next_member(struct gbnf *g, struct gbnf_expr *member, uint32_t low, uint32_t high)
{
	return gbnf_repeat(g, gbnf_join(g, ",_%", member), low, high);
}

/* The first member is one of the properties up to the first required one. What may follow property i is a rule,
 * which uses the rule for property i + 1. */
static struct gbnf_expr *write_members(struct gbnf *g, const struct object_schema *o)
{
	struct gbnf_expr *out = gbnf_alternatives(g), *after;
	struct gbnf_expr *others = next_member(g, o->others, 0, GBNF_FOREVER);
	size_t last = 0;

	while (last < o->n && !o->property[last].required)
		last++;
	after = gbnf_sequence(g);
	if (last == o->n) {             /* none is required: only further properties, or nothing */
		gbnf_add(g, out, gbnf_sequence(g));
		gbnf_add(g, out, gbnf_join(g, "%%", o->others, others));
	} else {
		for (size_t i = last + 1; i < o->n; i++)
			gbnf_add(g, after, next_member(g, o->property[i].member, (uint32_t)o->property[i].required, 1));
	}
	gbnf_add(g, after, others);
	for (size_t i = last == o->n ? o->n : last + 1; i-- > 0; ) {
		const struct property *p = &o->property[i];
		struct gbnf_rule *rule = gbnf_rule(g, p->name, p->n, NULL);

		gbnf_define(g, rule, after);
		after = gbnf_use(g, rule);
		gbnf_add(g, out, gbnf_join(g, "%%", p->member, after));
		after = gbnf_join(g, "%%", next_member(g, p->member, (uint32_t)p->required, 1), after);
	}
	return out;
}

struct gbnf_expr *schema_write_object(struct converter *c, const struct json *s)
{
	struct gbnf_rule *rule = gbnf_rule(&c->g, c->path->name, c->path->n, NULL);
	struct object_schema o = { 0 };
	struct gbnf_expr *out = gbnf_never();

	if (!json_get(s, "properties") && !json_get(s, "required") && !json_get(s, "additionalProperties"))
		return gbnf_primitive(&c->g, GBNF_OBJECT);
	if (find_properties(c, s, &o)) {
		o.others = write_others(c, s, &o);
		gbnf_define(&c->g, rule, gbnf_join(&c->g, "{_%}", write_members(&c->g, &o)));
		out = gbnf_use(&c->g, rule);
	}
	free(o.property);
	return out;
}
