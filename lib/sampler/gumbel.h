/* gumbel: draws from softmax(logits / T) by taking the largest of logits / T + g, where each id has noise of its own: g
 * = −ln(−ln u), u = rng_real(seed, position, id) (the Gumbel-max trick: Gumbel 1954; Maddison, Tarlow, Minka 2014). The
 * draw depends on seed and position only, needs no sum over the row, and does not depend on earlier draws; so `fwd
 * --chain` and `sample --gumbel` draw the same ids. u has 52 bits: with the 23 of a float the noise would end at
 * 16.6, and ids rarer than one in 10^7 would never come. */
#ifndef GUMBEL_H
#define GUMBEL_H

#include <stddef.h>
#include <stdint.h>

/* The id drawn for `position`: the largest logits[id] / temp + g, computed in doubles; ties go to the lowest id. temp
 * <= 0: the largest logit. A NaN and −infinity never win; +infinity is read as FLT_MAX. -1: no id can be drawn. Noise
 * is computed only for ids that can win, which does not change the result. */
int32_t gumbel_pick(const float *logits, size_t n, float temp, uint64_t seed, uint64_t position);

/* The same among candidates: logits[n] are those of id[n], ascending. Returns an index into them. */
int32_t gumbel_among(const float *logits, const int32_t *id, size_t n, float temp, uint64_t seed, uint64_t position);

#endif
