/* Filters and methods on text. The results for markup are markup. */
#include "builtin.h"

#include "lib/base/space.h"

#include <string.h>

static struct jv piece(struct jv of, const char *s, const char *end)
{
	return jv_markup(jv_str(s, (size_t)(end - s)), of.markup);
}

/* The output since `start`. */
static struct jv taken(struct env *e, const struct call *c, size_t start)
{
	return jv_markup(jv_since(e, start), c->self.markup);
}

/* what: 1 for markup */
struct jv text_string(struct env *e, struct call *c)
{
	return jv_markup(c->self, c->self.markup || c->b->what);
}

/* Whether the word goes on with a letter that has a case. */
static bool cased_follows(struct jv rest)
{
	struct jv one;
	int32_t c;

	while (jv_next(&rest, &one, &c))
		if (!text_is(c, TEXT_INNER))
			return text_is(c, TEXT_CASED);
	return false;
}

/* TEXT_TITLE starts a word after anything but a cased letter, TEXT_HEADING after white space and -([{< alone. The
 * capital sigma at the end of a word becomes the final one. */
struct jv text_cased(struct env *e, struct jv s, enum text_case to)
{
	bool first = true, inside = false, markup = s.markup && to != TEXT_HEADING;
	size_t start = e->out->n;
	struct jv one;
	int32_t c;

	env_tick(e, s.n);
	while (jv_next(&s, &one, &c)) {
		char out[4];
		unsigned n = c < 0 ? 0 : text_recase(out, c, to, first);

		if (c == 0x3a3 && to != TEXT_FOLD && inside && *out == '\xcf' && !cased_follows(s))
			n = utf8_put(out, 0x3c2);
		env_put(e, c < 0 ? one.s : out, c < 0 ? one.n : n);
		/* jinja's title filter lowers a word without its first letter, so that letter does not count */
		inside = text_is(c, TEXT_CASED) ? !first || to != TEXT_HEADING : inside && text_is(c, TEXT_INNER);
		if (to == TEXT_HEADING)
			first = space_char(c) || (text_is(c, TEXT_ASCII) && c && strchr("-({[<", (int)c));
		else
			first = to == TEXT_TITLE && !text_is(c, TEXT_CASED);
	}
	return jv_markup(jv_since(e, start), markup);
}

/* what: the case */
struct jv text_in_case(struct env *e, struct call *c)
{
	return text_cased(e, c->self, (enum text_case)c->b->what);
}

/* what: the sides, 1 left and 2 right */
struct jv text_strip(struct env *e, struct call *c)
{
	struct jv s = c->self, chars = arg_str(e, c, 0, jv_none), one, rest;
	int32_t ch = 0;

	for (int side = 1; side <= 2; side++) {
		while (c->b->what & side && s.n) {
			rest = s;
			if (side == 2)
				rest.s += space_step_back(s.s, s.n);
			rest.n -= (uint32_t)(rest.s - s.s);
			jv_next(&rest, &one, &ch);
			if (chars.kind == JV_STR ? !jv_find(e, chars, one, false) : !space_char(ch))
				break;
			s.s += side == 1 ? one.n : 0;
			s.n -= one.n;
		}
	}
	env_tick(e, (c->self.n - s.n) / 2);
	return s;
}

/* What is left to split, from the left or the right. */
struct split {
	struct jv rest, separator;  /* JV_NONE: white space */
	int64_t most;               /* how often; negative: without limit */
	bool right, done;
};

/* Takes the next word, or everything as one word after the last split. False if there is none. */
static bool next_word(struct split *p, struct jv *word)
{
	size_t lead = p->right ? 0 : space_leading(p->rest.s, p->rest.n), at, next;
	unsigned used;

	p->rest.s += lead;
	p->rest.n -= (uint32_t)lead;
	if (p->right)
		p->rest.n = (uint32_t)space_trimmed(p->rest.s, p->rest.n);
	*word = p->rest;
	if (!p->most) {
		p->done = true;
	} else if (p->right) {
		for (at = word->n; at; at = next) {
			next = space_step_back(word->s, at);
			if (space_char(utf8_next(word->s + next, at - next, &used)))
				break;
		}
		p->rest.n = (uint32_t)at;
		*word = piece(*word, word->s + at, word->s + word->n);
	} else {
		for (at = 0; at < word->n && !space_char(utf8_next(word->s + at, word->n - at, &used)); at += used)
			;
		word->n = (uint32_t)at;
		p->rest.s += at;
		p->rest.n -= (uint32_t)at;
	}
	return word->n;
}

/* Takes the next piece. False after the last one. */
static bool next_piece(struct env *e, struct split *p, struct jv *out)
{
	const char *s = p->rest.s, *end = s + p->rest.n, *hit = NULL;
	bool words = p->separator.kind != JV_STR;

	if (p->done || (words && !next_word(p, out)))
		return false;
	if (!words) {
		hit = p->most ? jv_find(e, p->rest, p->separator, p->right) : NULL;
		p->done = !hit;
		*out = piece(p->rest, hit && p->right ? hit + p->separator.n : s, hit && !p->right ? hit : end);
		if (hit)
			p->rest = piece(p->rest, p->right ? s : hit + p->separator.n, p->right ? hit : end);
	}
	p->most -= p->most > 0;
	return true;
}

/* what: 1 to split from the right */
struct jv text_split(struct env *e, struct call *c)
{
	struct split p = { c->self, arg_str(e, c, 0, jv_none), arg_int(e, c, 1, -1), c->b->what, false };
	struct jv list = jv_list(e, JV_LIST, 0), out;

	if (p.separator.kind == JV_STR && !p.separator.n)
		env_fail(e, "empty separator");
	env_tick(e, c->self.n / 4);
	while (next_piece(e, &p, &out))
		jv_push(e, list.list, out);
	for (uint32_t i = 0, j = list.list->n; p.right && i + 1 < j; i++) {
		out = list.list->items[--j];
		list.list->items[j] = list.list->items[i];
		list.list->items[i] = out;
	}
	return list;
}

static bool ends_line(int32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

static struct jv lines_of(struct env *e, struct jv s, bool keep_ends)
{
	struct jv lines = jv_list(e, JV_LIST, 0), one;
	const char *start = s.s, *end;
	int32_t c;

	env_tick(e, s.n / 8);
	while (jv_next(&s, &one, &c)) {
		if (!ends_line(c) && s.n)
			continue;
		end = ends_line(c) ? one.s : s.s;
		if (c == '\r' && s.n && *s.s == '\n')
			jv_next(&s, &one, &c);
		jv_push(e, lines.list, piece(s, start, keep_ends ? s.s : end));
		start = s.s;
	}
	return lines;
}

struct jv text_splitlines(struct env *e, struct call *c)
{
	return lines_of(e, c->self, jv_true(c->arg[0]));
}

/* what: 1 for the last occurrence */
struct jv text_partition(struct env *e, struct call *c)
{
	struct jv s = c->self, separator = arg_str(e, c, 0, jv_str("", 0)), t = jv_list(e, JV_TUPLE, 3);
	const char *end = s.s + s.n, *hit, *after;

	if (!separator.n)
		env_fail(e, "empty separator");
	hit = jv_find(e, s, separator, c->b->what);
	after = hit ? hit + separator.n : c->b->what ? s.s : end;
	hit = hit ? hit : after;
	jv_push(e, t.list, piece(s, s.s, hit));
	jv_push(e, t.list, piece(s, hit, after));
	jv_push(e, t.list, piece(s, after, end));
	return t;
}

/* The code points [arg i, arg i+1) of self; JV_ABSENT if the bounds are in the wrong order. */
static struct jv window(struct env *e, struct call *c, int i)
{
	int64_t from, to, n;
	struct jv out = c->self;

	if (c->arg[i].kind == JV_ABSENT && c->arg[i + 1].kind == JV_ABSENT)
		return out;
	n = jv_length(e, out);
	from = arg_int(e, c, i, 0);
	to = arg_int(e, c, i + 1, n);
	from = from < 0 ? (from + n < 0 ? 0 : from + n) : from;
	to = to < 0 ? (to + n < 0 ? 0 : to + n) : to > n ? n : to;
	if (from > to)
		return jv_absent;
	out.s += text_offset(c->self.s, c->self.n, from);
	out.n = (uint32_t)(text_offset(c->self.s, c->self.n, to) - (size_t)(out.s - c->self.s));
	return out;
}

static bool has_affix(struct env *e, struct jv s, struct jv affix, bool at_end)
{
	env_tick(e, 1 + affix.n / 64);
	return s.n >= affix.n && (!affix.n || !memcmp(at_end ? s.s + s.n - affix.n : s.s, affix.s, affix.n));
}

/* startswith and, with what 1, endswith */
struct jv text_has_affix(struct env *e, struct call *c)
{
	struct jv s = window(e, c, 1), one = c->arg[0];
	const struct jv_list single = { .items = &one, .n = 1 }, *l = one.kind == JV_TUPLE ? one.list : &single;
	bool found = false;

	for (uint32_t i = 0; !found && i < l->n; i++) {
		if (l->items[i].kind != JV_STR)
			env_fail(e, "%s first arg must be str or a tuple of str, not %s", c->b->name,
				jv_type(l->items[i]));
		found = s.kind == JV_STR && has_affix(e, s, l->items[i], c->b->what);
	}
	return jv_bool(found);
}

/* removeprefix and, with what 1, removesuffix */
struct jv text_remove_affix(struct env *e, struct call *c)
{
	struct jv affix = arg_str(e, c, 0, jv_str("", 0)), s = c->self;

	if (has_affix(e, s, affix, c->b->what)) {
		s.s += c->b->what ? 0 : affix.n;
		s.n -= affix.n;
	}
	return s;
}

/* what: a sum of 1, to search from the right, and 2, to fail if there is no occurrence */
struct jv text_index(struct env *e, struct call *c)
{
	struct jv what = arg_str(e, c, 0, jv_str("", 0)), s = window(e, c, 1);
	const char *hit = s.kind == JV_STR ? jv_find(e, s, what, c->b->what & 1) : NULL;

	if (!hit && c->b->what & 2)
		env_fail(e, "substring not found");
	return jv_int(hit ? (int64_t)text_length(c->self.s, (size_t)(hit - c->self.s)) : -1);
}

struct jv text_count(struct env *e, struct call *c)
{
	struct jv what = arg_str(e, c, 0, jv_str("", 0)), s = window(e, c, 1), out;
	struct split p = { s, what, -1, false, false };
	int64_t n = -1;

	if (s.kind != JV_STR)
		return jv_int(0);
	if (!what.n)
		return jv_int(jv_length(e, s) + 1);
	while (next_piece(e, &p, &out))
		n++;
	return jv_int(n);
}

/* what: 1 for the filter, which turns its arguments into strings */
struct jv text_replace(struct env *e, struct call *c)
{
	struct jv s = jv_markup(c->self, c->self.markup && !c->b->what), old, new, out;
	int64_t count = arg_int(e, c, 2, -1);
	size_t start = e->out->n;
	int32_t ch;

	old = c->b->what ? jv_to_str(e, c->arg[0]) : arg_str(e, c, 0, jv_str("", 0));
	new = c->b->what ? jv_to_str(e, c->arg[1]) : arg_str(e, c, 1, jv_str("", 0));
	new = s.markup ? markup_escape(e, new) : new;
	if (!count || !jv_find(e, s, old, false))
		return s;
	if (old.n) {
		struct split p = { s, old, count, false, false };

		while (next_piece(e, &p, &out)) {
			jv_put(e, out);
			if (!p.done)
				jv_put(e, new);
		}
		return jv_markup(jv_since(e, start), s.markup);
	}
	/* An empty `old` matches before every code point and at the end. */
	for (env_tick(e, s.n / 4);; count -= count > 0) {
		if (count)
			jv_put(e, new);
		if (!jv_next(&s, &out, &ch))
			return jv_markup(jv_since(e, start), s.markup);
		jv_put(e, out);
	}
}

/* what: the alignment; '=' is zfill, which pads with zeros after the sign */
struct jv text_justify(struct env *e, struct call *c)
{
	bool zfill = c->b->what == '=';
	struct jv fill = arg_str(e, c, 1, jv_str(zfill ? "0" : " ", 1));
	size_t start = e->out->n, sign = c->self.n && (*c->self.s == '-' || *c->self.s == '+');

	if (text_length(fill.s, fill.n) != 1)
		env_fail(e, "the fill character must be exactly one character long");
	format_padded(e, c->self, fill, c->arg[0].kind == JV_ABSENT ? 80 : arg_int(e, c, 0, 0), (char)c->b->what, sign);
	return taken(e, c, start);
}

/* what: the class that all characters must be of */
struct jv text_all(struct env *e, struct call *c)
{
	struct jv rest = c->self, one;
	int32_t ch;

	env_tick(e, rest.n / 2);
	while (jv_next(&rest, &one, &ch))
		if (!text_is(ch, (enum text_class)c->b->what))
			return jv_bool(false);
	return jv_bool(c->self.n || c->b->what == TEXT_ASCII || c->b->what == TEXT_PRINTABLE);
}

/* Is there a letter with two cases, and none in the other case? what: TEXT_UPPER or TEXT_LOWER */
struct jv text_is_cased(struct env *e, struct call *c)
{
	bool any = false, upper = c->b->what == TEXT_UPPER;
	struct jv rest = c->self, one;
	int32_t ch;

	env_tick(e, rest.n);
	while (jv_next(&rest, &one, &ch)) {
		if ((upper ? text_upper(ch) : text_lower(ch)) != ch)
			return jv_bool(false);
		any |= (upper ? text_lower(ch) : text_upper(ch)) != ch;
	}
	return jv_bool(any);
}

struct jv text_indentation(struct env *e, const struct call *c, int i)
{
	return c->arg[i].kind == JV_STR ? c->arg[i] : eval_binary(e, '*', jv_str(" ", 1), jv_int(arg_int(e, c, i, 4)));
}

struct jv text_indent(struct env *e, struct call *c)
{
	struct jv s = c->self, pad;
	bool first = jv_true(c->arg[1]), blank = jv_true(c->arg[2]);
	const struct jv_list *lines;
	size_t start = e->out->n;

	jv_defined(e, s);
	if (s.kind != JV_STR)
		env_fail(e, "indent: expected a string, not %s", jv_type(s));
	pad = text_indentation(e, c, 0);
	lines = lines_of(e, jv_concat(e, s, jv_str("\n", 1)), false).list;
	for (uint32_t i = 0; i < lines->n; i++) {
		env_puts(e, i ? "\n" : "");
		if (i ? blank || lines->items[i].n : first)
			jv_put(e, pad);
		jv_put(e, lines->items[i]);
	}
	return taken(e, c, start);
}

struct jv text_truncate(struct env *e, struct call *c)
{
	struct jv s = c->self, end = arg_str(e, c, 2, jv_str("...", 3));
	int64_t length = arg_int(e, c, 0, 255), leeway = arg_int(e, c, 3, 5), end_length = jv_length(e, end);

	if (length < end_length || leeway < 0)
		env_fail(e, "truncate: expected length >= the end's, leeway >= 0");
	if (jv_length(e, s) - leeway <= length)
		return s;
	if (s.kind != JV_STR)
		env_fail(e, "truncate: expected a string, not %s", jv_type(s));
	s.n = (uint32_t)text_offset(s.s, s.n, length - end_length);
	if (!jv_true(c->arg[1])) {
		const char *space = jv_find(e, s, jv_str(" ", 1), true);

		s.n = space ? (uint32_t)(space - s.s) : s.n;
	}
	return jv_concat(e, s, end);
}

struct jv text_wordcount(struct env *e, struct call *c)
{
	bool inside = false, word;
	struct jv rest = c->self, one;
	int64_t n = 0;
	int32_t ch;

	env_tick(e, rest.n / 2);
	for (; jv_next(&rest, &one, &ch); inside = word) {
		word = ch == '_' || text_is(ch, TEXT_ALNUM);
		n += word && !inside;
	}
	return jv_int(n);
}
