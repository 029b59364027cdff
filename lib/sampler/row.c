/* The candidates of a draw: their largest logit, their weights, and dropping some of them. */
#include <float.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "candidates.h"

void candidates_changed(struct candidates *c)
{
	c->has_max = c->has_p = c->has_sum = 0;
}

void candidates_max(struct candidates *c)
{
	if (!c->has_max)
		c->max = topk_max(c->logit, c->n);
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
	/* Relative to the largest where the division would overflow. */
	from = fabsf(c->max / t) > FLT_MAX ? c->max : 0;
	for (i = 0; i < c->n; i++)
		c->logit[i] = (c->logit[i] - from) / t;
	candidates_changed(c);
}

void candidates_drop_masked(struct candidates *c)
{
	size_t i, dead = 0;

	for (i = 0; i < c->n; i++)
		dead += c->logit[i] == -INFINITY;
	if (dead)
		candidates_keep(c, c->logit, (struct threshold){ -FLT_MAX, SIZE_MAX });
}

/* Elements only move towards the front, so key may be one of the arrays written. */
static size_t keep(struct candidates *c, const float *key, size_t i, size_t end, size_t n, struct threshold *t)
{
	size_t tie;

	for (; i < end; i++) {
		tie = key[i] == t->value && t->ties;
		t->ties -= tie;
		tie += key[i] > t->value;
		c->logit[n] = c->logit[i];
		c->id[n] = c->dense ? (int32_t)i : c->id[i];
		c->p[n] = c->p[i];
		n += tie;
	}
	return n;
}

void candidates_keep(struct candidates *c, const float *key, struct threshold t)
{
	float low = t.value > -INFINITY ? topk_below(t.value) : -INFINITY;
	size_t i, end, n = 0;

	for (i = 0; i < c->n; i = end) {
		if (t.value > -INFINITY)
			i = topk_next_above(key, i, c->n, low);
		end = c->n - i < 16 ? c->n : i + 16;
		n = keep(c, key, i, end, n, &t);
	}
	c->n = n;
	c->dense = c->has_sum = 0;
}

double candidates_add_lanes(double lane[8])
{
	size_t i, k;

	for (k = 4; k; k /= 2)
		for (i = 0; i < k; i++)
			lane[i] += lane[i + k];
	return lane[0];
}

double candidates_mean_gap(struct candidates *c)
{
	double lane[8] = { 0 };
	size_t i;

	candidates_weigh(c);
	for (i = 0; i < c->n; i++)
		lane[i & 7] += c->p[i] > 0 ? (double)c->p[i] * (c->max - c->logit[i]) : 0;
	return candidates_add_lanes(lane) / c->sum;
}

static float adjusted(const struct sampler_params *p, float logit, int32_t count, candidates_adjuster *adjust)
{
	if (logit == -INFINITY)
		return logit;
	logit = adjust(p, logit, count);
	return logit > FLT_MAX ? FLT_MAX : logit < -FLT_MAX ? -FLT_MAX : logit;
}

void candidates_adjust(struct sampler *s, struct candidates *c, const int32_t *ids, size_t n,
	candidates_adjuster *adjust)
{
	size_t i;

	if (!c->dense)
		for (i = 0; i < c->n; i++)
			if (s->count[c->id[i]])
				c->logit[i] = adjusted(&s->params, c->logit[i], s->count[c->id[i]], adjust);
	for (i = 0; i < n; i++) {
		if (c->dense && s->count[ids[i]])
			c->logit[ids[i]] = adjusted(&s->params, c->logit[ids[i]], s->count[ids[i]], adjust);
		s->count[ids[i]] = 0;
	}
	candidates_changed(c);
}
