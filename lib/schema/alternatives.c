/* The alternatives of flat schemas, and the properties that can be the one of which something is required. */
#include "converter.h"

#include <string.h>

#include "language.h"

enum { SCRATCH_MAX = 1 << 26 };

int schema_has_alternatives(const struct json *s)
{
	return json_get(s, SCHEMA_ANY_OF) || json_get(s, SCHEMA_SOME);
}

/* The schema without the first element of a keyword that is a list. */
static const struct json *without_first(struct converter *c, const struct json *s, const char *keyword)
{
	const struct json *lists = json_get(s, keyword), *out = schema_without(c, s, keyword);
	struct json *others = schema_make(c, JSON_ARRAY), *copy;

	if (c->failed || lists->n == 1)
		return out;
	for (const struct json *l = lists->child->next; l; l = l->next)
		schema_add(c, others, NULL, l);
	copy = schema_make(c, JSON_OBJECT);
	for (const struct json *m = out->child; m; m = m->next)
		schema_add_named(c, copy, m, m);
	schema_add(c, copy, keyword, others);
	return copy;
}

static void add_merged(struct converter *c, struct json *to, const struct json *rest, const struct json *s)
{
	const struct json *flat = schema_flatten(c, s), *both = flat ? schema_merge(c, rest, flat) : NULL;

	if (both && both->type != JSON_FALSE)
		schema_add(c, to, NULL, both);
}

/* ---- some property ---- */

const struct automaton *schema_names_of_some(struct converter *c, struct workshop *w, const struct json *some)
{
	const struct json *patterns = json_get(some, "patternProperties"), *pattern = json_get(some, "pattern");
	struct regex *r = pattern ? regex_parse(c, pattern->s, pattern->n) : NULL;
	const struct automaton *out = r ? language_of_pattern(c, w, r) : automaton_any(w, 0, UINT32_MAX);

	if (json_get(some, "properties"))
		out = automaton_combine(w, out, AUTOMATON_AND_NOT, language_of_texts(w, json_get(some, "properties")));
	for (const struct json *p = patterns ? patterns->child : NULL; p && !c->failed; p = p->next)
		if ((r = regex_parse(c, p->key, p->key_n)))
			out = automaton_combine(w, out, AUTOMATON_AND_NOT, language_of_pattern(c, w, r));
	return language_failed(c, w) || c->failed ? NULL : out;
}

/* An alternative for each name in a list: it is the property, if it can be. */
static void add_names(struct converter *c, struct json *to, const struct json *rest, const struct json *some,
	const struct json *names)
{
	struct workshop w = { .arena = { .limit = SCRATCH_MAX } };
	const struct automaton *candidates = names ? schema_names_of_some(c, &w, some) : NULL;

	for (const struct json *p = candidates ? names->child : NULL; p && !c->failed; p = p->next) {
		const char *name = p->key ? p->key : p->s;
		size_t n = p->key ? p->key_n : p->n;

		if (automaton_accepts(candidates, name, n))
			add_merged(c, to, rest, schema_with_member(c, p, json_get(some, SCHEMA_VALUE),
				schema_present(c, p)));
	}
	arena_free(&w.arena);
}

static void add_properties(struct converter *c, struct json *to, const struct json *rest, const struct json *some)
{
	const struct json *lists = json_get(rest, SCHEMA_MEMBERS);

	add_names(c, to, rest, some, json_get(rest, "properties"));
	add_names(c, to, rest, some, json_get(rest, "required"));
	add_names(c, to, rest, some, json_get(rest, SCHEMA_HAS));
	for (const struct json *m = lists ? lists->child : NULL; m && !c->failed; m = m->next)
		add_names(c, to, rest, some, json_get(m, "properties"));
	add_merged(c, to, rest, schema_of(c, SCHEMA_OTHER, schema_list(c, some)));
}

/* ---- the alternatives ---- */

const struct json *schema_alternatives(struct converter *c, const struct json *s)
{
	const char *keyword = json_get(s, SCHEMA_ANY_OF) ? SCHEMA_ANY_OF : SCHEMA_SOME;
	const struct json *first = json_get(s, keyword)->child, *rest = without_first(c, s, keyword);
	struct json *out = schema_make(c, JSON_ARRAY);

	if (c->failed)
		return NULL;
	if (!strcmp(keyword, SCHEMA_SOME))
		add_properties(c, out, rest, first);
	else
		for (const struct json *b = first->child; b && !c->failed; b = b->next)
			add_merged(c, out, rest, b);
	return c->failed ? NULL : out;
}
