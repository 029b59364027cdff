/* The loop: sample's ids go back to fwd and on to detok, until sample says that it is over. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/frame.h"
#include "gen.h"

/* gen's own ends of the pipes; -1 when closed. */
struct ends {
	int from_tok, to_fwd, from_sample, to_detok;
};

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int grow(struct ids *a, struct why *w)
{
	size_t room = a->room ? 2 * a->room : 1024;
	int32_t *id = realloc(a->id, room * sizeof *id);

	if (!id)
		return why(w, "out of memory");
	a->id = id;
	a->room = room;
	return 0;
}

static int push(struct ids *a, int32_t id, struct why *w)
{
	if (a->n == a->room && grow(a, w))
		return -1;
	a->id[a->n++] = id;
	return 0;
}

static int push_pick(struct result *r, int32_t id, double time, struct why *w)
{
	if (push(&r->ids, id, w))
		return -1;
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

static int start(struct request *q, struct ends *e, struct why *w)
{
	int feed[2] = { -1, -1 }, tok[2], fwd[2], logits[2], picks[2], text[2];

	if (q->prompt && stage_pipe(feed, w))
		return -1;
	if (stage_pipe(tok, w) || stage_pipe(fwd, w) || stage_pipe(logits, w) || stage_pipe(picks, w) || stage_pipe(text, w))
		return -1;
	*e = (struct ends){ tok[0], fwd[1], picks[0], text[1] };
	if (stage_start(&q->stage[FWD], fwd[0], logits[1], w) || stage_start(&q->stage[TOK], feed[0], tok[1], w) ||
	    stage_start(&q->stage[SAMPLE], logits[0], picks[1], w) || stage_start(&q->stage[DETOK], text[0], -1, w))
		return -1;
	return q->prompt ? stage_feed(&q->stage[FEED], q->prompt, strlen(q->prompt), feed[1], w) : 0;
}

/* The card goes to whoever reads ids; detok's is the first one, so that it can start on its vocabulary at once. */
static int pass_card(const struct card *card, const struct ends *e, struct why *w)
{
	return card_write(e->to_fwd, card, w) || card_write(e->to_detok, card, w) ? -1 : 0;
}

/* What tok makes of the prompt goes to fwd, frame by frame, and is kept. */
static int prompt(struct result *r, const struct ends *e, struct card *card, struct why *w)
{
	struct frame_in in;
	struct frame f;
	int got, carded = 0;

	frame_open_in(&in, e->from_tok, "tok");
	while ((got = frame_next(&in, &f, w)) > 0) {
		if (f.kind == FRAME_CARD) {
			if (card_read(&in, &f, card, w) || (!carded && pass_card(card, e, w)))
				return -1;
			carded = 1;
		}
		if (f.kind != FRAME_IDS)
			continue;
		while (r->prompt.room - r->prompt.n < f.rows)
			if (grow(&r->prompt, w))
				return -1;
		if (frame_read(&in, &f, r->prompt.id + r->prompt.n, f.rows, w) ||
		    frame_write_ids(e->to_fwd, r->prompt.id + r->prompt.n, f.rows, f.pos, f.flags, f.seq, w))
			return -1;
		r->prompt.n += f.rows;
	}
	return got;
}

/* One frame of ids from the sampler: kept, shown and, while the context has room for it, evaluated. */
static int picked(struct result *r, struct frame_in *in, const struct frame *f, const struct card *card, struct ends *e, double t, struct why *w)
{
	for (uint32_t i = 0; i < f->rows; i++) {
		int32_t id;

		if (frame_read(in, f, &id, 1, w) || push_pick(r, id, t, w) ||
		    frame_write_ids(e->to_detok, &id, 1, f->pos + i, f->flags, f->seq, w))
			return -1;
		if (card_is_eog(card, id))
			continue;
		if (card->n_ctx && f->pos + i >= (uint32_t)card->n_ctx) {
			r->reason = FRAME_END_LENGTH;
			close_end(&e->to_fwd);
		} else if (e->to_fwd >= 0 && frame_write_ids(e->to_fwd, &id, 1, f->pos + i, f->flags, f->seq, w)) {
			return -1;
		}
	}
	return 0;
}

static int generate(struct result *r, struct ends *e, double begin, struct why *w)
{
	struct frame_in in;
	struct frame f;
	struct card card = { 0 };
	int got;

	frame_open_in(&in, e->from_sample, "sample");
	while ((got = frame_next(&in, &f, w)) > 0) {
		if (f.kind == FRAME_CARD) {
			if (card_read(&in, &f, &card, w))
				return -1;
			for (r->n_eog = 0; r->n_eog < 4 && r->n_eog < card.n_eog; r->n_eog++)
				r->eog[r->n_eog] = card.eog[r->n_eog];
		}
		if (f.kind == FRAME_IDS && picked(r, &in, &f, &card, e, now() - begin, w))
			return -1;
		if (f.kind == FRAME_LOGPROBS && r->ids.n) {
			float pick[2];

			if (frame_read(&in, &f, pick, 2, w))
				return -1;
			r->logprob[r->ids.n - 1] = pick[1];
		}
		if (f.kind == FRAME_END) {
			r->reason = f.flags;
			return frame_write_end(e->to_detok, f.flags, f.pos, f.seq, w);
		}
	}
	return got;
}

int loop(struct request *q, struct result *r, struct why *w)
{
	struct ends e = { -1, -1, -1, -1 };
	struct card card = { 0 };
	double begin = now();
	int status;

	status = start(q, &e, w) || prompt(r, &e, &card, w) || (r->prompt.n && generate(r, &e, begin, w)) ? -1 : 0;
	close_end(&e.from_tok);
	close_end(&e.to_fwd);
	close_end(&e.from_sample);
	close_end(&e.to_detok);
	return status;
}
