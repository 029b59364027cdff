/* The samplers that drop candidates and leave the logits of the others alone. */
#include <stdint.h>

#include "fmath.h"
#include "sampler_op.h"

/* ---- top_k ---- */

static int top_k_active(const struct sampler_params *p)
{
	return p->top_k > 0;
}

static void top_k_apply(struct sampler *s, struct candidates *c)
{
	size_t i, n;

	if (c->n <= (size_t)s->params.top_k)
		return;
	n = cut_best(c->logit, c->n, (size_t)s->params.top_k, s->at, s->scratch);
	for (i = 0; i < n; i++) {
		c->logit[i] = c->logit[s->at[i]];
		c->id[i] = c->dense ? s->at[i] : c->id[s->at[i]];
		if (c->has_p)
			c->p[i] = c->p[s->at[i]];
	}
	c->n = n;
	c->dense = c->has_sum = 0;
}

const struct sampler_op sampler_top_k = { "top_k", top_k_active, top_k_apply };

/* ---- top_p ---- */

static int top_p_active(const struct sampler_params *p)
{
	return p->top_p < 1;
}

static void top_p_apply(struct sampler *s, struct candidates *c)
{
	double target, least;

	candidates_weigh(c);
	target = s->params.top_p * c->sum;
	/* Those that come to less than (1 − P)/n each come to less than 1 − P together: they cannot be needed, and out of a whole vocabulary they are
	 * nearly all. The factor is for the rounding of the sums. */
	least = 0.999 * (c->sum - target) / (double)c->n;
	candidates_keep(c, c->p, (struct cut){ (float)least, SIZE_MAX });
	candidates_keep(c, c->logit, cut_at(c->logit, c->p, c->n, target));
}

const struct sampler_op sampler_top_p = { "top_p", top_p_active, top_p_apply };

/* ---- min_p ---- */

static int min_p_active(const struct sampler_params *p)
{
	return p->min_p > 0;
}

static void min_p_apply(struct sampler *s, struct candidates *c)
{
	candidates_max(c);
	candidates_keep(c, c->logit, (struct cut){ c->max + (float)fmath_log(s->params.min_p), SIZE_MAX });
}

const struct sampler_op sampler_min_p = { "min_p", min_p_active, min_p_apply };
