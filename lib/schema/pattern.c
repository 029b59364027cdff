/* A pattern as the inside of a JSON string, with each character as it is spelt there. A pattern matches anywhere in
 * the string unless ^ or $ anchor it, so any characters may precede an alternative that does not begin with ^. */
#include "converter.h"

#include <string.h>

/* ---- characters ---- */

static int has_point(const struct points *set, uint32_t p)
{
	for (size_t i = 0; i < set->n && set->range[i].first <= p; i++)
		if (p <= set->range[i].last)
			return 1;
	return 0;
}

/* The points of a set that JSON does not escape, spelt as a class of GBNF. */
static void spell_class(const struct points *set, struct bytes *out)
{
	static const uint32_t plain[][2] = { { ' ', '!' }, { '#', '[' }, { ']', '~' }, { 0x80, 0x10ffff } };

	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
			uint32_t first = set->range[i].first, last = set->range[i].last;

			first = first < plain[k][0] ? plain[k][0] : first;
			last = last > plain[k][1] ? plain[k][1] : last;
			if (first <= last)
				gbnf_spell(out, first);
			if (first < last) {
				bytes_puts(out, "-");
				gbnf_spell(out, last);
			}
		}
}

/* Points that JSON does not escape are one class of GBNF; the others are alternatives, each with its escape. */
struct gbnf_expr *schema_characters(struct converter *c, const struct points *set)
{
	static const char escaped[] = "\b\t\n\f\r\"\\", letter[] = "btnfr\"\\";
	struct gbnf *g = &c->g;
	struct gbnf_expr *out = gbnf_alternatives(g);
	struct bytes class = { .limit = SIZE_MAX };
	uint32_t only = set->n == 1 && set->range[0].first == set->range[0].last ? set->range[0].first : 0;

	if (set->n == 2 && !set->range[0].first && set->range[0].last == 0xd7ff && set->range[1].first == 0xe000
		&& set->range[1].last == 0x10ffff)
		return gbnf_primitive(g, GBNF_CHAR);    /* all but the surrogates */
	if (only > ' ' && only < 0x7f && !strchr(escaped, (int)only))
		return gbnf_text(g, (char[]){ (char)only }, 1);
	for (size_t i = 0; escaped[i]; i++)
		if (has_point(set, (uint32_t)escaped[i]))
			gbnf_add(g, out, gbnf_text(g, (char[]){ '\\', letter[i] }, 2));
	spell_class(set, &class);
	if (class.failed)
		schema_no_memory(c);
	if (class.n)
		gbnf_add(g, out, gbnf_class(g, class.p, class.n));
	bytes_free(&class);
	return out;
}

/* ---- structure ---- */

static struct gbnf_expr *write_tree(struct converter *c, const struct regex *r)
{
	struct gbnf *g = &c->g;
	struct gbnf_expr *out;

	if (r->kind == REGEX_SET)
		return schema_characters(c, &r->set);
	if (r->kind == REGEX_REPEAT)
		return gbnf_repeat(g, write_tree(c, r->child), r->low, r->high);
	out = r->kind == REGEX_CHOICE ? gbnf_alternatives(g) : gbnf_sequence(g);
	for (const struct regex *i = r->child; i; i = i->next)
		gbnf_add(g, out, write_tree(c, i));
	return out;
}

/* The first element of a sequence after ^, and the place after the last one before $. */
static struct regex *inner(const struct regex *sequence, const struct regex **end)
{
	struct regex *first = sequence->child;

	if (first && first->kind == REGEX_BEGIN)
		first = first->next;
	for (*end = first; *end && ((*end)->kind != REGEX_END || (*end)->next); *end = (*end)->next)
		;
	return first;
}

int schema_pattern_is_plain(const struct regex *r, struct regex_span *span)
{
	*span = (struct regex_span){ UINT32_MAX, 0 };
	for (const struct regex *s = r->child; s; s = s->next) {
		const struct regex *end, *i = inner(s, &end);
		struct regex_span one = regex_span(s);

		for (; i != end; i = i->next)
			if (regex_asserts(i))
				return 0;
		if (!end || !s->child || s->child->kind != REGEX_BEGIN)
			one.max = UINT32_MAX;
		span->min = one.min < span->min ? one.min : span->min;
		span->max = one.max > span->max ? one.max : span->max;
	}
	return 1;
}

struct regex *schema_pattern_repeats(const struct regex *r)
{
	const struct regex *end, *i = inner(r->child, &end);

	if (r->child->next || !end || r->child->child->kind != REGEX_BEGIN || i == end || i->next != end)
		return NULL;
	return i->kind == REGEX_REPEAT && i->child->kind == REGEX_SET ? inner(r->child, &end) : NULL;
}

struct gbnf_expr *schema_write_pattern(struct converter *c, const struct regex *r)
{
	struct gbnf *g = &c->g;
	struct gbnf_expr *out = gbnf_alternatives(g), *any = gbnf_repeat(g, gbnf_primitive(g, GBNF_CHAR), 0,
		GBNF_FOREVER);

	for (const struct regex *s = r->child; s; s = s->next) {
		const struct regex *end, *i = inner(s, &end);
		struct gbnf_expr *one = gbnf_sequence(g);

		if (!s->child || s->child->kind != REGEX_BEGIN)
			gbnf_add(g, one, any);
		for (; i != end; i = i->next)
			gbnf_add(g, one, write_tree(c, i));
		if (!end)
			gbnf_add(g, one, any);
		gbnf_add(g, out, one);
	}
	return out;
}
