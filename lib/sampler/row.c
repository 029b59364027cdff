/* The candidates of a draw: their largest logit, their weights, and dropping some of them. */
#include <float.h>
#include <math.h>

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
	size_t i, k;

	candidates_max(c);
	/* Relative to the largest where the division would overflow. */
	from = fabsf(c->max / t) > FLT_MAX ? c->max : 0;
	for (i = 0; c->n - i >= BLOCK; i += BLOCK)
		for (k = 0; k < BLOCK; k++)
			c->logit[i + k] = (c->logit[i + k] - from) / t;
	for (; i < c->n; i++)
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

/* Moves those of the candidates [i, end) that the threshold selects to n and on; returns the end of what was moved.
 * Elements only move towards the front, so key may be one of the arrays written. */
static size_t keep(struct candidates *c, const float *key, size_t i, size_t end, size_t n, struct threshold *t)
{
	size_t tie;

	for (; i < end; i++) {
		tie = key[i] == t->value && t->ties;
		t->ties -= tie;
		tie += key[i] > t->value;
		c->logit[n] = c->logit[i];
		c->id[n] = c->id[i];
		c->p[n] = c->p[i];
		n += tie;
	}
	return n;
}

/* The same for a block without ties. */
static size_t keep_above(struct candidates *c, const float *key, size_t i, size_t n, float value)
{
	float *logit = c->logit, *p = c->p;
	int32_t *id = c->id;
	size_t k, above;

	for (k = i; k < i + BLOCK; k++) {
		above = key[k] > value;
		logit[n] = logit[k];
		id[n] = id[k];
		p[n] = p[k];
		n += above;
	}
	return n;
}

/* Writes the ids of a block of a dense row. */
static void number(int32_t *id, size_t i)
{
	for (size_t k = 0; k < BLOCK; k++)
		id[i + k] = (int32_t)(i + k);
}

void candidates_keep(struct candidates *c, const float *key, struct threshold t)
{
	uint32_t above, from;   /* how many of a block are above the value, and from it on */
	size_t i, k, n = 0;

	for (i = 0; c->n - i >= BLOCK; i += BLOCK) {
		for (above = from = k = 0; k < BLOCK; k++) {
			above += key[i + k] > t.value;
			from += key[i + k] >= t.value;
		}
		if (!from)
			continue;
		if (c->dense)
			number(c->id, i);
		if (above == BLOCK && n == i)
			n += BLOCK;
		else if (from > above)
			n = keep(c, key, i, i + BLOCK, n, &t);
		else
			n = keep_above(c, key, i, n, t.value);
	}
	for (k = i; c->dense && k < c->n; k++)
		c->id[k] = (int32_t)k;
	c->n = keep(c, key, i, c->n, n, &t);
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
