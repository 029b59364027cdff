/* unevaluatedProperties and unevaluatedItems. In a flat schema without alternatives it is plain what has been
 * evaluated, so each alternative gets these keywords as additionalProperties and items. */
#include "converter.h"

/* ---- objects ---- */

/* Adds the names in `from` with the schema `true`. */
static void add_names(struct converter *c, struct json *to, const struct json *from)
{
	for (const struct json *p = from ? from->child : NULL; p && !c->failed; p = p->next)
		schema_add_named(c, to, p, schema_make(c, JSON_TRUE));
}

static const struct json *evaluate_properties(struct converter *c, const struct json *s, const struct json *others)
{
	const struct json *lists = json_get(s, SCHEMA_MEMBERS);
	struct json *names = schema_make(c, JSON_OBJECT), *patterns = schema_make(c, JSON_OBJECT), *members;

	add_names(c, names, json_get(s, "properties"));
	for (const struct json *m = lists ? lists->child : NULL; m && !c->failed; m = m->next) {
		if (json_get(m, SCHEMA_NEGATED))
			continue;
		if (json_get(m, "additionalProperties"))
			return s;               /* all are evaluated */
		add_names(c, names, json_get(m, "properties"));
		add_names(c, patterns, json_get(m, "patternProperties"));
	}
	members = schema_of(c, "properties", names);
	schema_add(c, members, "patternProperties", patterns);
	schema_add(c, members, "additionalProperties", others);
	members = schema_of(c, SCHEMA_MEMBERS, schema_list(c, members));
	return c->failed ? NULL : schema_merge(c, s, members);
}

/* ---- arrays ---- */

static const struct json *evaluate_items(struct converter *c, const struct json *s, const struct json *others)
{
	const struct json *lists = json_get(s, SCHEMA_ITEMS), *contains = json_get(s, SCHEMA_CONTAINS);
	struct json *first = schema_make(c, JSON_ARRAY), *any = schema_list(c, others), *items;

	for (const struct json *m = lists ? lists->child : NULL; m && !c->failed; m = m->next) {
		if (json_get(m, SCHEMA_NEGATED))
			continue;
		if (json_get(m, "items"))
			return s;
		for (size_t n = json_get(m, "prefixItems")->n; first && first->n < n && !c->failed; )
			schema_add(c, first, NULL, schema_make(c, JSON_TRUE));
	}
	for (const struct json *m = contains ? contains->child : NULL; m && !c->failed; m = m->next)
		if (!json_get(m, SCHEMA_NEGATED))
			schema_add(c, any, NULL, json_get(m, "contains"));
	items = schema_of(c, "prefixItems", first);
	schema_add(c, items, "items", any && any->n > 1 ? schema_of(c, "anyOf", any) : others);
	items = schema_of(c, SCHEMA_ITEMS, schema_list(c, items));
	return c->failed ? NULL : schema_merge(c, s, items);
}

/* ---- alternatives ---- */

static void evaluate(struct converter *c, const struct json *s, const struct json *from, struct json *out)
{
	const struct json *properties = json_get(from, "unevaluatedProperties");
	const struct json *items = json_get(from, "unevaluatedItems"), *list;

	if (schema_enter(c, s))
		return;
	if (schema_has_alternatives(s)) {
		list = schema_alternatives(c, s);
		for (const struct json *a = list ? list->child : NULL; a && !c->failed; a = a->next)
			evaluate(c, a, from, out);
	} else if (s->type != JSON_FALSE) {
		s = properties ? evaluate_properties(c, s, properties) : s;
		s = s && items ? evaluate_items(c, s, items) : s;
		if (s)
			schema_add(c, out, NULL, s);
	}
	schema_leave(c);
}

const struct json *schema_evaluate(struct converter *c, const struct json *s, const struct json *from)
{
	struct json *out = schema_make(c, JSON_ARRAY);

	evaluate(c, s, from, out);
	if (c->failed)
		return NULL;
	if (out->n < 2)
		return out->n ? schema_flatten(c, out->child) : schema_make(c, JSON_FALSE);
	return schema_of(c, SCHEMA_ANY_OF, schema_list(c, out));
}
