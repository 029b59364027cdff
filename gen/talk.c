/* gen --chat and gen -i: a conversation. The stages run on from turn to turn. Each time the whole of it is laid out by the chat template, and of its
 * ids fwd is sent those that it does not have yet, at their position. */
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/utf8.h"
#include "history.h"
#include "loop.h"
#include "person.h"
#include "text.h"

struct talk {
	struct chat chat;
	struct bytes template;
	struct history history;
	struct loop loop;
};

static int begin(struct talk *t, struct request *q, struct why *w)
{
	struct card card;
	int chosen;

	t->template.limit = CHAT_FILE_MAX;
	if (chat_open(&t->chat, &q->setup, q->vocab, w) || (chosen = chat_choose(&t->chat, &q->setup, q->g, &t->template, w)) < 0)
		return -1;
	if (chosen)
		fprintf(stderr, "gen: %s\n", w->text);
	if (loop_start(&t->loop, q, w))
		return -1;
	vocab_card(q->vocab, &card);
	return loop_card(&t->loop, &card, w);
}

static void end(struct talk *t)
{
	loop_end(&t->loop);
	history_free(&t->history);
	bytes_free(&t->template);
	chat_end(&t->chat);
}

/* The text of ids as a message has it: as far as a stop string, no control tokens, and U+FFFD for what is not UTF-8. */
static int spell(const struct vocab *v, struct stop *stop, const int32_t *ids, size_t n, struct bytes *out, struct why *w)
{
	struct bytes raw = { .limit = CHAT_TEXT_MAX };
	unsigned used;

	text_of(v, stop, 0, ids, n, &raw);
	for (size_t at = 0; at < raw.n; at += used) {
		int bad = utf8_next(raw.p + at, raw.n - at, &used) < 0;

		bytes_put(out, bad ? "\xef\xbf\xbd" : raw.p + at, bad ? 3 : used);
	}
	n = (size_t)(raw.failed || out->failed);
	bytes_free(&raw);
	return n ? why(w, "an answer too long to be kept") : 0;
}

/* The answer becomes a message; what of it was evaluated becomes history. */
static int keep_answer(struct talk *t, const struct request *q, const struct result *r, struct why *w)
{
	size_t n = r->ids.n - (r->ids.n > r->evaluated && card_is_eog(&t->loop.card, r->ids.id[r->ids.n - 1]));
	struct bytes text = { .limit = CHAT_TEXT_MAX }, evaluated = { .limit = CHAT_TEXT_MAX };
	int failed = spell(q->vocab, q->stop, r->ids.id, n, &text, w) || spell(q->vocab, NULL, r->ids.id, r->evaluated, &evaluated, w) ||
		chat_add_text(&t->chat, "assistant", text.n ? text.p : "", text.n, w) ||
		history_answer(&t->history, r->ids.id, r->evaluated, evaluated.n ? evaluated.p : "", evaluated.n, w);

	bytes_free(&text);
	bytes_free(&evaluated);
	return failed ? -1 : 0;
}

/* The ids from `keep` on to fwd, and into the result as the prompt of this turn. */
static int send(struct talk *t, struct result *r, size_t keep, struct why *w)
{
	const struct ids *ids = &t->history.ids;

	if (!ids->n)
		return why(w, "the template makes nothing of the conversation");
	if (ids->n - keep > FRAME_IDS_MAX)
		return why(w, "a turn of %zu ids is more than a frame holds", ids->n - keep);
	for (size_t i = keep; i < ids->n; i++)
		if (ids_add(&r->prompt, ids->id[i]))
			return why(w, "out of memory");
	r->passes = 1;
	return frame_write_ids(t->loop.to_fwd, ids->id + keep, (uint32_t)(ids->n - keep), (uint32_t)keep, 0, 0, w);
}

/* The turn never was: what fwd has evaluated of it, from `keep` on, the next one writes over. */
static void take_back(struct talk *t, size_t keep)
{
	history_back(&t->history, keep);
	chat_back(&t->chat);
}

/* 0, or -1 with a reason. */
static int turn(struct talk *t, const struct request *q, const char *line, size_t n, struct why *w)
{
	struct bytes text = { .limit = CHAT_TEXT_MAX };
	struct result r = { 0 };
	size_t keep;
	int status;

	t->loop.begin = clock_now();
	if (chat_add_text(&t->chat, "user", line, n, w))
		status = why_in(w, "this turn");
	else
		status = chat_render(&t->chat, t->template.p, t->template.n, NULL, &text, w) ||
			history_prompt(&t->history, q->vocab, text.n ? text.p : "", text.n, &keep, w) || send(t, &r, keep, w) ? -1 : 0;
	bytes_free(&text);
	if (!status)
		status = loop_turn(&t->loop, &r, q->interactive ? person_had_enough : NULL, w);
	if (!status)
		status = why(w, "sample ended before the conversation did");
	else if (status > 0 && r.reason == FRAME_END_INTERRUPT)
		take_back(t, keep);
	else if (status > 0 && keep_answer(t, q, &r, w))
		status = -1;
	if (q->verbose && r.ids.n)
		report(q, &r);
	if (q->json && status > 0)
		report_json(q, &r);
	result_free(&r);
	return status < 0 ? -1 : 0;
}

int talk(struct request *q, struct why *w)
{
	struct talk t = { .loop = { .from_tok = -1, .to_fwd = -1, .from_sample = -1, .to_detok = -1 } };
	struct person person;
	const char *line;
	size_t n;
	int status = begin(&t, q, w);

	if (!status) {
		person_open(&person, q->prompt, q->interactive);
		q->prompted = person.prompted;
		while ((status = person_turn(&person, &line, &n, w)) > 0 && !(status = turn(&t, q, line, n, w)))
			;
		person_close(&person);
	}
	end(&t);
	return status;
}
