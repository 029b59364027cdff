/* The loop of a generation. */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "draft.h"

void loop_init(struct loop *l)
{
	*l = (struct loop){ .out = -1, .copy = -1, .n = LOOP_NO_LIMIT, .repeat = 1 };
}

void loop_close(struct loop *l)
{
	tokens_free(&l->seq);
	free(l->ids);
	l->ids = NULL;
	l->room = 0;
}

static void close_out(struct loop *l)
{
	if (l->out >= 0)
		close(l->out);
	l->out = -1;
}

/* After a failed write: a reader that is gone ends the loop, as SIGPIPE ends a filter; everything else is an error. */
static int failed(struct loop *l)
{
	if (errno == EPIPE)
		l->gone = 1;
	return -1;
}

static int write_ids(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, uint32_t flags, struct why *w)
{
	return frame_write_ids(l->out, ids, (uint32_t)n, pos, flags, 0, w) ? failed(l) : 0;
}

static int read_ids(struct loop *l, struct frame_in *in, const struct frame *f, struct why *w)
{
	if (grow_scratch(&l->ids, &l->room, f->rows * sizeof *l->ids))
		return why(w, "out of memory");
	return frame_read(in, f, l->ids, f->rows, w);
}

/* ---- the prompt ---- */

static int prompt_ids(struct loop *l, const struct frame *f, struct why *w)
{
	if (read_ids(l, &l->in, f, w) || tokens_add(&l->seq, l->ids, f->rows, w))
		return -1;
	/* Without a generation to come there is nothing to evaluate. */
	if (l->n && write_ids(l, l->ids, f->rows, f->pos, f->flags, w))
		return -1;
	if (f->pos != FRAME_APPEND && !l->placed) {
		l->placed = 1;
		l->base = f->pos;
	}
	l->n_prompt = l->seq.n;
	if (!l->r)
		return 0;
	l->r->passes++;
	return tokens_add(&l->r->prompt, l->ids, f->rows, w);
}

int loop_card(struct loop *l, const struct card *card, struct why *w)
{
	l->card = *card;
	l->carded = 1;
	return card_write(l->out, card, w) || (l->copy >= 0 && card_write(l->copy, card, w)) ? failed(l) : 0;
}

int loop_prompt(struct loop *l, struct why *w)
{
	struct frame f;
	int got;

	while ((got = frame_next(&l->in, &f, w)) > 0) {
		if (f.kind == FRAME_IDS && prompt_ids(l, &f, w))
			return -1;
		if (f.kind == FRAME_CARD) {
			if (card_read(&l->in, &f, &l->card, w))
				return -1;
			if (loop_card(l, &l->card, w))
				return -1;
		}
	}
	return got;
}

int loop_send(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, struct why *w)
{
	l->seq.n = 0;
	l->placed = 1;
	l->base = pos;
	l->n_prompt = n;
	l->drawn = 0;
	if (l->r)
		l->r->passes++;
	return tokens_add(&l->seq, ids, n, w) || write_ids(l, ids, n, pos, 0, w) ? -1 : 0;
}

/* ---- ids that come back ---- */

/* The reason why nothing can follow the id at pos; 0: something can. */
static int over(const struct loop *l, int32_t id, uint32_t pos)
{
	if (l->carded && card_is_eog(&l->card, id))
		return FRAME_END_EOG;
	if (l->drawn == l->n || (l->card.n_ctx && pos >= (uint32_t)l->card.n_ctx))
		return FRAME_END_LENGTH;
	return 0;
}

/* Ids from l->ids[from] on to fwd, the first of them at pos, with guesses behind a single one. */
static int forward(struct loop *l, size_t from, size_t n, uint32_t pos, size_t accepted, struct why *w)
{
	size_t room = l->card.n_ctx ? (size_t)l->card.n_ctx - pos - 1 : DRAFT_MAX, left = n - from;
	int32_t with[1 + DRAFT_MAX];
	int guesses = 0;

	/* The sampler draws one id more than there are guesses. */
	if (l->n != LOOP_NO_LIMIT)
		room = size_min(room, (size_t)(l->n - l->drawn) - 1);
	if (l->draft && left == 1)
		guesses = draft_propose(l->draft, &l->card, &l->seq, accepted, with + 1, room, w);
	if (guesses < 0)
		return -1;
	with[0] = l->ids[from];
	if (l->r) {
		l->r->passes++;
		l->r->evaluated = l->r->ids.n + n;
	}
	l->valid = pos + (uint32_t)left;
	l->held = l->valid + (uint32_t)guesses;
	if (guesses)
		return write_ids(l, with, 1 + (size_t)guesses, pos, FRAME_SAMPLED | FRAME_GUESS, w);
	return write_ids(l, l->ids + from, left, pos, FRAME_SAMPLED, w);
}

/* fwd gives up what it has evaluated of rejected guesses. */
static int discard_rejected(struct loop *l, struct why *w)
{
	int32_t none = 0;

	if (l->held <= l->valid || l->out < 0)
		return 0;
	l->held = l->valid;
	return write_ids(l, &none, 0, l->valid, FRAME_SAMPLED, w);
}

/* How many of the drawn ids fwd has evaluated already, as guesses. */
static size_t count_accepted(const struct loop *l, uint32_t pos, size_t n)
{
	if (l->held <= l->valid || pos != l->valid)
		return 0;
	return draft_matches(l->draft, l->ids, size_min(n, l->held - l->valid));
}

/* The generation ends here, and not by an `end ` frame. Whoever reads the copy is told where more generations
 * follow. */
static int end_here(struct loop *l, int reason, uint32_t pos, struct why *w)
{
	l->stale = 1;
	if (l->r)
		l->r->reason = (uint32_t)reason;
	if (l->turns && l->copy >= 0 && frame_write_end(l->copy, (enum frame_reason)reason, pos, 0, w))
		return failed(l);
	return discard_rejected(l, w) ? -1 : 1;
}

static int copy_ids(struct loop *l, const struct frame *f, struct why *w)
{
	if (l->copy < 0)
		return 0;
	return frame_write_ids(l->copy, l->ids, f->rows, f->pos, f->flags, f->seq, w) ? failed(l) : 0;
}

/* 0: the loop goes on; 1: the generation is over, for the reason in *reason or the sampler's that is still to come;
 * -1. */
static int ids_back(struct loop *l, const struct frame *f, int *reason, struct why *w)
{
	uint32_t pos = f->pos;
	size_t n, accepted, from;

	if (read_ids(l, &l->back, f, w))
		return -1;
	if (*reason || !(f->flags & FRAME_SAMPLED) || !f->rows)
		return copy_ids(l, f, w);
	if (!l->placed && pos != FRAME_APPEND) {
		l->placed = 1;
		l->base = pos - (uint32_t)l->seq.n;
	}
	if (pos == FRAME_APPEND)
		pos = l->base + (uint32_t)l->seq.n;
	if (l->draft && pos != l->base + l->seq.n)
		return why(w, "%s: ids for position %u, not %u: the sampler does not support guesses", l->back.name,
			(unsigned)pos, (unsigned)(l->base + l->seq.n));
	l->stale = 0;
	for (n = 0; n < f->rows && !*reason; n++) {
		l->drawn++;
		*reason = over(l, l->ids[n], pos + (uint32_t)n);
	}
	accepted = count_accepted(l, pos, n);
	l->valid += (uint32_t)accepted;
	if (tokens_add(&l->seq, l->ids, n, w))
		return -1;
	if (*reason && l->r)
		l->r->evaluated = l->r->ids.n + accepted;
	from = accepted < n ? accepted : n - 1;
	if (!*reason && forward(l, from, n, pos + (uint32_t)from, accepted, w))
		return -1;
	if (copy_ids(l, f, w))
		return -1;
	return l->r && result_ids(l->r, l->ids, n, pos, w) ? -1 : 0;
}

/* ---- everything else that comes back ---- */

static int card_back(struct loop *l, const struct frame *f, struct why *w)
{
	if (card_read(&l->back, f, &l->card, w))
		return -1;
	l->carded = 1;
	if (l->copy >= 0 && card_write(l->copy, &l->card, w))
		return failed(l);
	for (int64_t i = 0; l->r && i < l->repeat; i++)
		for (l->r[i].n_eog = 0; l->r[i].n_eog < 4 && l->r[i].n_eog < l->card.n_eog; l->r[i].n_eog++)
			l->r[i].eog[l->r[i].n_eog] = l->card.eog[l->r[i].n_eog];
	return 0;
}

/* A frame with a payload of no more than bytes: read, copied, and left in `to`. */
static int copy_small(struct loop *l, const struct frame *f, void *to, struct why *w)
{
	if (frame_read(&l->back, f, to, (size_t)f->rows * f->cols, w))
		return -1;
	return l->copy >= 0 && frame_write(l->copy, f, to, w) ? failed(l) : 0;
}

static int logprob_back(struct loop *l, const struct frame *f, struct why *w)
{
	static float pairs[1024][2];

	if (f->rows > 1024)
		return l->copy >= 0 && frame_copy(&l->back, f, l->copy, w) ? failed(l) : 0;
	if (copy_small(l, f, pairs, w))
		return -1;
	if (l->r)
		result_logprob(l->r, f->pos, pairs[0][1]);
	return 0;
}

static int end_back(struct loop *l, const struct frame *f, struct why *w)
{
	_Alignas(4) char stop[FRAME_STOP_MAX + 4];

	if (copy_small(l, f, stop, w))
		return -1;
	if (l->r) {
		l->r->reason = f->flags;
		if (f->rows && !l->r->stop && (l->r->stop = malloc(f->rows))) {
			memcpy(l->r->stop, stop, f->rows);
			l->r->n_stop = f->rows;
		}
	}
	return discard_rejected(l, w) ? -1 : 1;
}

/* A frame of `back`. 0: the loop goes on; 1: the generation is over; -1. */
static int frame_back(struct loop *l, const struct frame *f, int *reason, struct why *w)
{
	switch (f->kind) {
	case FRAME_CARD: return card_back(l, f, w);
	case FRAME_IDS: return ids_back(l, f, reason, w);
	case FRAME_LOGPROBS: return logprob_back(l, f, w);
	case FRAME_END: return end_back(l, f, w);
	case FRAME_LOGITS: return why(w, "%s: logits, where a sampler's ids are expected", l->back.name);
	}
	return 0;
}

/* What the sampler still says of a generation that was ended here is skipped. */
static int is_stale(const struct loop *l, const struct frame *f)
{
	return l->stale && (f->kind == FRAME_LOGPROBS || (f->kind == FRAME_END && f->flags != FRAME_END_INTERRUPT));
}

/* Whether all has come that belongs to the last id. */
static int is_complete(const struct loop *l, const struct frame *f)
{
	return !l->logprobs || (f->kind == FRAME_LOGPROBS && f->pos == l->base + l->seq.n - 1);
}

int loop_turn(struct loop *l, struct why *w)
{
	int got, status = 0, reason = 0;
	struct frame f;

	l->drawn = 0;
	l->valid = l->held = 0;
	while (!status) {
		if (l->wait && !l->drawn)
			l->wait(l);
		if (l->gone)
			return 0;
		if ((got = frame_next(&l->back, &f, w)) <= 0)
			return got;
		if (is_stale(l, &f))
			continue;
		if (f.kind == FRAME_IDS && l->cancelled && l->cancelled())
			return end_here(l, FRAME_END_LENGTH, f.pos, w);
		status = frame_back(l, &f, &reason, w);
		if (!status && reason && is_complete(l, &f))
			return end_here(l, reason, l->base + (uint32_t)l->seq.n, w);
	}
	return status < 0 && l->gone ? 0 : status;
}

/* ---- all generations ---- */

int loop_drain(struct loop *l, struct why *w)
{
	struct frame f;
	int got = 0;

	while (!l->gone && (got = frame_next(&l->back, &f, w)) > 0) {
		int status = 0;

		if (f.kind == FRAME_LOGPROBS)
			status = logprob_back(l, &f, w);
		else if (f.kind == FRAME_END)
			status = end_back(l, &f, w);
		else if (l->copy >= 0 && frame_copy(&l->back, &f, l->copy, w))
			status = failed(l);
		if (status < 0)
			return l->gone ? 0 : -1;
	}
	return got;
}

/* The next generation from the same prompt. */
static int prompt_again(struct loop *l, struct why *w)
{
	l->seq.n = l->n_prompt;
	if (l->r) {
		l->r++;
		l->r->begin = l->r[-1].begin;
		l->r->passes = 1;
	}
	return write_ids(l, l->seq.id, l->n_prompt, l->base, 0, w);
}

int loop_run(struct loop *l, struct why *w)
{
	int status = l->n && l->seq.n;

	for (int64_t i = 0; status > 0 && i < l->repeat; i++)
		if ((status = i && prompt_again(l, w) ? -1 : loop_turn(l, w)) < 0 && l->gone)
			status = 0;
	close_out(l);
	return status < 0 ? -1 : 0;
}

int loop_copy(struct loop *l, struct why *w)
{
	int drawn = 0, got;
	struct frame f;

	for (;;) {
		if (l->wait && !drawn)
			l->wait(l);
		if (l->gone)
			return 0;
		if ((got = frame_next(&l->back, &f, w)) <= 0)
			return got;
		if (f.kind == FRAME_IDS && f.flags & FRAME_SAMPLED)
			drawn = 1;
		else if (f.kind == FRAME_IDS && l->r)
			l->r->prompt.n += f.rows;
		if (frame_copy(&l->back, &f, l->copy, w)) {
			failed(l);
			return l->gone ? 0 : -1;
		}
	}
}
