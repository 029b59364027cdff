/* sampler: the chain's driver: bias, the samplers one after another, the draw; and the ids that the penalties look back on. */
#include "sampler.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmath.h"
#include "frame.h"
#include "rng.h"
#include "sampler_op.h"

static const struct sampler_op *const order[] = {
	&sampler_bias, &sampler_penalties, &sampler_top_k, &sampler_top_p, &sampler_min_p, &sampler_temperature
};

void sampler_defaults(struct sampler_params *p)
{
	*p = (struct sampler_params){ .temp = 0.8f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .repeat = 1, .last_n = 64,
		.n_best = -1 };
}

struct sampler *sampler_open(const struct sampler_params *p, int32_t n_vocab, struct why *w)
{
	struct sampler *s = calloc(1, sizeof *s);
	size_t n = (size_t)n_vocab, room = CUT_ROOM(p->top_k > p->n_best ? p->top_k : p->n_best), i;

	if (!s)
		goto no_memory;
	s->params = *p;
	s->n_vocab = n_vocab;
	for (i = 0; i < sizeof order / sizeof *order; i++)
		if (order[i]->active(p))
			s->chain[s->n_chain++] = order[i];
	room = room < n ? room : n;
	s->at = calloc(room, sizeof *s->at);
	s->scratch = calloc(room, sizeof *s->scratch);
	s->row.id = calloc(n, sizeof *s->row.id);
	s->row.p = calloc(n, sizeof *s->row.p);
	s->count = calloc(n, sizeof *s->count);
	s->history = calloc(SAMPLER_HISTORY, sizeof *s->history);
	s->bias = calloc(p->n_bias + 1, sizeof *s->bias);
	s->raw = calloc(p->n_best >= 0 ? n : 1, sizeof *s->raw);
	s->best = calloc(SAMPLER_BEST_MAX, sizeof *s->best);
	if (!s->at || !s->scratch || !s->row.id || !s->row.p || !s->count || !s->history || !s->bias || !s->raw || !s->best)
		goto no_memory;
	for (i = 0; i < p->n_bias; i++) {
		if (p->bias[i].id < 0 || p->bias[i].id >= n_vocab) {
			why(w, "logit bias: id %" PRId32 " is outside the vocabulary of %" PRId32, p->bias[i].id, n_vocab);
			sampler_close(s);
			return NULL;
		}
		s->bias[i] = p->bias[i];
	}
	return s;
no_memory:
	why(w, "no memory for a vocabulary of %" PRId32, n_vocab);
	sampler_close(s);
	return NULL;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	free(s->at);
	free(s->scratch);
	free(s->row.id);
	free(s->row.p);
	free(s->count);
	free(s->history);
	free(s->bias);
	free(s->raw);
	free(s->best);
	free(s);
}

/* ---- history ---- */

uint32_t sampler_next(const struct sampler *s)
{
	return s->base + (uint32_t)s->n_history;
}

int sampler_history(struct sampler *s, uint32_t pos, const int32_t *ids, size_t n, struct why *w)
{
	size_t i, half = SAMPLER_HISTORY / 2, part;

	for (i = 0; i < n; i++)
		if (ids[i] < 0 || ids[i] >= s->n_vocab)
			return why(w, "id %" PRId32 " is outside the vocabulary of %" PRId32, ids[i], s->n_vocab);
	if (pos != FRAME_APPEND) {
		/* A place that we have not seen, or no longer know, is a new beginning. */
		if (pos < s->base || pos > sampler_next(s)) {
			s->base = pos;
			s->n_history = 0;
		}
		s->n_history = pos - s->base;
	}
	for (; n; n -= part, ids += part) {
		if (s->n_history == SAMPLER_HISTORY) {
			memcpy(s->history, s->history + half, half * sizeof *s->history);
			s->n_history = half;
			s->base += (uint32_t)half;
		}
		part = SAMPLER_HISTORY - s->n_history < n ? SAMPLER_HISTORY - s->n_history : n;
		memcpy(s->history + s->n_history, ids, part * sizeof *ids);
		s->n_history += part;
	}
	return 0;
}

/* ---- candidates ---- */

void candidates_changed(struct candidates *c)
{
	c->has_max = c->has_p = c->has_sum = 0;
}

void candidates_max(struct candidates *c)
{
	float max = -INFINITY;
	size_t i;

	if (c->has_max)
		return;
	for (i = cut_next(c->logit, 0, c->n, max); i < c->n; i = cut_next(c->logit, i + 1, c->n, max))
		max = c->logit[i];
	c->max = max;
	c->has_max = 1;
}

void candidates_weigh(struct candidates *c)
{
	size_t i;

	candidates_max(c);
	if (!c->has_p)
		c->sum = fmath_softmax(c->logit, c->max, c->p, c->n);
	else if (!c->has_sum)
		for (c->sum = 0, i = 0; i < c->n; i++)
			c->sum += c->p[i];
	c->has_p = c->has_sum = 1;
}

void candidates_keep(struct candidates *c, const float *key, struct cut cut)
{
	float low = cut_below(cut.value);
	size_t i, n = 0;

	/* What is kept moves to places at or before its own, so key[i] may be one of the arrays that are written. */
	for (i = cut_next(key, 0, c->n, low); i < c->n; i = cut_next(key, i + 1, c->n, low))
		if (key[i] > cut.value || (cut.ties && cut.ties--)) {
			c->logit[n] = c->logit[i];
			c->id[n] = c->dense ? (int32_t)i : c->id[i];
			if (c->has_p)
				c->p[n] = c->p[i];
			n++;
		}
	c->n = n;
	c->dense = c->has_sum = 0;
}

/* ---- a draw ---- */

/* Puts the row under the chain: NaNs out, +infinity to the largest float. Returns the number of NaNs. */
static size_t enter(struct candidates *c, float *row, size_t n)
{
	float max = -INFINITY;
	size_t i, n_nan = 0;

	for (i = cut_next(row, 0, n, max); i < n; i = cut_next(row, i + 1, n, max))
		if (row[i] != row[i]) {
			row[i] = -INFINITY;
			n_nan++;
		} else {
			max = row[i] = row[i] > FLT_MAX ? FLT_MAX : row[i];
		}
	c->n = n;
	c->dense = 1;
	c->logit = row;
	candidates_changed(c);
	c->max = max;
	c->has_max = 1;
	return n_nan;
}

/* Which candidate u in (0, 1) falls on. */
static size_t draw(struct candidates *c, double u)
{
	double reached = 0;
	size_t i, last = 0;

	candidates_weigh(c);
	u *= c->sum;
	for (i = 0; i < c->n; i++) {
		reached += c->p[i];
		if (reached > u)
			return i;
		/* The sum was rounded in another order: what lies beyond all falls on the last that can come at all. */
		if (c->p[i] > 0)
			last = i;
	}
	return last;
}

/* The log-probabilities of the row as it came; what it takes of them waits for the pick. Returns ln of the sum of e^logit. */
static double log_probabilities(struct sampler *s, struct candidates *c, struct sampler_pick *pick)
{
	double total;
	size_t i;

	candidates_weigh(c);
	total = c->max + fmath_log(c->sum);
	memcpy(s->raw, c->logit, c->n * sizeof *s->raw);
	pick->n_best = cut_best_sorted(s->raw, c->n, (size_t)s->params.n_best, s->at, s->scratch);
	pick->best = s->best;
	for (i = 0; i < pick->n_best; i++)
		s->best[i] = (struct sampler_logprob){ s->at[i], (float)(s->raw[s->at[i]] - total) };
	return total;
}

int sampler_draw(struct sampler *s, float *row, uint32_t position, struct sampler_pick *pick, struct why *w)
{
	struct candidates *c = &s->row;
	double total = 0;
	size_t i;

	*pick = (struct sampler_pick){ .n_nan = enter(c, row, (size_t)s->n_vocab) };
	if (s->params.n_best >= 0 && c->max > -INFINITY)
		total = log_probabilities(s, c, pick);
	for (i = 0; i < s->n_chain; i++) {
		candidates_max(c);
		if (c->max == -INFINITY)
			break;
		s->chain[i]->apply(s, c);
	}
	candidates_max(c);
	if (c->max == -INFINITY)
		return why(w, pick->n_nan ? "no finite logit: %zu are NaN" : "no finite logit", pick->n_nan);
	i = draw(c, rng_real(s->params.seed, position, SAMPLER_DRAW));
	pick->id = c->dense ? (int32_t)i : c->id[i];
	pick->p = (float)(c->p[i] / c->sum);
	if (s->params.n_best >= 0)
		pick->logprob = (float)(s->raw[pick->id] - total);
	return 0;
}
