/* Strings: patterns, lengths and formats. One of them alone is written as it is; several are combined as automata. */
#include "converter.h"

#include <errno.h>
#include <string.h>

#include "format.h"
#include "language.h"

enum { SCRATCH_MAX = 1 << 27 };

struct strings {
	struct converter *c;
	struct workshop *w;
	uint32_t min, max;
	struct regex *only;             /* the pattern or format; NULL: none, or several */
	const struct automaton *all;    /* what all of them allow, but for the lengths; NULL: they allow everything */
	int n;                          /* of patterns and formats */
};

static void restrict_to(struct strings *x, enum automaton_operation operation, const struct automaton *a)
{
	if (x->c->failed && !schema_forgive(x->c))
		return;
	if (!a && !x->w->failed)
		return;
	if (!x->all)
		x->all = automaton_any(x->w, 0, UINT32_MAX);
	x->all = automaton_minimise(x->w, automaton_combine(x->w, x->all, operation, a));
}

/* Patterns are parsed first, and combined only if there are several. */
static void add_pattern(struct strings *x, const char *s, size_t n, int not)
{
	struct regex *r = regex_parse(x->c, s, n);
	struct regex_span span;

	if (!r) {
		schema_forgive(x->c);
		return;
	}
	if (!x->n++ && !not && schema_pattern_is_plain(r, &span)) {
		x->only = r;
		return;
	}
	if (x->only)
		restrict_to(x, AUTOMATON_AND, language_of_pattern(x->c, x->w, x->only));
	x->only = NULL;
	restrict_to(x, not ? AUTOMATON_AND_NOT : AUTOMATON_AND, language_of_pattern(x->c, x->w, r));
}

static int is_known(const struct json *list, const struct json *v)
{
	for (const struct json *i = list->child; i != v; i = i->next)
		if (schema_equal(i, v))
			return 1;
	return 0;
}

static void add_patterns(struct strings *x, const struct json *list, int not)
{
	for (const struct json *v = list ? list->child : NULL; v && !x->c->failed; v = v->next)
		if (!is_known(list, v))
			add_pattern(x, v->s, v->n, not);
}

static void read_strings(struct strings *x, const struct json *s)
{
	const struct json *formats = json_get(s, SCHEMA_FORMATS), *excluded = json_get(s, SCHEMA_NOT_ENUM);

	x->min = schema_count(x->c, s, "minLength", 0);
	x->max = schema_count(x->c, s, "maxLength", GBNF_FOREVER);
	add_patterns(x, json_get(s, SCHEMA_PATTERNS), 0);
	add_patterns(x, json_get(s, SCHEMA_NOT_PATTERNS), 1);
	for (const struct json *v = formats ? formats->child : NULL; v && !x->c->failed; v = v->next) {
		const char *pattern = schema_format(v->s);

		if (pattern && !is_known(formats, v))
			add_pattern(x, pattern, strlen(pattern), 0);
	}
	for (const struct json *v = excluded ? excluded->child : NULL; v && !x->c->failed; v = v->next) {
		if (v->type != JSON_STRING)
			continue;
		if (x->only)
			restrict_to(x, AUTOMATON_AND, language_of_pattern(x->c, x->w, x->only));
		x->only = NULL;
		restrict_to(x, AUTOMATON_AND_NOT, language_of_texts(x->w, excluded));
		break;
	}
}

/* The single pattern, if the lengths need not be looked at or are those of its only repetition. NULL: it is not so. */
static struct gbnf_expr *write_only(struct strings *x)
{
	struct regex *repeat = schema_pattern_repeats(x->only);
	struct regex_span span;

	schema_pattern_is_plain(x->only, &span);
	if (repeat) {
		repeat->low = repeat->low < x->min ? x->min : repeat->low;
		repeat->high = repeat->high > x->max ? x->max : repeat->high;
		if (repeat->low > repeat->high)
			return gbnf_never();
	} else if (span.min < x->min || span.max > x->max) {
		return NULL;
	}
	return schema_write_pattern(x->c, x->only);
}

/* All that has been read, as one automaton. */
static const struct automaton *combine(struct strings *x)
{
	if (x->only)
		restrict_to(x, AUTOMATON_AND, language_of_pattern(x->c, x->w, x->only));
	if (!x->all || x->min || x->max != GBNF_FOREVER)
		restrict_to(x, AUTOMATON_AND, automaton_any(x->w, x->min, x->max));
	return x->c->failed ? NULL : x->all;
}

/* A pattern that is too large to be combined with its lengths: its repetitions are made shorter until all that it
 * matches is within them. NULL: that cannot be. */
static struct gbnf_expr *write_shorter(struct strings *x, struct regex *r)
{
	struct regex_span span;

	for (uint32_t most = 256; most; most = most * 3 / 4) {
		regex_limit(r, most);
		schema_pattern_is_plain(r, &span);
		if (span.min < x->min || span.max == UINT32_MAX)
			return NULL;
		if (span.max <= x->max)
			return schema_write_pattern(x->c, r);
	}
	return NULL;
}

static struct gbnf_expr *write_inside(struct strings *x)
{
	struct gbnf *g = &x->c->g;
	struct regex *only = x->only;
	struct gbnf_expr *out = only && !x->all ? write_only(x) : NULL;
	const struct automaton *a;

	if (out || x->c->failed)
		return out ? out : gbnf_never();
	if (!x->n && !x->all)
		return gbnf_repeat(g, gbnf_primitive(g, GBNF_CHAR), x->min, x->max);
	a = combine(x);
	if (x->w->failed && errno == ENOMEM)
		schema_no_memory(x->c);
	else if (x->w->failed && only && (out = write_shorter(x, only)))
		return out;
	if (x->w->failed && !x->c->failed && !schema_refuse(x->c, "the patterns, formats and lengths together,"
		" being too large,"))
		return gbnf_repeat(g, gbnf_primitive(g, GBNF_CHAR), x->min, x->max);
	return a ? language_write(x->c, x->w, a) : gbnf_never();
}

struct gbnf_expr *schema_write_string(struct converter *c, const struct json *s)
{
	struct workshop w = { .arena = { .limit = SCRATCH_MAX } };
	struct strings x = { .c = c, .w = &w };
	struct gbnf_expr *out = gbnf_never();

	read_strings(&x, s);
	if (x.min <= x.max && !c->failed)
		out = !x.n && !x.all && !x.min && x.max == GBNF_FOREVER ? gbnf_primitive(&c->g, GBNF_STRING)
			: gbnf_join(&c->g, "\"%\"", write_inside(&x));
	arena_free(&w.arena);
	return out;
}

/* ---- as a language ---- */

static const struct automaton *nothing(struct workshop *w)
{
	struct builder none = { .w = w };

	return builder_finish(&none);
}

const struct automaton *schema_strings(struct converter *c, struct workshop *w, const struct json *s)
{
	struct strings x = { .c = c, .w = w };
	const struct automaton *out;
	const struct json *list;

	s = schema_flatten(c, s);
	if (!s)
		return NULL;
	if (s->type == JSON_TRUE)
		return automaton_any(w, 0, UINT32_MAX);
	if (s->type == JSON_FALSE || !(schema_types(c, s) & TYPE_STRING))
		return nothing(w);
	if (schema_has_alternatives(s)) {
		list = schema_alternatives(c, s);
		out = nothing(w);
		for (const struct json *a = list ? list->child : NULL; a && !c->failed; a = a->next)
			out = automaton_combine(w, out, AUTOMATON_OR, schema_strings(c, w, a));
		return c->failed ? NULL : out;
	}
	if (json_get(s, "enum")) {
		list = schema_constants(c, s);
		return list ? language_of_texts(w, list) : NULL;
	}
	read_strings(&x, s);
	return c->failed ? NULL : x.min > x.max ? nothing(w) : combine(&x);
}
