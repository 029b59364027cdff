/* From messages to ids. Bisection finds how many turns to drop, because each try runs chat and tok. */
#include "layout.h"

#include <stdlib.h>

#include "console.h"
#include "convert.h"
#include "kept.h"

int layout(struct conversation *v, size_t *keep, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	struct ids fresh = { 0 };
	size_t at, first;
	int failed = convert_messages(v->q, &v->messages, v->messages.first, &text, w)
		|| (bytes_put(&text, "", 1) && why(w, "out of memory"));

	if (!failed) {
		text.n--;
		v->opened = sections_opened(text.p, text.n);
		at = history_match(&v->history, text.p, text.n, &first);
		if (first < v->kept.n && !(failed = kept_salvage(v, text.p, text.n, w)))
			at = history_match(&v->history, text.p, text.n, &first);
		failed = failed || convert_text(v->q, text.p + at, text.n - at, first > 0, &fresh, w)
			|| history_prompt(&v->history, text.p + at, text.n - at, &fresh, keep, w);
	}
	v->kept.n = 0;
	free(fresh.id);
	bytes_free(&text);
	if (failed)
		return -1;
	if (!v->history.ids.n)
		return why(w, "the template produces no text for the conversation");
	if (v->history.ids.n - *keep > FRAME_IDS_MAX)
		return why(w, "a turn of %zu tokens is more than a frame holds", v->history.ids.n - *keep);
	return 0;
}

int layout_count(struct conversation *v, size_t first, size_t *n, struct why *w)
{
	struct bytes text = { .limit = CONVERT_MAX };
	struct ids ids = { 0 };
	int failed = convert_messages(v->q, &v->messages, first, &text, w)
		|| convert_text(v->q, text.n ? text.p : "", text.n, 0, &ids, w);

	*n = ids.n;
	free(ids.id);
	bytes_free(&text);
	return failed;
}

int layout_drop(struct conversation *v, size_t said, struct why *w)
{
	struct messages *m = &v->messages;
	size_t context = (size_t)v->l->card.n_ctx, high = messages_turns(m) - 1, low, turn = 0, n;

	while (messages_turn(m, turn) < m->first)
		turn++;
	for (low = turn + 1; low < high; ) {
		size_t middle = low + (high - low) / 2;

		if (layout_count(v, messages_turn(m, middle), &n, w))
			return -1;
		if (n + said <= context / 2)
			high = middle;
		else
			low = middle + 1;
	}
	if (turn >= high || layout_count(v, messages_turn(m, high), &n, w))
		return turn >= high ? 0 : -1;
	if (n + said >= context)
		return 0;
	m->first = messages_turn(m, high);
	console_say("the context of %zu tokens is full (-c): dropped the oldest %zu turn%s", context, high - turn,
		high - turn > 1 ? "s" : "");
	return 1;
}
