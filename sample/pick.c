/* What must not be drawn is forbidden in the row, whatever the chain of samplers says. */
#include "pick.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/sampler/sampler.h"
#include "output.h"
#include "trace.h"

int pick_read_row(struct session *s, const struct frame *f, uint32_t at, uint32_t read, struct why *w)
{
	if (f->cols != (uint32_t)s->card.n_vocab) {
		why(w, "%" PRIu32 " logits for a vocabulary of %" PRId32 ", as the card says", f->cols,
			s->card.n_vocab);
		return frame_why(&s->in, w);
	}
	return frame_skip(&s->in, f, (uint64_t)(at - read) * f->cols, w)
		|| frame_read_floats(&s->in, f, s->row, f->cols, w) ? -1 : 0;
}

/* Forbids ends and stops that come too early, what the grammar does not allow, and the mask token. If nothing but an
 * end can follow, it is allowed. */
static int restrict_row(const struct session *s, const struct generation *g, uint32_t pos, int early, struct why *w)
{
	const struct sample_options *set = &g->settings->set;
	int over = 0;

	if (g->constraint) {
		if (constraint_apply(g->constraint, pos, s->row, w) < 0)
			return -1;
		over = constraint_must_end(g->constraint);
	}
	for (int32_t i = 0; (early || set->ignore_eos) && !over && i < s->card.n_eog; i++)
		s->row[s->card.eog[i]] = -INFINITY;
	for (size_t i = 0; early && !over && i < set->n_stop; i++)
		s->row[set->stop_id[i]] = -INFINITY;
	if (s->card.diffusion)
		s->row[s->card.mask_id] = -INFINITY;
	return 0;
}

/* Whether restrict_row() or force() may change the row. */
static int is_restricted(const struct session *s, const struct generation *g, int early)
{
	return early || g->constraint || g->settings->budget || g->settings->set.ignore_eos || s->card.diffusion;
}

/* Forbids all ids but the one that must be drawn, unless that is forbidden. */
static void force(const struct session *s, int32_t id)
{
	float logit = id < 0 ? -INFINITY : s->row[id];

	if (logit == -INFINITY)
		return;
	for (int32_t i = 0; i < s->card.n_vocab; i++)
		s->row[i] = -INFINITY;
	s->row[id] = isfinite(logit) ? logit : 0;
}

int pick_id(struct session *s, struct generation *g, uint32_t pos, int early, struct sampler_pick *p,
	struct why *w)
{
	if (is_restricted(s, g, early))
		sampler_prepare(g->sampler, s->row);
	if (restrict_row(s, g, pos, early, w) < 0)
		return SESSION_FAILED;
	if (g->settings->budget)
		force(s, thought_due(g->settings->budget, &g->thought));
	if (sampler_draw(g->sampler, s->row, pos, p, w) < 0)
		return SESSION_FAILED;
	if (p->n_nan && !s->warned++)
		fprintf(stderr, "sample: %s: frame %" PRIu64 ": logits that are NaN: %zu, never drawn\n", s->in.name,
			s->in.number, p->n_nan);
	if (s->trace)
		trace_drawn(s->trace, pos, g->sequence.number, p->id);
	return 0;
}

size_t pick_n_logprobs(const struct generation *g)
{
	int32_t n_best = g->settings->set.chain.n_best;

	return n_best < 0 ? 0 : (size_t)n_best + 1;
}

/* Where fewer ids are possible than asked for, id -1 marks the end. */
void pick_store_logprobs(const struct generation *g, const struct sampler_pick *p, float (*to)[2])
{
	size_t n = pick_n_logprobs(g);

	for (size_t i = 0; i < n; i++) {
		to[i][0] = !i ? (float)p->id : i <= p->n_best ? (float)p->best[i - 1].id : -1;
		to[i][1] = !i ? p->logprob : i <= p->n_best ? p->best[i - 1].logprob : -INFINITY;
	}
}

int pick_write_logprobs(const struct generation *g, float (*logprob)[2], uint32_t pos, struct why *w)
{
	struct frame f = { .kind = FRAME_LOGPROBS, .rows = 1, .cols = 2, .type = FRAME_F32, .pos = pos,
		.seq = g->sequence.number };

	while (f.rows < pick_n_logprobs(g) && logprob[f.rows][0] >= 0)
		f.rows++;
	return frame_write(1, &f, logprob, w);
}

int pick_write(struct session *s, const struct generation *g, const int32_t *id, float (*logprob)[2], size_t n,
	uint32_t pos, struct why *w)
{
	size_t most = pick_n_logprobs(g);

	if (output_ids(s, id, n, pos, g->sequence.number, w) || (most && output_flush(s, w)))
		return -1;
	for (size_t i = 0; most && i < n; i++)
		if (pick_write_logprobs(g, logprob + i * most, pos + (uint32_t)i, w))
			return -1;
	return 0;
}
