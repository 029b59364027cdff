/* The samplers that drop candidates and do not change the logits of the rest. */
#include <math.h>
#include <stdint.h>

#include "lib/base/fmath.h"
#include "rng.h"
#include "candidates.h"

/* ---- top_n_sigma ---- */

/* The sum of (x − from)^power, power 1 or 2. */
static double moment(const float *x, size_t n, double from, int power)
{
	double lane[8] = { 0 }, d;
	size_t i;

	for (i = 0; i < n; i++) {
		d = x[i] - from;
		lane[i & 7] += power == 1 ? d : d * d;
	}
	return candidates_add_lanes(lane);
}

void sampler_top_n_sigma(struct sampler *s, struct candidates *c)
{
	double n, mean, sigma;

	candidates_drop_masked(c);
	candidates_max(c);
	n = (double)c->n;
	mean = moment(c->logit, c->n, 0, 1) / n;
	sigma = sqrt(moment(c->logit, c->n, mean, 2) / n);
	candidates_keep(c, c->logit, (struct threshold){ (float)(c->max - s->params.top_n_sigma * sigma), SIZE_MAX });
}

/* ---- top_k ---- */

void sampler_top_k(struct sampler *s, struct candidates *c)
{
	size_t i, n;

	if (c->n <= (size_t)s->params.top_k)
		return;
	n = topk_select(c->logit, c->n, (size_t)s->params.top_k, s->at, s->key);
	for (i = 0; i < n; i++) {
		c->logit[i] = c->logit[s->at[i]];
		c->id[i] = c->dense ? s->at[i] : c->id[s->at[i]];
		c->p[i] = c->p[s->at[i]];
	}
	c->n = n;
	c->dense = c->has_sum = 0;
}

/* ---- typ_p ---- */

/* −ln p − H equals max − l minus its mean, so no logarithm is needed. */
void sampler_typ_p(struct sampler *s, struct candidates *c)
{
	float mean;
	size_t i;

	candidates_drop_masked(c);
	mean = (float)candidates_mean_gap(c);
	for (i = 0; i < c->n; i++)
		s->key[i] = -fabsf(c->max - c->logit[i] - mean);
	candidates_keep(c, s->key, topk_threshold(s->key, c->p, c->n, nextafter(s->params.typical * c->sum, INFINITY)));
	candidates_changed(c);
}

/* ---- top_p ---- */

/* What min_p keeps. */
static struct threshold min_p_limit(const struct sampler *s, const struct candidates *c)
{
	return (struct threshold){ c->max + (float)fmath_log(s->params.min_p), SIZE_MAX };
}

/* Whether top_p would drop only what min_p drops anyway, because what min_p keeps adds up to less than P. Often a part
 * of the rest tells; then most exponentials need not be computed unless the draw needs them. */
static int is_idle(struct sampler *s, struct candidates *c)
{
	struct threshold t = min_p_limit(s, c);
	double kept, enough;
	size_t n;

	n = candidates_gather(c, c->logit, t, s->key);
	kept = fmath_softmax(s->key, c->max, s->key, n);
	/* kept < P·(kept + rest), with a margin for rounding */
	enough = 1.001 * kept * (1 - s->params.top_p) / s->params.top_p;
	return candidates_weigh_until(c, t.value, s->temp_follows ? enough : INFINITY) > enough;
}

void sampler_top_p(struct sampler *s, struct candidates *c)
{
	double target;
	float least;

	if (s->min_p_follows && is_idle(s, c))
		return;
	candidates_weigh(c);
	target = s->params.top_p * c->sum;
	/* Candidates below (1 − P)/n add up to less than 1 − P, so none of them is needed; of a whole vocabulary these
	 * are nearly all. The factor allows for rounding in the sums. */
	least = (float)(0.999 * (c->sum - target) / (double)c->n);
	if (topk_count(c->p, c->n, least) < c->n / 2)
		candidates_keep(c, c->p, (struct threshold){ least, SIZE_MAX });
	candidates_limit(c, topk_threshold(c->logit, c->p, c->n, target));
}

/* ---- min_p ---- */

void sampler_min_p(struct sampler *s, struct candidates *c)
{
	candidates_max(c);
	candidates_limit(c, min_p_limit(s, c));
}

/* ---- xtc ---- */

void sampler_xtc(struct sampler *s, struct candidates *c)
{
	size_t i, above = 0, least = 0;
	double limit;

	if (rng_real(s->params.seed, s->position, SAMPLER_KEY_XTC) > s->params.xtc_probability)
		return;
	candidates_drop_masked(c);
	candidates_weigh(c);
	limit = s->params.xtc_threshold * c->sum;
	for (i = 0; i < c->n; i++)
		if (c->p[i] >= limit && (!above++ || c->logit[i] <= c->logit[least]))
			least = i;
	if (above < 2)
		return;
	for (i = 0; i < c->n; i++)
		s->key[i] = c->p[i] < limit || i == least;
	candidates_keep(c, s->key, (struct threshold){ 1, SIZE_MAX });
	candidates_changed(c);
}
