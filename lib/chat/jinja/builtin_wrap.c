/* wordwrap: breaks lines as Python's textwrap does. */
#include "builtin.h"

#include "lib/base/space.h"

#include <string.h>

struct wrap {
	struct jv between;              /* lines */
	int64_t width;                  /* characters of a line */
	bool long_words, hyphens;       /* break words that are longer; break after hyphens */
	int32_t *c;                     /* [n]: the characters of a paragraph */
	uint32_t *at;                   /* [n + 1]: the bytes where they begin */
	int64_t n;
	int64_t *chunk;                 /* [n_chunks + 1]: where chunks begin, which lines consist of */
	int64_t n_chunks;
};

static bool is_word(int32_t c)
{
	return c == '_' || text_is(c, TEXT_ALNUM);
}

/* These take characters at any place, also outside the paragraph. */
static int32_t at(const struct wrap *w, int64_t i)
{
	return i >= 0 && i < w->n ? w->c[i] : ' ';
}

static bool letter_at(const struct wrap *w, int64_t i)
{
	return is_word(at(w, i)) && !text_is(at(w, i), TEXT_DIGIT);
}

/* Whether a dash of several hyphens between words begins there; *end: where it ends. */
static bool dash_at(const struct wrap *w, int64_t i, int64_t *end)
{
	int32_t before = at(w, i - 1);

	if (!is_word(before) && (before <= 0 || before > 0x7f || !strchr("!\"'&.,?", (int)before)))
		return false;
	for (*end = i; at(w, *end) == '-'; ++*end)
		;
	return *end > i + 1 && is_word(at(w, *end));
}

/* Whether a word may be broken after the hyphen there: it has two letters before it and two after. */
static bool breaks_after(const struct wrap *w, int64_t i)
{
	bool before = letter_at(w, i - 1) && (letter_at(w, i - 2) || (at(w, i - 2) == '-' && letter_at(w, i - 3)));

	return at(w, i) == '-' && before && letter_at(w, i + 1)
		&& (letter_at(w, i + 2) || (at(w, i + 2) == '-' && letter_at(w, i + 3)));
}

/* Where the chunk that begins at i ends: white space, a dash, or a word up to one of them or to a hyphen. */
static int64_t chunk_end(const struct wrap *w, int64_t i)
{
	int64_t end;

	if (space_ascii(w->c[i])) {
		while (i < w->n && space_ascii(w->c[i]))
			i++;
		return i;
	}
	if (w->hyphens && dash_at(w, i, &end))
		return end;
	for (i++; i < w->n && !space_ascii(w->c[i]); i++) {
		if (w->hyphens && breaks_after(w, i))
			return i + 1;
		if (w->hyphens && at(w, i) == '-' && dash_at(w, i, &end))
			return i;
	}
	return i;
}

static bool blank(const struct wrap *w, int64_t from, int64_t to)
{
	while (from < to && space_char(w->c[from]))
		from++;
	return from == to;
}

/* How many of the characters [from, to) of a word that is too long fit into `room`: after the last hyphen, if there is
 * one. */
static int64_t part_of(const struct wrap *w, int64_t from, int64_t to, int64_t room)
{
	int64_t hyphen = from + room - 1, i = from;

	if (!w->hyphens || to - from <= room)
		return room;
	while (hyphen > from && w->c[hyphen] != '-')
		hyphen--;
	while (i < hyphen && w->c[i] == '-')
		i++;
	return hyphen > from && i < hyphen ? hyphen + 1 - from : room;
}

/* Appends the lines of the paragraph. */
static void put_lines(struct env *e, struct wrap *w, struct jv text)
{
	int64_t k = 0, from, last, end;
	bool first = true;

	while (k < w->n_chunks) {
		if (!first && blank(w, w->chunk[k], w->chunk[k + 1]))
			k++;
		from = last = end = w->chunk[k];
		for (; k < w->n_chunks && w->chunk[k + 1] - from <= w->width; k++) {
			last = w->chunk[k];
			end = w->chunk[k + 1];
		}
		if (k < w->n_chunks && w->chunk[k + 1] - w->chunk[k] > w->width) {
			if (w->long_words) {
				last = end;
				w->chunk[k] = end += part_of(w, end, w->chunk[k + 1], w->width - (end - from));
			} else if (end == from)
				end = w->chunk[++k];
		}
		/* white space that is the last chunk of the line, but not before a part of no length: as textwrap */
		end = blank(w, last, end) ? last : end;
		env_tick(e, 4);
		if (end == from)
			continue;
		jv_put(e, first ? jv_str("", 0) : w->between);
		env_put(e, text.s + w->at[from], w->at[end] - w->at[from]);
		first = false;
	}
}

static void put_paragraph(struct env *e, struct wrap *w, struct jv text)
{
	struct jv rest = text, one;
	int64_t i = 0;

	w->n = jv_length(e, text);
	env_tick(e, (uint64_t)w->n * 4);
	w->c = env_array(e, (size_t)w->n + 1, sizeof *w->c);
	w->at = env_array(e, (size_t)w->n + 1, sizeof *w->at);
	w->chunk = env_array(e, (size_t)w->n + 1, sizeof *w->chunk);
	for (; jv_next(&rest, &one, &w->c[i]); i++)
		w->at[i] = (uint32_t)(one.s - text.s);
	w->at[i] = text.n;
	w->n_chunks = 0;
	for (i = 0; i < w->n; i = w->chunk[++w->n_chunks])
		w->chunk[w->n_chunks + 1] = chunk_end(w, i);
	put_lines(e, w, text);
}

/* The arguments are width, break_long_words, wrapstring and break_on_hyphens. */
struct jv text_wordwrap(struct env *e, struct call *c)
{
	struct wrap w = { .between = arg_str(e, c, 2, jv_none), .width = arg_int(e, c, 0, 79),
		.long_words = c->arg[1].kind == JV_ABSENT || jv_true(c->arg[1]),
		.hyphens = c->arg[3].kind == JV_ABSENT || jv_true(c->arg[3]) };
	struct call lines = { .self = c->self };
	size_t start = e->out->n;
	const struct jv_list *l;

	jv_defined(e, c->self);
	if (c->self.kind != JV_STR)
		env_fail(e, "'%s' object has no attribute 'splitlines'", jv_type(c->self));
	if (w.between.kind != JV_STR)
		w.between = jv_str("\n", 1);
	l = text_splitlines(e, &lines).list;
	if (w.width < 1 && l->n)
		env_fail(e, "invalid width %lld (must be > 0)", (long long)w.width);
	for (uint32_t i = 0; i < l->n; i++) {
		jv_put(e, i ? w.between : jv_str("", 0));
		put_paragraph(e, &w, l->items[i]);
	}
	return jv_since(e, start);
}
