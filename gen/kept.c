/* The kept state and the conversation are compared as text: each message is searched for in the state's text, and
 * bisection finds the longest prefix of the state's ids with which the conversation begins. */
#include "kept.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/size.h"
#include "lib/base/space.h"
#include "convert.h"

/* Finds the content of message i, without the white space around it, in text; *n: its length. NULL: not found. */
static const char *find_message(const struct messages *m, size_t i, const char *text, size_t *n)
{
	struct bytes content = { .limit = CONVERT_MAX };
	const char *at = NULL;
	size_t begin, end;

	if (!messages_content(m, i, &content) && !bytes_put(&content, "", 1)) {
		begin = space_leading(content.p, content.n - 1);
		content.p[end = space_trimmed(content.p, content.n - 1)] = 0;
		*n = end - begin;
		at = begin < end ? strstr(text, content.p + begin) : NULL;
	}
	bytes_free(&content);
	return at;
}

/* ---- at the start ---- */

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

int kept_load(struct conversation *v, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	int failed;

	convert_kept(v->q, &v->kept);
	if (!v->kept.n)
		return 0;
	failed = convert_ids(v->q, PLAIN, 1, v->kept.id, v->kept.n, &text, w)
		|| (bytes_put(&text, "", 1) && why(w, "out of memory"))
		|| history_add(&v->history, v->kept.id, v->kept.n, text.p, text.n - 1, 0, w);
	if (!failed)
		find_first(&v->messages, text.p);
	bytes_free(&text);
	return failed ? -1 : 0;
}

/* ---- before the first turn ---- */

static int other_conversation(const struct conversation *v, struct why *w)
{
	return why(w, "--kv %s: holds another conversation, of %zu tokens%s: "
		"another name keeps both; kv rm %s removes it", v->q->kv, v->kept.n,
		v->q->history && !v->resumed ? ", or a first turn that was interrupted" : "", v->q->kv);
}

/* The length of b without the replacement characters at its end, which an incomplete character leaves there. */
static size_t without_replaced(const struct bytes *b)
{
	static const char replaced[] = "\xef\xbf\xbd";
	size_t n = b->n;

	while (n >= 3 && !memcmp(b->p + n - 3, replaced, 3))
		n -= 3;
	return n;
}

/* Whether text[n] begins with the text of the first `some` kept ids: 1, and *used is its length; 0; or -1 on error.
 * whole: also if that text ends within a character. */
static int begins_with(struct conversation *v, size_t some, int whole, const char *text, size_t n, size_t *used,
	struct why *w)
{
	struct bytes b = { .limit = CONVERT_MAX };
	int same = convert_ids(v->q, PLAIN, 1, v->kept.id, some, &b, w);

	*used = whole ? b.n : without_replaced(&b);
	if (!same)
		same = *used <= n && (!*used || !memcmp(b.p, text, *used));
	bytes_free(&b);
	return same;
}

/* The longest prefix of the kept ids with which text[n] begins; *used: the length of its text. -1 on error. */
static int64_t longest_prefix(struct conversation *v, const char *text, size_t n, size_t *used, struct why *w)
{
	size_t low = 0, high = v->kept.n, middle;
	int same;

	*used = 0;
	while (low < high) {
		middle = low + (high - low + 1) / 2;
		if ((same = begins_with(v, middle, 0, text, n, used, w)) < 0)
			return -1;
		if (same)
			low = middle;
		else
			high = middle - 1;
	}
	/* back to the end of a character */
	for (same = !low; !same; low -= !same)
		if ((same = begins_with(v, low, 1, text, n, used, w)) < 0)
			return -1;
	return (int64_t)low;
}

/* Whether the template lays out the new turn alone, and the state has the turn before it: the last two messages before
 * the new one. 1, 0, or -1 on error. */
static int has_turn_before(struct conversation *v, const char *text, struct why *w)
{
	struct bytes state = { .limit = CONVERT_MAX };
	const struct messages *m = &v->messages;
	size_t n, answer = m->n - 2;
	int has = 0;

	if (m->n < 3 || find_message(m, answer, text, &n))
		return 0;
	if (convert_ids(v->q, PLAIN, 1, v->kept.id, v->kept.n, &state, w)
	    || (bytes_put(&state, "", 1) && why(w, "out of memory"))) {
		has = -1;
	} else {
		const char *at = find_message(m, answer - 1, state.p, &n);

		has = at && find_message(m, answer, at + n, &n);
	}
	bytes_free(&state);
	return has;
}

/* Finds the first turn that is laid out in the conversation's text[all]. The system message before it may contain the
 * same words, so the search begins where another turn would change the text. *turn: where it is, or NULL; *n: its
 * length. Returns 0, or -1 on error. */
static int find_first_turn(struct conversation *v, const char *text, size_t all, const char **turn, size_t *n,
	struct why *w)
{
	struct messages other = { .text.limit = CONVERT_MAX, .file = -1 };
	struct bytes content = { .limit = CONVERT_MAX }, laid_out = { .limit = CONVERT_MAX };
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
	failed = messages_replace_turn(&other, m, word, 1, w) || convert_messages(v->q, &other, 0, &laid_out, w);
	if (!failed) {
		while (same < size_min(laid_out.n, all) && laid_out.p[same] == text[same])
			same++;
		*turn = find_message(m, m->first, text + same, n);
	}
	messages_close(&other);
	bytes_free(&laid_out);
	bytes_free(&content);
	return failed ? -1 : 0;
}

int kept_salvage(struct conversation *v, const char *text, size_t n, struct why *w)
{
	size_t used, length;
	const char *turn = NULL;
	int64_t same;
	int before;

	if (!v->resumed)
		return other_conversation(v, w);
	if ((same = longest_prefix(v, text, n, &used, w)) < 0)
		return -1;
	if (same && find_first_turn(v, text, n, &turn, &length, w))
		return -1;
	if (!turn || used < (size_t)(turn - text) + length) {
		if ((before = has_turn_before(v, text, w)) < 0)
			return -1;
		if (!before)
			return other_conversation(v, w);
	}
	v->history.ids.n = 0;
	return history_add(&v->history, v->kept.id, (size_t)same, text, used, 0, w);
}
