/* Prompts: which sequences they start, when they may be sent, and what follows the last of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "live.h"
#include "loop_ends.h"

/* ---- a prompt that must begin with kept ids ---- */

static int not_kept(struct loop *l, struct why *w)
{
	l->rejected = 1;
	return why(w, "--kv %s: holds a text of %zu tokens with which the prompt does not begin: --append continues "
		"it; another name keeps both; kv rm %s removes it", l->kv, l->kept.n, l->kv);
}

/* fwd would discard the kept ids from the first one on that differs. */
static int check_kept(struct loop *l, const struct live *s, struct why *w)
{
	size_t n = size_min(l->kept.n, s->ids.n);

	return n && memcmp(l->kept.id, s->ids.id, n * sizeof *s->ids.id) ? not_kept(l, w) : 0;
}

/* ---- ids ---- */

/* Sends the last `rows` ids of a prompt; if those before them were held back, also these. */
static int send_prompt(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	size_t first = s->ids.n - f->rows;
	uint32_t pos = f->pos;

	if (l->kept.n) {
		if (s->ids.n < l->kept.n)
			return 0;
		l->kept.n = 0;
		pos = live_position(s, first = 0);
	}
	if (live_send(l, s, s->ids.id + first, s->ids.n - first, pos, f->flags, w))
		return -1;
	return l->draft && l->card.n_vocab ? draft_prompt(l->draft, &s->guesses, &l->card, l->active, w) : 0;
}

static int take_ids(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	struct result *r = live_result(l, f->seq);

	if (ids_append(&s->ids, l->payload, f->rows, w) || (r && ids_append(&r->prompt, l->payload, f->rows, w)))
		return -1;
	live_place(s, f->pos, f->rows);
	s->n_prompt = s->ids.n;
	if (check_kept(l, s, w))
		return -1;
	if (l->n)
		return send_prompt(l, s, f, w);
	/* without a generation there is nothing to evaluate */
	return l->jobs && !l->texts ? live_stop(l, s, FRAME_END_LENGTH, f->pos, w) : 0;
}

/* Handles the ids of a prompt, or the fork that starts a sequence. */
static int take_prompt(struct loop *l, const struct frame *f, struct why *w)
{
	struct live *s;

	l->waiting = 0;
	/* the sequence may have ended while the frame waited */
	if (sequences_is_over(&l->live, f->seq))
		return 0;
	if (!(s = live_begin(l, f->seq, w)) || frame_read_all(&l->in, f, &l->payload, &l->room, w))
		return -1;
	if (s->over)
		return 0;
	if (f->kind == FRAME_IDS)
		return take_ids(l, s, f, w);
	return l->n ? queue_put(&l->to_out, l->out, f, l->payload, w) : 0;
}

int loop_take_held(struct loop *l, struct why *w)
{
	return l->waiting && l->active < l->jobs ? take_prompt(l, &l->held, w) : 0;
}

/* ---- the end of the prompts ---- */

/* Starts one more text of the prompt of sequence 0. Sends its last id again, for its logits. */
static int fork_text(struct loop *l, const struct live *first, uint32_t seq, struct why *w)
{
	struct frame f = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32, .seq = seq };
	struct live *s = live_begin(l, seq, w);
	size_t n = first->ids.n;
	const int32_t source = 0;

	if (!s || !first->fed)          /* without a generation */
		return s ? 0 : -1;
	if (!first->placed)
		return why(w, "%s: the prompt has no positions, and cannot be forked", l->in.name);
	f.pos = live_position(first, n);
	s->placed = 1;
	s->base = first->base;
	s->n_prompt = n;
	return ids_append(&s->ids, first->ids.id, n, w) || queue_put(&l->to_out, l->out, &f, &source, w)
		|| live_send(l, s, &first->ids.id[n - 1], 1, f.pos - 1, 0, w) ? -1 : 0;
}

/* Ends the sequences without ids, because none will come now. */
static int stop_unfed(struct loop *l, struct why *w)
{
	struct sequence **all = sequences_all(&l->live, w);
	int failed = all ? 0 : -1;

	for (size_t i = 0; i < l->live.n && !failed; i++)
		if (!((struct live *)all[i])->fed)
			failed = live_stop(l, (struct live *)all[i], FRAME_END_LENGTH, FRAME_APPEND, w);
	free(all);
	return failed;
}

static int end_of_prompts(struct loop *l, struct why *w)
{
	const struct live *first = live_find(l, 0);

	l->ended = 1;
	if (l->kept.n)
		return not_kept(l, w);
	for (uint32_t seq = 1; first && !l->forked && seq < (uint32_t)l->texts; seq++)
		if (fork_text(l, first, seq, w))
			return -1;
	l->forked = 1;
	return stop_unfed(l, w);
}

/* ---- frames ---- */

/* Whether the loop has no use for a frame of this sequence. */
static int check_seq(const struct loop *l, const struct frame *f, struct why *w)
{
	if (l->jobs ? l->texts && f->seq && f->seq != FRAME_NO_SEQ : f->seq != 0) {
		why(w, "sequence %" PRIu32 ": %s", f->seq, l->jobs ? "only one prompt is forked" : "only with -j");
		return frame_why(&l->in, w);
	}
	return 0;
}

/* At once, so that fwd and the readers of the copy can start. */
static int take_card(struct loop *l, const struct frame *f, struct why *w)
{
	if (card_read(&l->in, f, &l->card, w))
		return -1;
	return queue_card(&l->to_out, l->out, &l->card, w) || queue_card(&l->to_copy, l->copy, &l->card, w) ? -1 : 0;
}

static int take_end(struct loop *l, const struct frame *f, struct why *w)
{
	struct live *s = live_find(l, f->seq);

	if (f->seq == FRAME_NO_SEQ && end_of_prompts(l, w))
		return -1;
	/* only its prompt is complete: the loop continues it */
	if (s && s->fed && !f->flags)
		return 0;
	if (s)
		return live_stop(l, s, f->flags, f->pos, w);
	l->done += f->seq && f->seq != FRAME_NO_SEQ;
	/* its number is used up: fwd ignores later frames of it */
	if (f->seq && f->seq != FRAME_NO_SEQ && sequences_end(&l->live, f->seq, w))
		return -1;
	return queue_put(&l->to_out, l->out, f, NULL, w);
}

/* The sequence begins, so that a stage can end it by refusing an option. */
static int pass_opts(struct loop *l, const struct frame *f, struct why *w)
{
	return !live_begin(l, f->seq, w) || frame_read_all(&l->in, f, &l->payload, &l->room, w)
		|| queue_put(&l->to_out, l->out, f, l->payload, w) ? -1 : 0;
}

int loop_take_in(struct loop *l, struct why *w)
{
	struct frame *f = &l->held;
	const struct live *s;
	int got;

	if ((got = frame_next(&l->in, f, w)) <= 0)
		return got < 0 ? -1 : end_of_prompts(l, w);
	if (check_seq(l, f, w))
		return -1;
	if (f->kind == FRAME_CARD)
		return take_card(l, f, w);
	if (sequences_is_over(&l->live, f->seq))
		return 0;
	if (f->kind == FRAME_END)
		return l->jobs ? take_end(l, f, w) : 0;
	if (f->kind == FRAME_OPTS)
		return pass_opts(l, f, w);
	if (f->kind != FRAME_IDS && (f->kind != FRAME_FORK || !l->jobs))
		return 0;
	/* a fork, or a frame without ids, gets no answer that would end it */
	s = live_find(l, f->seq);
	l->waiting = l->jobs && f->kind == FRAME_IDS && f->rows && !(s && (s->fed || s->over)) && l->active >= l->jobs;
	return l->waiting ? 0 : take_prompt(l, f, w);
}
