/* Compares texts, span by span; ids follow from that. */
#include "spans.h"

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

/* Whether text[n] begins with the span's text; *used: its length there. */
static int stands_for(const struct spoken *p, const char *text, size_t n, size_t *used)
{
	size_t before, end, skip;

	*used = p->n;
	if (common(p->text, p->n, text, n) == p->n)
		return 1;
	before = space_leading(p->text, p->n);
	end = space_trimmed(p->text, p->n);
	skip = space_leading(text, n);
	if (p->by != SPAN_MODEL || before >= end)
		return 0;
	if (common(p->text + before, end - before, text + skip, n - skip) != end - before)
		return 0;
	skip += end - before;
	*used = skip + common(p->text + end, p->n - end, text + skip, n - skip);
	return 1;
}

struct same spans_compare(const struct spans *s, const char *text, size_t n)
{
	struct same same = { 0 };
	size_t used;

	for (; same.spans < s->n; same.spans++) {
		if (!stands_for(&s->list[same.spans], text + same.bytes, n - same.bytes, &used))
			break;
		same.bytes += used;
		same.ids = s->list[same.spans].end;
	}
	if (!s->ends || same.spans)
		return same;
	/* of a state, the ids whose text is there */
	for (used = common(s->list->text, s->list->n, text, n); same.ids < s->ids.n && s->ends[same.ids] <= used;)
		same.bytes = s->ends[same.ids++];
	return same;
}

/* Adds a span of all ids after those of the last one. */
static int add(struct spans *s, enum span_writer by, const char *text, size_t n, struct why *w)
{
	struct spoken p = { .by = by, .n = n, .end = s->ids.n };

	if ((s->n == s->room && grow(&s->list, &s->room, sizeof *s->list, 16)) || !(p.text = malloc(n + 1)))
		return why(w, "out of memory");
	memcpy(p.text, text, n);
	s->list[s->n++] = p;
	return 0;
}

/* Drops all spans but the first `left`, though not their ids. Returns where the ids of those end. */
static size_t forget(struct spans *s, size_t left)
{
	while (s->n > left)
		free(s->list[--s->n].text);
	return left ? s->list[left - 1].end : 0;
}

/* Drops what is not the same. From now on a state is valid as a whole, like any other span. */
static void keep_same(struct spans *s, struct same same)
{
	int part = s->ends && !same.spans && same.ids;

	forget(s, same.spans + (size_t)part);
	if (part) {
		s->list->n = same.bytes;
		s->list->end = same.ids;
	}
	free(s->ends);
	s->ends = NULL;
}

int spans_prompt(struct spans *s, struct same same, const char *rest, size_t n, const struct ids *ids, size_t *keep,
	struct why *w)
{
	size_t agree = 0, first = same.ids;

	keep_same(s, same);
	while (agree < ids->n && first + agree < s->ids.n && ids->id[agree] == s->ids.id[first + agree])
		agree++;
	*keep = s->ids.n = first + agree;
	if (ids_append(&s->ids, ids->id + agree, ids->n - agree, w))
		return -1;
	if (*keep && *keep == s->ids.n)
		--*keep;
	return add(s, SPAN_TEMPLATE, rest, n, w);
}

void spans_back(struct spans *s, size_t keep)
{
	do
		s->ids.n = forget(s, s->n - 1);
	while (s->n && s->ids.n > keep);
}

int spans_add(struct spans *s, enum span_writer by, const int32_t *ids, size_t n_ids, const char *text, size_t n,
	struct why *w)
{
	if (ids_append(&s->ids, ids, n_ids, w))
		return -1;
	return n_ids ? add(s, by, text, n, w) : 0;
}

void spans_free(struct spans *s)
{
	forget(s, 0);
	free(s->list);
	free(s->ends);
	free(s->ids.id);
}
