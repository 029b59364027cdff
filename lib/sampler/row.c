/* The candidates of a draw: their largest logit, their weights, and dropping some of them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/fmath.h"
#include "candidates.h"

enum { BLOCK = 16 };    /* loops of this length are compiled to vectors */

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

static double add(const float *p, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p[i];
	return sum;
}

void candidates_weigh(struct candidates *c)
{
	candidates_max(c);
	if (!c->has_p)
		c->sum = fmath_softmax(c->logit, c->max, c->p, c->n);
	else if (!c->has_sum)
		c->sum = add(c->p, c->n);
	c->has_p = c->has_sum = 1;
}

/* What is subtracted before a division: the largest where it would overflow. */
static float subtrahend(const struct candidates *c, float t)
{
	return fabsf(c->max / t) > FLT_MAX ? c->max : 0;
}

/* y[n] = (x[n] − from) / t; y may be x. */
static void divide(const float *x, float from, float t, float *y, size_t n)
{
	size_t i, k;
	float v[BLOCK];

	for (i = 0; n - i >= BLOCK; i += BLOCK) {
		for (k = 0; k < BLOCK; k++)
			v[k] = (x[i + k] - from) / t;
		memcpy(y + i, v, sizeof v);
	}
	for (; i < n; i++)
		y[i] = (x[i] - from) / t;
}

void candidates_divide(struct candidates *c, float t)
{
	float from;

	candidates_max(c);
	from = subtrahend(c, t);
	divide(c->logit, from, t, c->logit, c->n);
	candidates_changed(c);
}

/* The end of the part of a row of n that begins at i, while there are 16 elements or more. fmath_softmax() adds in such
 * parts, too, so that they can be summed one by one; what was written just before is still in the cache. */
static size_t part_end(size_t i, size_t n)
{
	return n - i >= 256 ? i + 256 : n - (n - i) % 16;
}

/* The sum of those of p[n] whose x[n] is below `least`; n is a multiple of 8. */
static double sum_below(const float *x, const float *p, size_t n, float least)
{
	double lane[8] = { 0 };
	float part[8];
	size_t i, k;

	for (i = 0; i < n; i += 8) {
		memcpy(part, p + i, sizeof part);
		for (k = 0; k < 8; k++)
			part[k] = x[i + k] < least ? part[k] : 0;
		for (k = 0; k < 8; k++)
			lane[k] += part[k];
	}
	return candidates_add_lanes(lane);
}

double candidates_weigh_until(struct candidates *c, float least, double enough)
{
	double below = 0;
	size_t i, end;

	candidates_max(c);
	c->sum = 0;
	for (i = 0; c->n - i >= 16; i = end) {
		end = part_end(i, c->n);
		c->sum += fmath_softmax(c->logit + i, c->max, c->p + i, end - i);
		below += sum_below(c->logit + i, c->p + i, end - i, least);
		if (below > enough)
			return below;
	}
	for (; i < c->n; i++) {
		c->sum += c->p[i] = fmath_exp(c->logit[i] - c->max);
		below += c->logit[i] < least ? c->p[i] : 0;
	}
	c->has_p = c->has_sum = 1;
	return below;
}

/* p[n] of the logits x[n] divided by t; returns their sum. */
static double weigh_divided(const struct candidates *c, float t, const float *x, float *p, size_t n)
{
	float from = subtrahend(c, t), max = (c->max - from) / t;
	double sum = 0;
	size_t i, end;

	for (i = 0; n - i >= 16; i = end) {
		end = part_end(i, n);
		divide(x + i, from, t, p + i, end - i);
		sum += fmath_softmax(p + i, max, p + i, end - i);
	}
	for (; i < n; i++)
		sum += p[i] = fmath_exp((x[i] - from) / t - max);
	return sum;
}

size_t candidates_weigh_drawn(struct candidates *c, float t)
{
	int weighed = c->has_p && t == 1;
	const float *x = weighed ? c->p : c->logit;
	size_t n = c->n;

	candidates_max(c);
	if (c->limited) {
		n = candidates_gather(c, x, c->limit, c->p);
		x = c->p;
	}
	if (!weighed)
		c->sum = weigh_divided(c, t, x, c->p, n);
	else if (!c->has_sum)
		c->sum = add(c->p, n);
	c->has_p = c->has_sum = 1;
	return n;
}

void candidates_drop_masked(struct candidates *c)
{
	size_t i, dead = 0;

	for (i = 0; i < c->n; i++)
		dead += c->logit[i] == -INFINITY;
	if (dead)
		candidates_keep(c, c->logit, (struct threshold){ -FLT_MAX, SIZE_MAX });
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
