/* What a template shows of an answer becomes the table: the text between marked words, divided at tokens. */
#include "derive.h"

#include <string.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The placeholder that the sample's word at s[n] becomes, and how long it is; 0: none. */
static int word_at(const char *s, size_t n, size_t *used)
{
	static const struct {
		const char *word;
		int place;
	} words[] = { { SAMPLE_NAME, PATTERN_NAME }, { SAMPLE_ID, PATTERN_ID }, { SAMPLE_KEY, PATTERN_KEY } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		*used = strlen(words[i].word) + 1;
		if (n >= *used && !memcmp(s, words[i].word, *used - 1) && is_digit(s[*used - 1]))
			return words[i].place;
	}
	for (*used = 0; *used < n && is_digit(s[*used]);)
		++*used;
	return *used ? PATTERN_NUMBER : 0;
}

/* The text as a pattern. Of several names the last one is the name. "" if memory is short. */
const char *derive_pattern(struct derivation *d, struct span text)
{
	char *pattern = arena_text(d->arena, text.n + 1), *to = pattern, *name = NULL;
	size_t used;
	int place;

	if (!pattern) {
		d->failed = 1;
		return "";
	}
	for (size_t i = 0; i < text.n; i += used) {
		place = word_at(text.s + i, text.n - i, &used);
		if (!place) {
			used = 1;
			if (text.s[i] < 0 || text.s[i] >= PATTERN_PLACES)
				*to++ = text.s[i];
			continue;
		}
		if (place == PATTERN_NAME && name)
			*name = PATTERN_WORD;
		if (place == PATTERN_NAME)
			name = to;
		*to++ = (char)place;
	}
	*to = '\0';
	return pattern;
}

/* A pattern of part of another one. */
const char *derive_text(struct derivation *d, struct span s)
{
	char *copy = arena_text(d->arena, s.n + 1);

	if (!copy) {
		d->failed = 1;
		return "";
	}
	if (s.n)
		memcpy(copy, s.s, s.n);
	copy[s.n] = '\0';
	return copy;
}

/* ---- reasoning and content ---- */

/* How much of the text is an empty start of an answer: reasoning and content with nothing in them. */
size_t derive_empty_start(const struct derivation *d, struct span text)
{
	size_t at = span_space(text), before;
	struct found found;

	do {
		before = at;
		for (size_t i = 0; i < d->f->n_markers; i++) {
			const char *core = pattern_core(d->f->marker[i].pattern);

			if (pattern_match(core, text.s + at, text.n - at, 1, (struct span){ 0 }, &found) == MATCH_YES)
				at += found.n;
			at += span_space(span_drop(text, at));
		}
	} while (at > before);
	return at;
}

/* The text up to the end of its first tag, and the white space after it; all of it if there is no tag. */
static struct span first_tag(struct span text)
{
	size_t token;

	for (size_t i = 0; i < text.n; i += token) {
		token = pattern_token(text.s + i, text.n - i);
		if (pattern_is_tag(text.s + i, token))
			return (struct span){ text.s, i + token + span_space(span_drop(text, i + token)) };
	}
	return text;
}

/* The last tag before `to` and what follows it. */
static struct span last_tag(struct span text, const char *to)
{
	struct span found = span_between(to, to), before = span_between(text.s, to);
	size_t token;

	for (size_t i = before.n > 4 * PATTERN_MOST ? before.n - 4 * PATTERN_MOST : 0; i < before.n; i += token) {
		token = pattern_token(before.s + i, before.n - i);
		if (pattern_is_tag(before.s + i, token))
			found = span_drop(before, i);
	}
	return found;
}

/* All samples begin with the conversation and the header of the answer. */
static size_t header_of(const struct derivation *d)
{
	static const enum sample compared[] = { SAMPLE_TEXT, SAMPLE_THOUGHT, SAMPLE_THOUGHT_CALL, SAMPLE_CALL };
	static const char *const words[] = { SAMPLE_CONTENT, SAMPLE_REASON, SAMPLE_REASON, SAMPLE_NAME };
	struct span text = d->text[SAMPLE_PROMPT], other;
	size_t n, token, signs = 0;
	const char *s;

	for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
		other = d->text[compared[i]];
		if ((s = samples_find(other, words[i])))
			other = span_between(other.s, s);
		if (other.s)
			text = (struct span){ other.s, text.s ? pattern_common_start(text, other) : other.n };
	}
	s = text.s;
	n = text.n;
	/* several of the same sign, outside of a tag, belong to what follows: >>>NAME */
	for (size_t i = 0; i < n; i += token) {
		token = pattern_token(s + i, n - i);
		if (token > 1 || !strchr(">#*=", s[i]))
			signs = 0;
		else
			signs = signs && s[i] == s[i - 1] ? signs + 1 : 1;
	}
	return signs > 1 ? n - signs : n;
}

/* Sets *rest to what comes between the end of reasoning and the content. */
static void derive_reasoning(struct derivation *d, struct span *rest)
{
	struct span text = d->text[d->text[SAMPLE_THOUGHT].s ? SAMPLE_THOUGHT : SAMPLE_THOUGHT_CALL], open, close;
	const char *reason = samples_find(text, SAMPLE_REASON), *to, *reason_end;

	*rest = (struct span){ 0 };
	if (!reason)
		return;
	reason_end = reason + strlen(SAMPLE_REASON);
	to = samples_find(span_after(text, reason_end), SAMPLE_CONTENT);
	if (!to)
		to = text.s + text.n;
	else
		*rest = span_between(reason_end, to);
	open = span_between(text.s + d->header, reason);
	if (span_space(open) == open.n)
		open = last_tag(text, reason);
	close = first_tag(span_between(reason_end, to));
	*rest = rest->n ? span_drop(*rest, close.n) : *rest;
	format_add_marker(d->f, MARKER_THINK, pattern_core(derive_pattern(d, open)));
	format_add_marker(d->f, MARKER_THINK_END, derive_pattern(d, close));
}

/* What wraps content, and what comes between two messages of a turn: `rest` without the wrap. */
static void derive_content(struct derivation *d, struct span rest)
{
	struct span text = d->text[SAMPLE_TEXT], open, close;
	const char *content = samples_find_last(text, SAMPLE_CONTENT);

	if (!content)
		return;
	open = span_between(text.s + d->header, content);
	open = span_drop(open, derive_empty_start(d, open));
	if (!open.n)
		return;
	close = first_tag(span_after(text, content + strlen(SAMPLE_CONTENT)));
	format_add_marker(d->f, MARKER_CONTENT, derive_pattern(d, open));
	format_add_marker(d->f, MARKER_SKIP, derive_pattern(d, close));
	if (rest.n > open.n && span_begins(span_drop(rest, rest.n - open.n), open))
		format_add_marker(d->f, MARKER_SKIP, derive_pattern(d, span_drop_end(rest, open.n)));
}

/* The control tokens that end a turn. They are not part of an answer, but may be there. The one that the conversation
 * begins with begins another turn: some templates always add the start of an answer. */
static void derive_turn_end(struct derivation *d)
{
	struct span text = d->text[SAMPLE_TEXT], end;
	const char *content = samples_find_last(text, SAMPLE_CONTENT), *pattern;
	size_t token;

	if (!content)
		return;
	end = span_after(text, content + strlen(SAMPLE_CONTENT));
	for (size_t i = 0; i < end.n; i += token) {
		token = pattern_token(end.s + i, end.n - i);
		if (span_is_space(end.s[i]))
			continue;
		if (span_begins(text, (struct span){ end.s + i, token }))
			return;
		pattern = derive_pattern(d, (struct span){ end.s + i, token });
		if (*pattern == '[' || !pattern_is_control(pattern))
			return;
		format_add_marker(d->f, MARKER_SKIP, pattern);
	}
}

int format_derive(struct format *f, const struct chat *c, const char *text, size_t n, const struct jinja *t,
	const struct jinja_options *o, struct arena *a, struct why *w)
{
	struct derivation d = { .f = f, .arena = a };
	struct span rest;

	*f = (struct format){ .n_markers = 0 };
	if (samples_render(c, t, o, a, d.text, w))
		return -1;
	d.header = header_of(&d);
	derive_reasoning(&d, &rest);
	format_add_known_reasoning(f, text, n);
	derive_content(&d, rest);
	derive_calls(&d);
	derive_turn_end(&d);
	format_add_known(f, text, n);
	return d.failed ? why(w, "out of memory") : 0;
}
