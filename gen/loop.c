/* The loop: sample's ids go back to fwd and on to detok, until sample says that it is over. */
#include "loop.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "progress.h"

static int push_pick(struct result *r, int32_t id, double time, struct why *w)
{
	if (ids_add(&r->ids, id))
		return why(w, "out of memory");
	if (r->room < r->ids.room) {
		float *logprob = realloc(r->logprob, r->ids.room * sizeof *logprob);
		double *t = logprob ? realloc(r->time, r->ids.room * sizeof *t) : NULL;

		r->logprob = logprob ? logprob : r->logprob;
		r->time = t ? t : r->time;
		if (!logprob || !t)
			return why(w, "out of memory");
		r->room = r->ids.room;
	}
	r->logprob[r->ids.n - 1] = NAN;
	r->time[r->ids.n - 1] = time;
	return 0;
}

void result_free(struct result *r)
{
	free(r->prompt.id);
	free(r->ids.id);
	free(r->logprob);
	free(r->time);
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int loop_sample(struct loop *l, struct request *q, struct why *w)
{
	int rows[2], picks[2];

	close_end(&l->to_sample);
	close_end(&l->from_sample);
	if (stage_wait(&q->stage[SAMPLE]))
		return why(w, "sample failed");
	if (stage_pipe(rows, w) || stage_pipe(picks, w))
		return -1;
	l->to_sample = rows[1];
	l->from_sample = picks[0];
	frame_open_in(&l->picks, l->from_sample, "sample");
	return stage_start(&q->stage[SAMPLE], rows[0], picks[1], w);
}

int loop_start(struct loop *l, struct request *q, struct why *w)
{
	int feed[2] = { -1, -1 }, tok[2] = { -1, -1 }, fwd[2], logits[2], picks[2] = { -1, -1 }, text[2] = { -1, -1 };

	*l = (struct loop){ .from_tok = -1, .to_fwd = -1, .from_fwd = -1, .to_sample = -1, .from_sample = -1, .to_detok = -1, .begin = clock_now(), .q = q };
	if ((q->prompt && !q->chat && stage_pipe(feed, w)) || (!q->chat && stage_pipe(tok, w)))
		return -1;
	if (stage_pipe(fwd, w) || stage_pipe(logits, w) || (!q->relayed && !q->chained && stage_pipe(picks, w)) || (!q->json && stage_pipe(text, w)))
		return -1;
	l->from_tok = tok[0];
	l->to_fwd = fwd[1];
	l->to_detok = text[1];
	if (q->relayed) {
		l->from_fwd = logits[0];
	} else {
		l->from_sample = q->chained ? logits[0] : picks[0];
		frame_open_in(&l->picks, l->from_sample, q->chained ? "fwd" : "sample");
	}
	if (stage_start(&q->stage[FWD], fwd[0], logits[1], w) || (!q->chat && stage_start(&q->stage[TOK], feed[0], tok[1], w)) ||
	    (q->relayed ? loop_sample(l, q, w) : !q->chained && stage_start(&q->stage[SAMPLE], logits[0], picks[1], w)) ||
	    (!q->json && stage_start(&q->stage[DETOK], text[0], -1, w)))
		return -1;
	return feed[1] >= 0 ? stage_feed(&q->stage[FEED], q->prompt, strlen(q->prompt), feed[1], w) : 0;
}

void loop_end(struct loop *l)
{
	close_end(&l->from_tok);
	close_end(&l->to_fwd);
	close_end(&l->from_fwd);
	close_end(&l->to_sample);
	close_end(&l->from_sample);
	close_end(&l->to_detok);
}

int loop_card(const struct loop *l, const struct card *card, struct why *w)
{
	return card_write(l->to_fwd, card, w) || (l->to_detok >= 0 && card_write(l->to_detok, card, w)) ? -1 : 0;
}

static void ignore(void *context, const char *bytes, size_t n)
{
}

/* Whether a stop string ends with this id. */
static int stopped(const struct loop *l, struct result *r, int32_t id)
{
	const struct request *q = l->q;
	size_t n = 0;
	const char *piece = q->stop ? vocab_piece(q->vocab, id, q->special, &n) : NULL;
	int number = piece ? stop_feed(q->stop, piece, n, ignore, NULL) : -1;

	if (number >= 0)
		r->stop = stop_string(q->stop, number, &r->n_stop);
	return number >= 0;
}

/* An id of the sampler: kept and shown. 1 if a stop string ends with it. */
static int show(struct loop *l, struct result *r, const struct frame *f, uint32_t pos, int32_t id, struct why *w)
{
	if (push_pick(r, id, clock_now() - l->begin, w) || (l->to_detok >= 0 && frame_write_ids(l->to_detok, &id, 1, pos, f->flags, f->seq, w)))
		return -1;
	return stopped(l, r, id);
}

/* One frame of ids from the sampler: kept, shown and, while the context has room for it, evaluated. The reason if nothing can follow it. */
static int picked(struct loop *l, struct result *r, const struct frame *f, struct why *w)
{
	const struct card *card = &l->card;
	int over;

	for (uint32_t i = 0; i < f->rows; i++) {
		int32_t id;

		if (frame_read(&l->picks, f, &id, 1, w) || (over = show(l, r, f, f->pos + i, id, w)) < 0)
			return -1;
		if (over)
			return FRAME_END_STOP;
		r->evaluated += (size_t)l->q->chained;
		if (card_is_eog(card, id) || l->q->chained || r->ids.n == l->q->last)
			continue;
		if (card->n_ctx && f->pos + i >= (uint32_t)card->n_ctx)
			return FRAME_END_LENGTH;
		if (frame_write_ids(l->to_fwd, &id, 1, f->pos + i, f->flags, f->seq, w))
			return -1;
		r->evaluated++;
		r->passes++;
	}
	return 0;
}

static int read_logprob(struct loop *l, struct result *r, const struct frame *f, struct why *w)
{
	float pick[2];

	if (frame_read(&l->picks, f, pick, 2, w))
		return -1;
	r->logprob[r->ids.n - 1] = pick[1];
	return 0;
}

/* Ends the turn before sample does: what it still says of it is to be passed over, but for the log-probability of the last id. A detok that was told the
 * stop string has ended already. */
static int cut(struct loop *l, struct result *r, enum frame_reason reason, uint32_t pos, int waiting, struct why *w)
{
	struct why ignored;
	struct frame f;

	while (waiting && frame_next(&l->picks, &f, w) > 0)
		if (f.kind == FRAME_LOGPROBS) {
			if (read_logprob(l, r, &f, w))
				return -1;
			break;
		}
	l->stale = 1;
	r->reason = reason;
	if (l->to_detok >= 0 && frame_write_end(l->to_detok, reason, pos, 0, reason == FRAME_END_STOP ? &ignored : w) && reason != FRAME_END_STOP)
		return -1;
	return 1;
}

static void set_card(const struct loop *l, struct result *r)
{
	for (r->n_eog = 0; r->n_eog < 4 && r->n_eog < l->card.n_eog; r->n_eog++)
		r->eog[r->n_eog] = l->card.eog[r->n_eog];
}

void loop_begin(struct loop *l, struct result *r)
{
	set_card(l, r);
	if (l->q->stop)
		stop_start(l->q->stop);
}

/* The end that sample tells of. */
static int ended(struct loop *l, struct result *r, const struct frame *f, struct why *w)
{
	r->reason = f->flags;
	return l->to_detok >= 0 && frame_write_end(l->to_detok, f->flags, f->pos, f->seq, w) ? -1 : 1;
}

int loop_pick(struct loop *l, struct result *r, uint32_t pos, int32_t *id, int *over, struct why *w)
{
	struct frame f;
	int got, picked = 0, stop;

	*over = 0;
	while ((got = frame_next(&l->picks, &f, w)) > 0) {
		if (f.kind == FRAME_CARD) {
			if (card_read(&l->picks, &f, &l->card, w))
				return -1;
			set_card(l, r);
		}
		if (f.kind == FRAME_IDS && f.rows) {
			if (frame_read(&l->picks, &f, id, 1, w) || (stop = show(l, r, &f, pos, *id, w)) < 0)
				return -1;
			*over = stop || (!card_is_eog(&l->card, *id) && l->card.n_ctx && pos >= (uint32_t)l->card.n_ctx);
			if (*over)
				return cut(l, r, stop ? FRAME_END_STOP : FRAME_END_LENGTH, pos + 1, l->q->logprobs, w);
			picked = !card_is_eog(&l->card, *id);
		}
		if (f.kind == FRAME_LOGPROBS && r->ids.n && read_logprob(l, r, &f, w))
			return -1;
		if (f.kind == FRAME_END) {
			*over = 1;
			return ended(l, r, &f, w);
		}
		if (picked && (!l->q->logprobs || f.kind == FRAME_LOGPROBS))
			return 1;
	}
	return got;
}

/* Again and again, since fwd may not have begun with the prompt yet. */
static void look(void *context)
{
	const struct loop *l = context;

	if (l->enough())
		stage_signal(&l->q->stage[FWD], SIGUSR1);
}

/* The next frame of a turn; before its first id there may be a long wait. */
static int next_frame(struct loop *l, const struct result *r, struct frame *f, struct why *w)
{
	if (!r->ids.n)
		progress_wait(&l->picks, l->begin, r->prompt.n, l->enough ? look : NULL, l);
	return frame_next(&l->picks, f, w);
}

int loop_turn(struct loop *l, struct result *r, int (*enough)(void), struct why *w)
{
	struct frame f;
	int got, over;

	loop_begin(l, r);
	l->enough = enough;
	while ((got = next_frame(l, r, &f, w)) > 0) {
		if (f.kind == FRAME_CARD) {
			if (card_read(&l->picks, &f, &l->card, w))
				return -1;
			set_card(l, r);
		}
		if (f.kind == FRAME_IDS && !(l->q->chained && !(f.flags & FRAME_SAMPLED))) {
			if (enough && enough())
				return cut(l, r, FRAME_END_LENGTH, f.pos, 0, w);
			over = picked(l, r, &f, w);
			if (over)
				return over < 0 ? -1 : cut(l, r, (enum frame_reason)over, f.pos + f.rows, l->q->logprobs, w);
			l->stale = 0;
		}
		if (f.kind == FRAME_LOGPROBS && r->ids.n && read_logprob(l, r, &f, w))
			return -1;
		if (f.kind == FRAME_END && (!l->stale || f.flags == FRAME_END_INTERRUPT))
			return ended(l, r, &f, w);
	}
	return got;
}
