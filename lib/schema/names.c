/* The properties of objects by their names: which schemas the value of each must be valid against, and the names of
 * those that are not declared. */
#include "object.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"

enum { NAME_MAX_BYTES = 1000, PATTERNS_MAX = 8 };

/* ---- patterns ---- */

static size_t count_patterns(const struct json *lists)
{
	size_t n = 0;

	for (const struct json *m = lists ? lists->child : NULL; m; m = m->next)
		n += json_get(m, "patternProperties") ? json_get(m, "patternProperties")->n : 0;
	return n;
}

void object_read_names(struct object_schema *o)
{
	const struct json *names = json_get(o->s, "propertyNames");
	size_t n = count_patterns(o->lists), i = 0;

	if (n) {
		o->pattern = arena_array(&o->w->arena, n, sizeof *o->pattern);
		if (!o->pattern)
			schema_no_memory(o->c);
	}
	for (const struct json *m = o->pattern ? o->lists->child : NULL; m; m = m->next) {
		const struct json *patterns = json_get(m, "patternProperties");

		for (const struct json *p = patterns ? patterns->child : NULL; p && !o->c->failed; p = p->next) {
			struct regex *r = regex_parse(o->c, p->key, p->key_n);

			o->pattern[i++] = r ? language_of_pattern(o->c, o->w, r) : NULL;
		}
	}
	o->n_patterns = i;
	if (names && !o->c->failed)
		o->names = schema_strings(o->c, o->w, names);
	language_failed(o->c, o->w);
}

/* The schema of the properties whose names match the patterns that the bits say, and are none of those declared if
 * declared is NULL, or else that name. */
static const struct json *combine(struct object_schema *o, unsigned matches, const char *name, size_t n)
{
	const struct json *out = schema_make(o->c, JSON_TRUE);
	size_t i = 0;

	for (const struct json *m = o->lists ? o->lists->child : NULL; m && out; m = m->next) {
		const struct json *patterns = json_get(m, "patternProperties"), *others = json_get(m,
			"additionalProperties");
		const struct json *own = name ? index_find(&o->c->index, json_get(m, "properties"), name, n) : NULL;
		int known = own != NULL;

		if (own)
			out = schema_both(o->c, out, own);
		for (const struct json *p = patterns ? patterns->child : NULL; p && out; p = p->next, i++)
			if (matches >> i & 1) {
				out = schema_both(o->c, out, p);
				known = 1;
			}
		if (!known && others && out)
			out = schema_both(o->c, out, others);
	}
	return out;
}

const struct json *object_schema_of(struct object_schema *o, const char *name, size_t n)
{
	const struct json *plain = index_find(&o->c->index, json_get(o->s, "properties"), name, n), *out;
	unsigned matches = 0;

	if (o->c->failed || (o->names && !automaton_accepts(o->names, name, n)))
		return NULL;
	for (size_t i = 0; i < o->n_patterns; i++)
		matches |= (unsigned)automaton_accepts(o->pattern[i], name, n) << i;
	out = combine(o, matches, name, n);
	return plain && out ? schema_both(o->c, plain, out) : out;
}

/* ---- other names ---- */

static int by_name(const void *x, const void *y)
{
	const struct schema_property *a = x, *b = y;
	int c = memcmp(a->name, b->name, a->n < b->n ? a->n : b->n);

	return c ? c : (a->n > b->n) - (a->n < b->n);
}

/* The rests of all names other than p[n], which are sorted and have their first `depth` bytes in common. */
static struct gbnf_expr *unlike(struct converter *c, const struct schema_property *p, size_t n, size_t depth)
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
	gbnf_add(&c->g, out, gbnf_join(&c->g, "%%", gbnf_class(&c->g, bytes_text(&not), not.n),
		gbnf_repeat(&c->g, gbnf_primitive(&c->g, GBNF_PLAIN), 0, GBNF_FOREVER)));
	if (!first)
		gbnf_add(&c->g, out, gbnf_sequence(&c->g));
	bytes_free(&not);
	rule = gbnf_rule(&c->g, "other", 5, NULL);
	gbnf_define(&c->g, rule, out);
	return gbnf_use(&c->g, rule);
}

/* Any name except those that are declared or required. */
static struct gbnf_expr *other_name(struct object_schema *o)
{
	struct converter *c = o->c;
	struct schema_property *sorted;
	struct gbnf_expr *out;

	if (!o->n)
		return gbnf_primitive(&c->g, GBNF_STRING);
	sorted = malloc(o->n * sizeof *sorted);
	if (!sorted) {
		schema_no_memory(c);
		return gbnf_never();
	}
	memcpy(sorted, o->property, o->n * sizeof *sorted);
	for (size_t i = 0; i < o->n; i++)
		if (sorted[i].n > NAME_MAX_BYTES)
			schema_fail(c, "property names of more than %d bytes beside others are not supported",
				NAME_MAX_BYTES);
	qsort(sorted, o->n, sizeof *sorted, by_name);
	out = c->failed ? gbnf_never() : gbnf_join(&c->g, "\"%\"", unlike(c, sorted, o->n, 0));
	free(sorted);
	return out;
}

static const struct automaton *declared_names(struct object_schema *o)
{
	struct json *list = schema_make(o->c, JSON_ARRAY);

	for (size_t i = 0; i < o->n; i++)
		schema_add(o->c, list, NULL, json_new_string(&o->c->arena, o->property[i].name, o->property[i].n));
	return o->c->failed ? NULL : language_of_texts(o->w, list);
}

/* Divides the names by the patterns from number i on that they match. The values must also be valid against `value`,
 * unless it is NULL. */
static void divide(struct object_schema *o, const struct automaton *names, const struct json *value, size_t i,
	unsigned matches, struct gbnf_expr *out)
{
	const struct json *schema;

	if (!names || !names->n || o->c->failed || schema_work(o->c, 1))
		return;
	if (i < o->n_patterns) {
		divide(o, automaton_minimise(o->w, automaton_combine(o->w, names, AUTOMATON_AND, o->pattern[i])), value,
			i + 1, matches | 1u << i, out);
		divide(o, automaton_minimise(o->w, automaton_combine(o->w, names, AUTOMATON_AND_NOT, o->pattern[i])),
			value, i + 1, matches, out);
		return;
	}
	schema = matches || !o->is_closed ? combine(o, matches, NULL, 0) : NULL;
	if (schema && value)
		schema = schema_both(o->c, schema, value);
	if (!schema || schema->type == JSON_FALSE)
		return;
	gbnf_add(&o->c->g, out, object_write_member(o->c, gbnf_join(&o->c->g, "\"%\"", language_write(o->c, o->w,
		names)),
		schema, matches ? "patternProperties" : "additionalProperties", NULL, 0));
}

struct gbnf_expr *object_write_some(struct object_schema *o, const struct automaton *names, const struct json *value)
{
	struct gbnf_expr *out = gbnf_alternatives(&o->c->g);

	if (o->n_patterns > PATTERNS_MAX) {
		schema_refuse(o->c, "more than %d patterns in patternProperties", PATTERNS_MAX);
		return gbnf_never();
	}
	if (o->names)
		names = automaton_combine(o->w, names, AUTOMATON_AND, o->names);
	names = automaton_combine(o->w, names, AUTOMATON_AND_NOT, declared_names(o));
	divide(o, automaton_minimise(o->w, names), value, 0, 0, out);
	language_failed(o->c, o->w);
	return out;
}

struct gbnf_expr *object_write_others(struct object_schema *o)
{
	const struct json *schema;

	if (o->c->failed || (o->is_closed && !o->n_patterns))
		return gbnf_never();
	if (!o->n_patterns && !o->names) {
		schema = combine(o, 0, NULL, 0);
		return !schema || schema->type == JSON_FALSE ? gbnf_never()
			: object_write_member(o->c, other_name(o), schema, "additionalProperties", NULL, 0);
	}
	return object_write_some(o, automaton_any(o->w, 0, UINT32_MAX), NULL);
}
