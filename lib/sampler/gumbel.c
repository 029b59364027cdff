/* gumbel: the largest of logits / T + g, computing g only where needed. u is an odd multiple of 2^-53, and with k =
 * (1 − u)·2^53, g <= −ln(1 − u) = 53 ln 2 − ln k <= 53 ln 2. So a block whose largest logit is too far below the best
 * score is skipped, and in the others nearly all ids are excluded by a comparison of their random bits with those that
 * this logit would need. */
#include "gumbel.h"

#include <float.h>
#include <math.h>

#include "topk.h"
#include "lib/base/fmath.h"
#include "lib/base/size.h"
#include "rng.h"

enum { BITS = 53, BLOCK = 256 };
#define LN2 0.69314718055994531

struct search {
	double temp;
	uint64_t key;
	double best;            /* the score to beat */
	size_t at;              /* its index */
};

static float clamp(float logit)
{
	return logit > FLT_MAX ? FLT_MAX : logit;
}

static double score(const struct search *s, float logit, uint64_t bits)
{
	return clamp(logit) / s->temp - fmath_log(-fmath_log(rng_fraction(bits)));
}

/* The index of the first of the largest; n if there is none. */
static size_t largest(const float *x, size_t n)
{
	float max = -INFINITY, of_block;
	size_t i, first = n;

	for (i = 0; i < n; i += BLOCK) {
		of_block = clamp(topk_max(x + i, size_min(n - i, BLOCK)));
		if (of_block > max) {
			max = of_block;
			first = i;
		}
	}
	for (; first < n && !(x[first] >= max); first++)
		;
	return first;
}

/* The least random bits with which a logit can win; UINT64_MAX: it cannot. If (best − logit / T) / ln 2 is m or more,
 * it wins only with k < 2^(53 − m), that is if the first m bits of u are ones. */
static uint64_t least_bits(const struct search *s, float logit)
{
	/* The margins, a thousandth and a millionth, cover all rounding. */
	double gap = (s->best - clamp(logit) / s->temp - 1e-3 - fabs(s->best) * 1e-6) / LN2;

	if (gap >= BITS)
		return UINT64_MAX;
	return gap >= 1 ? -(UINT64_C(1) << (64 - (int)gap)) : 0;
}

/* Takes logits[i], whose id has these bits, if it is the best. */
static void try(struct search *s, const float *logits, size_t i, uint64_t bits)
{
	double x;

	if (bits < least_bits(s, logits[i]))
		return;
	x = score(s, logits[i], bits);
	if (x > s->best || (x == s->best && i < s->at)) {
		s->best = x;
		s->at = i;
	}
}

/* The first of the ids [i, end) whose bits are at least this as far as hash_mix_first() tells, or end. Most of the time
 * for a row is spent here. */
static size_t next_from(uint64_t least, uint64_t key, size_t i, size_t end)
{
	least = least >> 33 << 33;
	_Pragma("GCC unroll 8")
	for (; i < end; i++)
		if (hash_mix_first((key ^ i) + RNG_STEP) >= least)
			break;
	return i;
}

/* Tries logits [i, end). */
static void try_block(struct search *s, const float *logits, const int32_t *id, size_t i, size_t end)
{
	uint64_t least = least_bits(s, topk_max(logits + i, end - i)), bits;

	if (least == UINT64_MAX)
		return;
	for (; id && i < end; i++)
		if ((bits = rng_at(s->key, (uint32_t)id[i])) >= least)
			try(s, logits, i, bits);
	for (; (i = next_from(least, s->key, i, end)) < end; i++)
		try(s, logits, i, rng_at(s->key, i));
}

int32_t gumbel_among(const float *logits, const int32_t *id, size_t n, float temp, uint64_t seed, uint64_t position)
{
	struct search s = { .temp = temp, .key = rng_key(seed, position), .at = largest(logits, n) };
	size_t i;

	if (s.at == n)
		return -1;
	if (temp <= 0)
		return (int32_t)s.at;
	s.best = score(&s, logits[s.at], rng_at(s.key, id ? (uint32_t)id[s.at] : s.at));
	for (i = 0; i < n; i += BLOCK)
		try_block(&s, logits, id, i, n - i < BLOCK ? n : i + BLOCK);
	return (int32_t)s.at;
}

int32_t gumbel_pick(const float *logits, size_t n, float temp, uint64_t seed, uint64_t position)
{
	return gumbel_among(logits, NULL, n, temp, seed, position);
}
