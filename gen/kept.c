/* The kept state and the conversation are compared as text: each message is searched for in the state's text, and
 * bisection finds the longest prefix of the state's ids with which the conversation begins. */
#include "kept.h"

#include <string.h>

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
	failed = convert_ids(v->q, PLAIN, 1, v->kept.id, v->kept.n, &text, w) ||
		(bytes_put(&text, "", 1) && why(w, "out of memory")) ||
		history_add(&v->history, v->kept.id, v->kept.n, text.p, text.n - 1, 0, w);
	if (!failed)
		find_first(&v->messages, text.p);
	bytes_free(&text);
	return failed ? -1 : 0;
}

/* ---- before the first turn ---- */

static int other_conversation(const struct conversation *v, struct why *w)
{
	return why(w, "--kv %s: holds another conversation, of %zu tokens: "
		"another name keeps both; kv rm %s removes it", v->q->kv, v->kept.n, v->q->kv);
}

/* Whether text[n] begins with the text of the first `some` kept ids: 1, and *used is its length; 0; or -1 on error. */
static int begins_with(struct conversation *v, size_t some, const char *text, size_t n, size_t *used, struct why *w)
{
	struct bytes b = { .limit = CONVERT_MAX };
	int same = convert_ids(v->q, PLAIN, 1, v->kept.id, some, &b, w);

	if (!same)
		same = b.n <= n && (!b.n || !memcmp(b.p, text, b.n));
	*used = b.n;
	bytes_free(&b);
	return same;
}

int kept_salvage(struct conversation *v, const char *text, size_t n, struct why *w)
{
	size_t low = 0, high = v->kept.n, used, length;
	const char *turn;
	int same = 1;

	if (!v->resumed)
		return other_conversation(v, w);
	/* part of a character is no prefix, so this may find a little less */
	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if ((same = begins_with(v, middle, text, n, &used, w)) < 0)
			return -1;
		if (same)
			low = middle;
		else
			high = middle - 1;
	}
	if (low && begins_with(v, low, text, n, &used, w) < 0)
		return -1;
	turn = low ? find_message(&v->messages, v->messages.first, text, &length) : NULL;
	if (!turn || used < (size_t)(turn - text) + length)
		return other_conversation(v, w);
	v->history.ids.n = 0;
	return history_add(&v->history, v->kept.id, low, text, used, 0, w);
}
