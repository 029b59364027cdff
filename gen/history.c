/* Compares the parts with the conversation as it is laid out now. From the first part that differs on, the text is
 * tokenized again. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/space.h"

static size_t common(const char *a, size_t a_n, const char *b, size_t b_n)
{
	size_t i = 0;

	while (i < a_n && i < b_n && a[i] == b[i])
		i++;
	return i;
}

/* Whether text[n] begins with the part's text; *used: its length there. */
static int stands_for(const struct history_part *p, const char *text, size_t n, size_t *used)
{
	size_t before, end, skip;

	*used = p->n;
	if (common(p->text, p->n, text, n) == p->n)
		return 1;
	before = space_leading(p->text, p->n);
	end = space_trimmed(p->text, p->n);
	skip = space_leading(text, n);
	if (!p->answer || before >= end)
		return 0;
	if (common(p->text + before, end - before, text + skip, n - skip) != end - before)
		return 0;
	skip += end - before;
	*used = skip + common(p->text + end, p->n - end, text + skip, n - skip);
	return 1;
}

/* Drops the parts from number `left` on, but not their ids. Returns where the ids of the parts before end. */
static size_t forget(struct history *h, size_t left)
{
	while (h->n_parts > left)
		free(h->parts[--h->n_parts].text);
	return left ? h->parts[left - 1].end : 0;
}

size_t history_match(struct history *h, const char *text, size_t n, size_t *first)
{
	size_t at = 0, good = 0, used;

	for (; good < h->n_parts && stands_for(&h->parts[good], text + at, n - at, &used); good++)
		at += used;
	*first = forget(h, good);
	return at;
}

/* Adds a part for all ids after those of the last part. */
static int add(struct history *h, const char *text, size_t n, int answer, struct why *w)
{
	struct history_part *p;

	if (h->n_parts == h->room && grow(&h->parts, &h->room, sizeof *h->parts, 16))
		return why(w, "out of memory");
	p = &h->parts[h->n_parts];
	*p = (struct history_part){ .end = h->ids.n, .text = malloc(n + 1), .n = n, .answer = answer };
	if (!p->text)
		return why(w, "out of memory");
	memcpy(p->text, text, n);
	h->n_parts++;
	return 0;
}

int history_prompt(struct history *h, const char *rest, size_t n, const struct ids *ids, size_t *keep,
	struct why *w)
{
	size_t first = forget(h, h->n_parts), same = 0;

	while (same < ids->n && first + same < h->ids.n && ids->id[same] == h->ids.id[first + same])
		same++;
	*keep = h->ids.n = first + same;
	if (ids_append(&h->ids, ids->id + same, ids->n - same, w))
		return -1;
	if (*keep && *keep == h->ids.n)
		--*keep;
	return add(h, rest, n, 0, w);
}

void history_back(struct history *h, size_t keep)
{
	do
		h->ids.n = forget(h, h->n_parts - 1);
	while (h->n_parts && h->ids.n > keep);
}

int history_add(struct history *h, const int32_t *ids, size_t n_ids, const char *text, size_t n, int answer,
	struct why *w)
{
	if (ids_append(&h->ids, ids, n_ids, w))
		return -1;
	return n_ids ? add(h, text, n, answer, w) : 0;
}

void history_free(struct history *h)
{
	forget(h, 0);
	free(h->parts);
	free(h->ids.id);
}
