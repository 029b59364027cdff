/* Draws ids, evaluates them and writes them, chunk by chunk, until one ends the generation. */
#include "chain.h"

#include <math.h>
#include <stdlib.h>

#include "fwd/state/fork.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/sampler/gumbel.h"

int chain_open(struct chain *c, size_t n_ctx, struct why *w)
{
	c->ids = malloc(size_min(c->setup->chunk, n_ctx + 1) * sizeof *c->ids);
	c->logits = malloc(c->plan->model->n_vocab * sizeof *c->logits);
	return c->ids && c->logits ? 0 : why(w, "out of memory");
}

void chain_close(struct chain *c)
{
	free(c->ids);
	free(c->logits);
}

/* Draws the id after the state's last position. */
static int pick(struct chain *c, size_t pos, const struct card *card, int32_t *id, struct why *w)
{
	const struct chain_setup *s = c->setup;

	plan_logits(c->plan, 0, 1, c->logits);
	for (int32_t i = 0; s->ignore_eos && i < card->n_eog; i++)
		c->logits[card->eog[i]] = -INFINITY;
	*id = gumbel_pick(c->logits, c->plan->model->n_vocab, s->temp, s->seed + c->seq, pos);
	return *id < 0 ? why(w, "no finite logit for position %zu", pos) : 0;
}

static void evaluate(struct chain *c, struct segment *s, int32_t id, int wanted)
{
	struct run run = { .state = s, .n = 1, .wanted = (size_t)wanted };

	plan_step(c->plan, &id, &run, 1);
}

/* Draws c->ids[n] and evaluates all but the last. Returns the number drawn; if it is less than n, w says why. */
static size_t pick_all(struct chain *c, struct segment *s, const struct card *card, size_t n, struct why *w)
{
	size_t i;

	/* for the last one as well, because chain_chunk() may evaluate it */
	if (segment_prepare(s, s->length, size_min(n, s->n_ctx - s->length), w) < 0)
		return 0;
	for (i = 0; i < n && pick(c, s->length, card, &c->ids[i], w) == 0; i++)
		if (i + 1 < n)
			evaluate(c, s, c->ids[i], 1);
	return i;
}

/* The number of ids in c->ids[n] up to and including the first that ends the generation. */
static size_t until_eog(const struct chain *c, const struct card *card, size_t n, int *ended)
{
	for (size_t i = 0; i < n; i++)
		if ((*ended = card_is_eog(card, c->ids[i])))
			return i + 1;
	return n;
}

static int write_ids(struct chain *c, size_t n, struct why *w)
{
	if (!n)
		return 0;
	if (frame_write_ids(c->out, c->ids, (uint32_t)n, (uint32_t)c->next, FRAME_SAMPLED, c->seq, w) < 0)
		return -1;
	report_answered(c->report);
	report_evaluated(c->report, 1, n, 0);
	c->left -= n;
	c->next += n;
	return 0;
}

int chain_begin(struct chain *c, const struct segment *s, uint32_t seq, size_t most)
{
	c->seq = seq;
	c->next = s->length;
	c->left = c->setup->n < 0 ? most : size_min((size_t)c->setup->n, most);
	return c->left ? 0 : FRAME_END_LENGTH;
}

/* Why there are no more ids after the last one written, which ended the generation or not; 0: there are. */
static int reason(const struct chain *c, size_t n_ctx, int ended)
{
	return ended ? FRAME_END_EOG : !c->left ? FRAME_END_LENGTH : c->next > n_ctx ? FRAME_END_CONTEXT : 0;
}

int chain_chunk(struct chain *c, struct segment *s, const struct card *card, struct why *w)
{
	double start = clock_now();
	size_t wanted = size_min(size_min(c->setup->chunk, c->left), s->n_ctx + 1 - c->next);
	size_t drawn = pick_all(c, s, card, wanted, w), n;
	int ended = 0, last;

	n = until_eog(c, card, drawn, &ended);
	if (write_ids(c, n, w) < 0 || (drawn < wanted && !ended))
		return -1;
	last = reason(c, s->n_ctx, ended);
	if (s->length > c->next)
		segment_set_length(s, c->next);
	else if (s->length < c->next && c->next <= s->n_ctx)
		evaluate(c, s, c->ids[n - 1], !last);
	report_evaluated(c->report, 1, 0, clock_now() - start);
	return last;
}
