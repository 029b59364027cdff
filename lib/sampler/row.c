/* The candidates of a draw: their largest logit, weights, who is dropped. */
#include <float.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "op.h"

void candidates_changed(struct candidates *c)
{
	c->has_max = c->has_p = c->has_sum = 0;
}

void candidates_max(struct candidates *c)
{
	if (!c->has_max)
		c->max = cut_max(c->logit, c->n);
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

void candidates_divide(struct candidates *c, float t)
{
	float from;
	size_t i;

	candidates_max(c);
	/* From the largest down where it would overflow, however small t is. */
	from = fabsf(c->max / t) > FLT_MAX ? c->max : 0;
	for (i = 0; i < c->n; i++)
		c->logit[i] = (c->logit[i] - from) / t;
	candidates_changed(c);
}

void candidates_living(struct candidates *c)
{
	size_t i, dead = 0;

	for (i = 0; i < c->n; i++)
		dead += c->logit[i] == -INFINITY;
	if (dead)
		candidates_keep(c, c->logit, (struct cut){ -FLT_MAX, SIZE_MAX });
}

/* What is kept moves to places at or before its own, so key may be one of the arrays that are written. */
static size_t keep(struct candidates *c, const float *key, size_t i, size_t end, size_t n, struct cut *cut)
{
	size_t tie;

	for (; i < end; i++) {
		tie = key[i] == cut->value && cut->ties;
		cut->ties -= tie;
		tie += key[i] > cut->value;
		c->logit[n] = c->logit[i];
		c->id[n] = c->dense ? (int32_t)i : c->id[i];
		c->p[n] = c->p[i];
		n += tie;
	}
	return n;
}

void candidates_keep(struct candidates *c, const float *key, struct cut cut)
{
	float low = cut.value > -INFINITY ? cut_below(cut.value) : -INFINITY;
	size_t i, end, n = 0;

	for (i = 0; i < c->n; i = end) {
		if (cut.value > -INFINITY)
			i = cut_next(key, i, c->n, low);
		end = c->n - i < 16 ? c->n : i + 16;
		n = keep(c, key, i, end, n, &cut);
	}
	c->n = n;
	c->dense = c->has_sum = 0;
}

double candidates_depth(struct candidates *c)
{
	double lane[8] = { 0 };
	size_t i, k;

	candidates_weigh(c);
	for (i = 0; i < c->n; i++)
		lane[i & 7] += c->p[i] > 0 ? (double)c->p[i] * (c->max - c->logit[i]) : 0;
	for (k = 4; k; k /= 2)
		for (i = 0; i < k; i++)
			lane[i] += lane[i + k];
	return lane[0] / c->sum;
}

static float bent(const struct sampler_params *p, float logit, int32_t count, float (*bend)(const struct sampler_params *p, float logit, int32_t count))
{
	if (logit == -INFINITY)
		return logit;
	logit = bend(p, logit, count);
	return logit > FLT_MAX ? FLT_MAX : logit < -FLT_MAX ? -FLT_MAX : logit;
}

void candidates_bend(struct sampler *s, struct candidates *c, const int32_t *ids, size_t n,
	float (*bend)(const struct sampler_params *p, float logit, int32_t count))
{
	size_t i;

	if (!c->dense)
		for (i = 0; i < c->n; i++)
			if (s->count[c->id[i]])
				c->logit[i] = bent(&s->params, c->logit[i], s->count[c->id[i]], bend);
	for (i = 0; i < n; i++) {
		if (c->dense && s->count[ids[i]])
			c->logit[ids[i]] = bent(&s->params, c->logit[ids[i]], s->count[ids[i]], bend);
		s->count[ids[i]] = 0;
	}
	candidates_changed(c);
}
