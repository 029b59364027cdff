/* Draws ids, evaluates them and writes them, chunk by chunk, until one ends the generation. */
#include "chain.h"

#include <math.h>

#include "fwd/state/fork.h"
#include "lib/base/clock.h"
#include "lib/stream/frame.h"
#include "lib/sampler/gumbel.h"
#include "lib/base/size.h"
#include "serve.h"

/* Draws the id after the state's last position. */
static int pick(struct serve *v, size_t pos, int32_t *id, struct why *w)
{
	const struct chain *c = v->chain;

	plan_logits(v->plan, 0, 1, v->logits);
	for (int32_t i = 0; c->ignore_eos && i < v->card.n_eog; i++)
		v->logits[v->card.eog[i]] = -INFINITY;
	*id = gumbel_pick(v->logits, v->model->n_vocab, c->temp, c->seed, pos);
	return *id < 0 ? why(w, "no finite logit for position %zu", pos) : 0;
}

static void evaluate(struct serve *v, struct segment *s, int32_t id, int wanted)
{
	struct run run = { .state = s, .n = 1, .wanted = (size_t)wanted };

	plan_step(v->plan, &id, &run, 1);
}

/* Draws v->ids[n] and evaluates all but the last. Returns the number drawn; if it is less than n, w says why. */
static size_t pick_chunk(struct serve *v, struct segment *s, size_t n, struct why *w)
{
	size_t i;

	/* for the last one as well, because run() may evaluate it */
	if (segment_prepare(s, s->length, size_min(n, v->n_ctx - s->length), w) < 0)
		return 0;
	for (i = 0; i < n && pick(v, s->length, &v->ids[i], w) == 0; i++)
		if (i + 1 < n)
			evaluate(v, s, v->ids[i], 1);
	return i;
}

/* The number of ids in v->ids[n] up to and including the first that ends the generation. */
static size_t until_eog(const struct serve *v, size_t n, int *ended)
{
	for (size_t i = 0; i < n; i++)
		if ((*ended = card_is_eog(&v->card, v->ids[i])))
			return i + 1;
	return n;
}

static int write_chunk(struct serve *v, size_t n, size_t pos, struct why *w)
{
	if (!n)
		return 0;
	if (frame_write_ids(v->out, v->ids, (uint32_t)n, (uint32_t)pos, FRAME_SAMPLED, 0, w) < 0)
		return -1;
	if (v->first <= 0)
		v->first = clock_now();
	v->evaluated += n;
	v->decode += n;
	return 0;
}

static int run(struct serve *v, struct segment *s, struct why *w)
{
	size_t left = v->chain->n < 0 ? SIZE_MAX : (size_t)v->chain->n, next = s->length, wanted, n;
	int reason, ended = 0;

	if (v->bound)
		left = size_min(left, v->bound - size_min(v->bound, next));
	v->bound = 0;
	reason = left ? 0 : FRAME_END_LENGTH;
	while (!reason) {
		wanted = size_min(size_min(v->chain->chunk, left), v->n_ctx + 1 - next);
		n = pick_chunk(v, s, wanted, w);
		wanted -= n;
		n = until_eog(v, n, &ended);
		if (write_chunk(v, n, next, w) < 0 || (wanted && !ended))
			return -1;
		left -= n;
		next += n;
		reason = ended ? FRAME_END_EOG : !left ? FRAME_END_LENGTH : next > v->n_ctx ? FRAME_END_CONTEXT : 0;
		if (s->length > next)
			segment_set_length(s, next);
		else if (s->length < next && next <= v->n_ctx)
			evaluate(v, s, v->ids[n - 1], !reason);
		serve_reaches(v, s->length);
	}
	return frame_write_end(v->out, (enum frame_reason)reason, (uint32_t)next, 0, w);
}

int chain_run(struct serve *v, struct served *q, struct why *w)
{
	double start = clock_now();
	int status = run(v, q->state, w);

	q->end = q->ready = q->state->length;
	v->decode_seconds += clock_now() - start;
	return status;
}
