/* From messages to ids, and back to messages for a state of which only the ids are known. A layout is compared with the
 * spans as text, and where the words of a turn are in a text tells how many of its ids come before them. */
#include "layout.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "lib/base/space.h"
#include "lib/base/utf8.h"
#include "console.h"
#include "convert.h"

enum { OPENING = 32 };  /* tokens at the end of a prompt, in which it may open reasoning */

/* Appends the content of message i, without the white space around it, and a NUL. Returns its length; 0: it has no
 * text. */
static size_t get_words(const struct messages *m, size_t i, struct bytes *words)
{
	struct bytes content = { .limit = CONVERT_MAX };
	size_t n = 0, begin;

	if (!messages_content(m, i, &content) && content.n) {
		begin = space_leading(content.p, content.n);
		n = space_trimmed(content.p, content.n);
		n -= size_min(begin, n);
		n = bytes_put(words, content.p + begin, n) || bytes_put(words, "", 1) ? 0 : n;
	}
	bytes_free(&content);
	return n;
}

/* Finds the words of message i in text, which ends with a NUL; *n: their length. NULL: not found. */
static const char *find_message(const struct messages *m, size_t i, const char *text, size_t *n)
{
	struct bytes words = { .limit = CONVERT_MAX };
	const char *at = (*n = get_words(m, i, &words)) ? strstr(text, words.p) : NULL;

	bytes_free(&words);
	return at;
}

/* Finds the words of message i as the last ones in text[length]. NULL: not found. */
static const char *find_message_back(const struct messages *m, size_t i, const char *text, size_t length)
{
	struct bytes words = { .limit = CONVERT_MAX };
	const char *at = NULL;
	size_t n = get_words(m, i, &words);

	for (size_t k = length + 1; n && n < k && !at; k--)
		if (!memcmp(text + k - 1 - n, words.p, n))
			at = text + k - 1 - n;
	bytes_free(&words);
	return at;
}

/* Appends the template's text for the messages from number `first` on, and a NUL after its end. */
static int make_text(struct conversation *v, const struct messages *m, size_t first, struct bytes *text, struct why *w)
{
	if (convert_messages(v->q, m, first, text, w))
		return -1;
	if (bytes_put(text, "", 1))
		return why(w, "out of memory");
	text->n--;
	return 0;
}

/* ---- the state of --kv ---- */

/* The number of messages from number i on that are in text, in order; *at: where the first one is. */
static size_t count_found(const struct messages *m, size_t i, const char *text, size_t *at)
{
	const char *from = text;
	size_t found = 0, n;

	for (; i < m->n && (from = find_message(m, i, from, &n)); i++, from += n)
		if (!found++)
			*at = (size_t)(from - text);
	return found;
}

/* Turns that the state no longer has were dropped by an earlier conversation. So the first turn to lay out is the first
 * that is found in the state's text. */
static void find_first(struct messages *m, const char *text)
{
	size_t most = 0, first = (size_t)-1, at, found;

	for (size_t i = 0; i < m->n; i++) {
		if (!m->list[i].user || !(found = count_found(m, i, text, &at)))
			continue;
		if (!most || at < first || (at == first && found > most)) {
			m->first = i;
			first = at;
			most = found;
		}
	}
}

/* Appends the text of ids, raw, with U+FFFD in place of what is not UTF-8, and a NUL after its end. Makes ends, where
 * each of the n ids ends in raw, ends in that text; an id that ends within a character ends with the id that completes
 * it. */
static int make_valid(const struct bytes *raw, size_t *ends, size_t n, struct bytes *text, struct why *w)
{
	size_t i = 0, at = 0;
	unsigned used;

	for (;; at += used) {
		for (; i < n && ends[i] <= at; i++)
			ends[i] = ends[i] == at ? text->n : SIZE_MAX;
		if (at == raw->n)
			break;
		utf8_next(raw->p + at, raw->n - at, &used);
		if (convert_bytes(raw->p + at, used, text, w))
			return -1;
	}
	while (i--)
		if (ends[i] == SIZE_MAX)
			ends[i] = ends[i + 1];
	if (bytes_put(text, "", 1))
		return why(w, "out of memory");
	text->n--;
	return 0;
}

int layout_load(struct conversation *v, struct why *w)
{
	struct bytes raw = { .limit = CONVERT_MAX }, text = { .limit = CONVERT_MAX };
	struct ids ids = { 0 };
	int failed = 0;

	convert_kept(&v->q->stage[KV], NULL, &ids);
	if (ids.n) {
		failed = convert_ids(v->q, 1, ids.id, ids.n, &raw, &v->spans.ends, w)
			|| make_valid(&raw, v->spans.ends, ids.n, &text, w)
			|| spans_add(&v->spans, SPAN_STATE, ids.id, ids.n, text.p, text.n, w);
		if (!failed)
			find_first(&v->messages, text.p);
	}
	free(ids.id);
	bytes_free(&text);
	bytes_free(&raw);
	return failed ? -1 : 0;
}

static int other_conversation(const struct conversation *v, struct why *w)
{
	return why(w, "--kv %s: holds another conversation, of %zu tokens%s: "
		"another name keeps both; kv rm %s removes it", v->q->kv, v->spans.ids.n,
		v->q->history && !v->resumed ? ", or a first turn that was interrupted" : "", v->q->kv);
}

/* Whether the template lays out the new turn alone, in this text, and the state has the turn before it: the last two
 * messages before the new one. */
static int has_turn_before(const struct conversation *v, const char *text)
{
	const struct messages *m = &v->messages;
	size_t n, answer = m->n - 2;
	const char *at;

	return m->n >= 3 && !find_message(m, answer, text, &n)
		&& (at = find_message(m, answer - 1, v->spans.list->text, &n)) && find_message(m, answer, at + n, &n);
}

/* Finds the first turn of a layout in its text. The system message before it may contain the same words, so the search
 * begins where another turn would change the text. *turn: where it is, or NULL; *n: its length. Returns 0, or -1 on
 * error. */
static int find_first_turn(struct conversation *v, const struct bytes *text, const char **turn, size_t *n,
	struct why *w)
{
	struct messages other = { .text.limit = CONVERT_MAX, .file = -1 };
	struct bytes content = { .limit = CONVERT_MAX }, changed = { .limit = CONVERT_MAX };
	const struct messages *m = &v->messages;
	size_t same = 0, blank;
	const char *word;
	int failed;

	*turn = NULL;
	if (messages_content(m, m->first, &content))
		return 0;
	/* it begins with another letter */
	blank = space_leading(content.p, content.n);
	word = blank < content.n && content.p[blank] == 'a' ? "b" : "a";
	failed = messages_replace_turn(&other, m, word, 1, w) || make_text(v, &other, 0, &changed, w);
	if (!failed) {
		while (same < size_min(changed.n, text->n) && changed.p[same] == text->p[same])
			same++;
		*turn = find_message(m, m->first, text->p + same, n);
	}
	messages_close(&other);
	bytes_free(&changed);
	bytes_free(&content);
	return failed ? -1 : 0;
}

int layout_check(struct conversation *v, const struct layout *l, struct why *w)
{
	const char *turn = NULL;
	size_t n;

	if (!v->spans.ends || l->same.ids == v->spans.ids.n)
		return 0;
	if (!v->resumed)
		return other_conversation(v, w);
	if (l->same.ids && find_first_turn(v, &l->text, &turn, &n, w))
		return -1;
	if (turn && l->same.bytes >= (size_t)(turn - l->text.p) + n)
		return 0;
	return has_turn_before(v, l->text.p) ? 0 : other_conversation(v, w);
}

/* ---- layouts ---- */

int layout_make(struct conversation *v, size_t first, struct layout *l, struct why *w)
{
	*l = (struct layout){ .text.limit = CONVERT_MAX, .first = first };
	if (make_text(v, &v->messages, first, &l->text, w))
		return -1;
	l->same = spans_compare(&v->spans, l->text.p, l->text.n);
	if (convert_text(v->q, l->text.p + l->same.bytes, l->text.n - l->same.bytes, l->same.ids > 0, &l->rest, NULL,
	    w))
		return -1;
	l->n = l->same.ids + l->rest.n;
	return 0;
}

int layout_take(struct conversation *v, const struct layout *l, size_t *keep, struct why *w)
{
	const char *rest = l->text.p + l->same.bytes;

	v->messages.first = l->first;
	if (spans_prompt(&v->spans, l->same, rest, l->text.n - l->same.bytes, &l->rest, keep, w))
		return -1;
	/* sample must see whether the prompt opens reasoning, even if it is the same as before */
	if (stage_option(&v->q->stage[SAMPLE], "--think-budget"))
		*keep = size_min(*keep, l->n - size_min(l->n, OPENING));
	if (!l->n)
		return why(w, "the template produces no text for the conversation");
	if (l->n - *keep > FRAME_IDS_MAX)
		return why(w, "a turn of %zu tokens is more than a frame holds", l->n - *keep);
	return 0;
}

void layout_free(struct layout *l)
{
	bytes_free(&l->text);
	free(l->rest.id);
	l->rest = (struct ids){ 0 };
}

/* ---- a full context ---- */

/* Finds the first turn without whose predecessors this text, which has the messages from number `first` on, is shorter
 * by `excess` ids, or else the last turn; returns the number of its first message. ends: where the n ids of the text
 * end. Where the words of a turn are in the text more than once, the turn may be too early, but never too late. */
static size_t find_turn(const struct messages *m, size_t first, const struct bytes *text, const size_t *ends, size_t n,
	size_t excess)
{
	size_t next = messages_turn(m, messages_turns(m) - 1), before = 0, length, limit = text->n;
	const char *at = find_message(m, first, text->p, &length);

	while (at && before < n && ends[before] <= (size_t)(at - text->p))
		before++;
	for (size_t k = m->n; --k > first; ) {
		/* a template may change answers, which would then be found elsewhere */
		if (!m->list[k].user)
			continue;
		if ((at = find_message_back(m, k, text->p, limit)))
			limit = (size_t)(at - text->p);
		while (n && ends[n - 1] > limit)
			n--;
		if (n < before + excess)
			break;
		next = k;
	}
	return next;
}

/* The number of turns in the messages from number i up to number j. */
static size_t count_turns(const struct messages *m, size_t i, size_t j)
{
	size_t turns = 0;

	for (; i < j; i++)
		turns += (size_t)m->list[i].user;
	return turns;
}

int layout_drop(struct conversation *v, size_t said, struct layout *l, struct why *w)
{
	struct messages *m = &v->messages;
	size_t context = (size_t)v->l->card.n_ctx, half = context / 2, last = messages_turn(m, messages_turns(m) - 1);
	struct layout less = { 0 };
	struct ids ids = { 0 };
	size_t *ends = NULL, next = last, dropped;
	int failed;

	if (m->first >= last)
		return 0;
	failed = convert_text(v->q, l->text.p, l->text.n, 0, &ids, &ends, w);
	if (!failed)
		next = find_turn(m, m->first, &l->text, ends, ids.n,
			ids.n + said > half ? ids.n + said - half : 1);
	failed = failed || layout_make(v, next, &less, w);
	while (!failed && next < last && less.n + said > half) {
		/* the turn was too early; or the template lays out only the last turns */
		for (next = less.n < ids.n ? next + 1 : last; !m->list[next].user; next++)
			;
		layout_free(&less);
		failed = layout_make(v, next, &less, w);
	}
	free(ends);
	free(ids.id);
	if (failed || less.n + said >= context) {
		layout_free(&less);
		return failed ? -1 : 0;
	}
	layout_free(l);
	*l = less;
	dropped = count_turns(m, m->first, next);
	console_say("the context of %zu tokens is full (-c): dropped the oldest %zu turn%s", context, dropped,
		dropped > 1 ? "s" : "");
	return 1;
}
