/* sampler: builds the chain, runs it and draws; keeps the history for penalties and dry. */
#include "sampler.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "lib/stream/frame.h"
#include "gumbel.h"
#include "rng.h"
#include "lib/base/size.h"
#include "candidates.h"

void sampler_defaults(struct sampler_params *p)
{
	*p = (struct sampler_params){ .n_order = SAMPLER_KINDS, .repeat = 1, .last_n = 64,
		.dry_base = 1.75f, .dry_allowed = 2, .dry_last_n = -1,
		.top_n_sigma = -1, .top_k = 40, .typical = 1, .top_p = 0.95f, .min_p = 0.05f, .xtc_threshold = 0.1f,
		.temp = 0.8f, .temp_exponent = 1, .mirostat_ent = 5, .mirostat_lr = 0.1f, .n_best = -1 };
	for (size_t i = 0; i < SAMPLER_KINDS; i++)
		p->order[i] = (enum sampler_kind)i;
}

/* ---- opening ---- */

static void add(struct sampler *s, unsigned op)
{
	if (sampler_is_active(&s->params, op))
		s->chain[s->n_chain++] = &sampler_ops[op];
}

static void build_chain(struct sampler *s)
{
	const struct sampler_params *p = &s->params;
	size_t i;

	add(s, SAMPLER_BIAS);
	for (i = 0; i < p->n_order && !p->mirostat; i++)
		add(s, p->order[i]);
	if (p->mirostat) {
		s->params.temp_range = 0;
		add(s, SAMPLER_TEMPERATURE);
		add(s, SAMPLER_MIROSTAT);
	}
	for (i = 1; i < s->n_chain && !p->observe; i++)
		if (s->chain[i - 1]->apply == sampler_top_p && s->chain[i]->apply == sampler_min_p) {
			s->min_p_follows = 1;
			s->temp_follows = i + 1 < s->n_chain && s->chain[i + 1]->apply == sampler_temperature
				&& !(p->temp_range > 0);
		}
}

static int take_bias(struct sampler *s, struct why *w)
{
	const struct sampler_params *p = &s->params;
	size_t i;

	for (i = 0; i < p->n_bias; i++) {
		if (p->bias[i].id < 0 || p->bias[i].id >= s->n_vocab)
			return why(w, "logit bias: id %" PRId32 " is outside the vocabulary of %" PRId32, p->bias[i].id,
				s->n_vocab);
		s->bias[i] = p->bias[i];
	}
	return 0;
}

void *sampler_array(struct sampler *s, size_t n, size_t size)
{
	return s->memory[s->n_memory++] = calloc(n, size);
}

/* What every draw leaves as it was is borrowed, if there is a lender. */
static void allocate_scratch(struct sampler *s, const struct sampler *lender)
{
	size_t n = (size_t)s->n_vocab;

	if (lender) {
		s->key = lender->key;
		s->row = lender->row;
		s->count = lender->count;
		return;
	}
	s->key = sampler_array(s, TOPK_SCRATCH(n), sizeof *s->key);
	s->row.id = sampler_array(s, n, sizeof *s->row.id);
	s->row.p = sampler_array(s, n, sizeof *s->row.p);
	s->count = sampler_array(s, n, sizeof *s->count);
}

static int allocate(struct sampler *s, const struct sampler *lender)
{
	const struct sampler_params *p = &s->params;
	size_t n = (size_t)s->n_vocab, most = MIROSTAT_TOP, i;

	most = p->top_k > 0 ? size_max(most, (size_t)p->top_k) : most;
	most = p->n_best > 0 ? size_max(most, (size_t)p->n_best) : most;
	s->at = sampler_array(s, size_min(most, n), sizeof *s->at);
	allocate_scratch(s, lender);
	s->bias = sampler_array(s, p->n_bias + 1, sizeof *s->bias);
	s->raw = sampler_array(s, p->n_best >= 0 ? n : 1, sizeof *s->raw);
	s->best = sampler_array(s, SAMPLER_BEST_MAX, sizeof *s->best);
	for (i = 0; i < s->n_memory && s->memory[i]; i++)
		;
	return i < s->n_memory ? -1 : 0;
}

static struct sampler *open_sampler(const struct sampler_params *p, int32_t n_vocab, const struct sampler *lender,
	struct why *w)
{
	struct sampler *s = calloc(1, sizeof *s);

	why(w, "out of memory for a vocabulary of %" PRId32, n_vocab);
	if (!s)
		return NULL;
	s->params = *p;
	s->n_vocab = n_vocab;
	build_chain(s);
	if (allocate(s, lender) || take_bias(s, w) || (sampler_is_active(p, SAMPLER_DRY) && dry_open(s, w))) {
		sampler_close(s);
		return NULL;
	}
	return s;
}

struct sampler *sampler_open(const struct sampler_params *p, int32_t n_vocab, struct why *w)
{
	return open_sampler(p, n_vocab, NULL, w);
}

struct sampler *sampler_open_beside(const struct sampler *lender, const struct sampler_params *p, struct why *w)
{
	return open_sampler(p, lender->n_vocab, lender, w);
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	while (s->n_memory)
		free(s->memory[--s->n_memory]);
	free(s->history);
	free(s->drawn);
	free(s);
}

/* Makes room for n ids of history; n may be less than there is room for. */
static int reserve(struct sampler *s, size_t n, struct why *w)
{
	while (s->history_room < n)
		if (grow(&s->history, &s->history_room, sizeof *s->history, 1024))
			return why(w, "out of memory for the history");
	return 0;
}

const int32_t *sampler_ids(const struct sampler *s, size_t *n)
{
	*n = s->n_history;
	return s->history;
}

int sampler_remember(struct sampler *s, const struct sampler *from, struct why *w)
{
	if (reserve(s, from->n_history, w))
		return -1;
	if (from->n_history)
		memcpy(s->history, from->history, from->n_history * sizeof *s->history);
	s->n_history = from->n_history;
	s->base = from->base;
	return 0;
}

struct sampler *sampler_fork(const struct sampler *from, uint64_t seed, struct why *w)
{
	struct sampler *s = malloc(sizeof *s);

	if (!s) {
		why(w, "out of memory for a sampler");
		return NULL;
	}
	*s = *from;
	s->n_memory = s->history_room = 0;
	s->history = NULL;
	s->params.seed = seed;
	if (mirostat_fork(s, from) || sampler_remember(s, from, w)) {
		why(w, "out of memory for a sampler");
		sampler_close(s);
		return NULL;
	}
	return s;
}

/* ---- history ---- */

uint32_t sampler_next(const struct sampler *s)
{
	return s->base + (uint32_t)s->n_history;
}

size_t sampler_window(const struct sampler *s, int32_t last_n)
{
	return last_n < 0 ? s->n_history : size_min((size_t)last_n, s->n_history);
}

int sampler_history(struct sampler *s, uint32_t pos, const int32_t *ids, size_t n, struct why *w)
{
	size_t i, half = SAMPLER_HISTORY / 2, part;

	for (i = 0; i < n; i++)
		if (ids[i] < 0 || ids[i] >= s->n_vocab)
			return why(w, "id %" PRId32 " is outside the vocabulary of %" PRId32, ids[i], s->n_vocab);
	if (reserve(s, size_min(s->n_history + n, SAMPLER_HISTORY), w))
		return -1;
	if (pos != FRAME_APPEND) {
		/* A position beyond the history, or before what is left of it, starts a new one. */
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
		part = size_min(SAMPLER_HISTORY - s->n_history, n);
		memcpy(s->history + s->n_history, ids, part * sizeof *ids);
		s->n_history += part;
	}
	return 0;
}

/* ---- a draw ---- */

/* Makes the row the candidates, with NaNs masked and +infinity replaced by the largest float. */
static void take_row(struct sampler *s, float *row)
{
	struct candidates *c = &s->row;
	size_t i, n = (size_t)s->n_vocab;
	float max;
	int finite;

	s->n_nan = s->n_infinite = 0;
	max = topk_max_finite(row, n, &finite);
	for (i = finite ? n : topk_next_above(row, 0, n, FLT_MAX); i < n; i = topk_next_above(row, i + 1, n, FLT_MAX)) {
		s->n_nan += row[i] != row[i];
		s->n_infinite += row[i] == row[i];
		row[i] = row[i] != row[i] ? -INFINITY : FLT_MAX;
	}
	*c = (struct candidates){ .n = n, .dense = 1, .logit = row, .id = c->id, .p = c->p,
		.max = max > FLT_MAX ? FLT_MAX : max, .has_max = 1 };
}

/* The log-probabilities of the best ids, and what it takes to compute that of any other. */
static void log_probabilities(struct sampler *s)
{
	struct candidates *c = &s->row;
	size_t i;

	s->n_best = 0;
	candidates_max(c);
	if (c->max == -INFINITY)
		return;
	candidates_weigh(c);
	s->total = c->max + fmath_log(c->sum);
	if (s->params.entropy)
		s->entropy = fmath_log(c->sum) + candidates_mean_gap(c);
	memcpy(s->raw, c->logit, c->n * sizeof *s->raw);
	s->n_best = topk_sorted(c->logit, c->n, (size_t)s->params.n_best, s->at, s->key);
	for (i = 0; i < s->n_best; i++)
		s->best[i] = (struct sampler_logprob){ s->at[i], (float)(s->raw[s->at[i]] - s->total) };
}

void sampler_prepare(struct sampler *s, float *row)
{
	take_row(s, row);
	if (s->params.n_best >= 0)
		log_probabilities(s);
	s->prepared = 1;
}

static void observe(struct sampler *s, const char *name)
{
	struct candidates *c = &s->row;

	if (!s->params.observe)
		return;
	candidates_settle(c);
	s->params.observe(s->params.observer,
		&(struct sampler_view){ name, c->n, c->dense ? NULL : c->id, c->logit, s->temp });
}

/* Returns -1 if no candidate is left. */
static int run_chain(struct sampler *s)
{
	struct candidates *c = &s->row;
	size_t i;

	if (!s->n_chain || s->chain[0]->apply != sampler_bias)
		observe(s, "logits");
	for (i = 0; i < s->n_chain; i++) {
		candidates_max(c);
		if (c->max == -INFINITY)
			return -1;
		if (!s->chain[i]->takes_limited)
			candidates_settle(c);
		s->chain[i]->apply(s, c);
		observe(s, s->chain[i]->name);
	}
	candidates_max(c);
	return c->max == -INFINITY ? -1 : 0;
}

/* The candidate at which the sum of p in order exceeds u, or the last that is possible. */
static size_t draw_in_order(const struct candidates *c, size_t n, double u)
{
	double reached = 0;
	size_t i, last = 0;

	for (i = 0; i < n; i++) {
		reached += c->p[i];
		if (reached > u)
			return i;
		/* c->sum was added in another order: a u beyond the last sum selects the last that is possible. */
		if (c->p[i] > 0)
			last = i;
	}
	return last;
}

enum { PART = 64, LANES = 8 };

static double sum_of_part(const float *p)
{
	double lane[LANES] = { 0 };
	size_t i, k;

	for (i = 0; i < PART; i += LANES)
		for (k = 0; k < LANES; k++)
			lane[k] += p[i + k];
	return candidates_add_lanes(lane);
}

/* The same, or n: u is so close to a sum that the order of the additions matters. */
static size_t draw_in_parts(const struct candidates *c, size_t n, double u)
{
	/* twice the most by which a sum of n numbers depends on their order */
	double margin = (double)n * 0x1p-51 * c->sum, reached = 0, part;
	size_t i = 0;

	for (; n - i >= PART && reached + (part = sum_of_part(c->p + i)) <= u - margin; i += PART)
		reached += part;
	for (; i < n; i++) {
		reached += c->p[i];
		if (reached > u - margin)
			return reached > u + margin ? i : n;
	}
	return n;
}

/* The candidate that u in (0, 1) selects. */
static size_t draw(struct candidates *c, float temp, double u)
{
	size_t i, n = candidates_weigh_drawn(c, temp);

	u *= c->sum;
	i = draw_in_parts(c, n, u);
	return i < n ? i : draw_in_order(c, n, u);
}

void sampler_look(struct sampler *s, float *row, int32_t id, struct sampler_pick *pick)
{
	sampler_prepare(s, row);
	s->prepared = 0;
	*pick = (struct sampler_pick){ .id = id, .n_nan = s->n_nan, .entropy = s->entropy, .n_best = s->n_best,
		.best = s->best, .logprob = s->row.max == -INFINITY ? -INFINITY : (float)(s->raw[id] - s->total) };
}

int sampler_draw(struct sampler *s, float *row, uint32_t position, struct sampler_pick *pick, struct why *w)
{
	struct candidates *c = &s->row;
	size_t i;

	if (s->prepared)
		candidates_changed(c);
	else
		sampler_prepare(s, row);
	s->prepared = 0;
	s->position = position;
	s->temp = 1;
	*pick = (struct sampler_pick){ .n_nan = s->n_nan, .entropy = s->entropy, .n_best = s->n_best,
		.best = s->best };
	/* +infinity stands out among other logits, but says nothing where all are */
	if (s->n_nan + s->n_infinite == (size_t)s->n_vocab || run_chain(s))
		return why(w, s->n_nan ? "no finite logit: %zu are NaN" : "no finite logit", s->n_nan);
	if (s->params.gumbel) {
		candidates_settle(c);
		i = (size_t)gumbel_among(c->logit, c->dense ? NULL : c->id, c->n, s->temp, s->params.seed, position);
	} else
		i = draw(c, s->temp, rng_real(s->params.seed, position, SAMPLER_KEY_DRAW));
	pick->id = candidates_id(c, i);
	if (s->params.n_best >= 0)
		pick->logprob = (float)(s->raw[pick->id] - s->total);
	if (s->params.mirostat) {
		candidates_weigh(c);
		if (mirostat_update(s, c->p[i] / c->sum))
			return why(w, "out of memory");
	}
	return 0;
}

struct sampler_survivors sampler_survivors(struct sampler *s)
{
	struct candidates *c = &s->row;

	candidates_settle(c);
	candidates_drop_masked(c);
	if (c->dense)
		candidates_keep(c, c->logit, (struct threshold){ -FLT_MAX, SIZE_MAX });
	if (s->temp != 1)
		candidates_divide(c, s->temp);
	s->temp = 1;
	candidates_weigh(c);
	return (struct sampler_survivors){ c->n, c->id, c->p, c->sum };
}
