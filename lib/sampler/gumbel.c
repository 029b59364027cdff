/* gumbel: the largest of logits / T + g, computing g only where needed. u is an odd multiple of 2^-53, so g <= 53 ln 2;
 * and with k = (1 − u)·2^53, g <= −ln(1 − u) = 53 ln 2 − ln k. These two bounds exclude all but a few ids of a
 * vocabulary by one comparison each. */
#include "gumbel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "topk.h"
#include "lib/base/fmath.h"
#include "rng.h"

enum { BITS = 53 };
#define LN2 0.69314718055994531

struct search {
	double temp;
	uint64_t key;
	double best;            /* the score to beat */
	size_t at;              /* its index */
	/* low[b]: no logit <= low[b] wins if (1 − u)·2^53 has b bits or more; low[0]: for any u */
	float low[BITS + 1];
};

static float clamp(float logit)
{
	return logit > FLT_MAX ? FLT_MAX : logit;
}

static double score(const struct search *s, float logit, uint64_t bits)
{
	return clamp(logit) / s->temp - fmath_log(-fmath_log(rng_fraction(bits)));
}

static void set_best(struct search *s, double best, size_t at)
{
	int b;

	s->best = best;
	s->at = at;
	for (b = 0; b <= BITS; b++) {
		/* The margins, a thousandth and a millionth, cover all rounding here. */
		s->low[b] = (float)((best - (BITS + 1 - (b ? b : 1)) * LN2 - 1e-3) * s->temp);
		s->low[b] -= fabsf(s->low[b]) * 1e-6f;
	}
}

/* A lower bound of the number of bits of (1 − u)·2^53. */
static int bits_of_rest(uint64_t bits)
{
	double rest = (double)(~bits >> 11);    /* or one less than it is */
	uint64_t u;

	memcpy(&u, &rest, sizeof u);
	return u ? (int)(u >> 52) - 1022 : 0;
}

/* The index of the first of the largest; n if there is none. */
static size_t largest(const float *x, size_t n)
{
	float max = clamp(topk_max(x, n));
	size_t i;

	if (max == -INFINITY)
		return n;
	for (i = topk_next_above(x, 0, n, topk_below(max)); !(x[i] >= max);
		i = topk_next_above(x, i + 1, n, topk_below(max)))
		;
	return i;
}

int32_t gumbel_among(const float *logits, const int32_t *id, size_t n, float temp, uint64_t seed, uint64_t position)
{
	struct search s = { .temp = temp, .key = rng_key(seed, position) };
	size_t i, end, max = largest(logits, n);
	uint64_t bits;
	double x;

	if (max == n)
		return -1;
	if (temp <= 0)
		return (int32_t)max;
	set_best(&s, score(&s, logits[max], rng_at(s.key, id ? (uint32_t)id[max] : max)), max);
	for (i = topk_next_above(logits, 0, n, s.low[0]); i < n; i = topk_next_above(logits, end, n, s.low[0]))
		for (end = n - i < 16 ? n : i + 16; i < end; i++) {
			bits = rng_at(s.key, id ? (uint32_t)id[i] : i);
			if (!(logits[i] > s.low[bits_of_rest(bits)]))
				continue;
			x = score(&s, logits[i], bits);
			if (x > s.best || (x == s.best && i < s.at))
				set_best(&s, x, i);
		}
	return (int32_t)s.at;
}

int32_t gumbel_pick(const float *logits, size_t n, float temp, uint64_t seed, uint64_t position)
{
	return gumbel_among(logits, NULL, n, temp, seed, position);
}
