/* gumbel: a draw from softmax(logits / T) as the largest of logits / T + g, where each id has its own noise g = −ln(−ln u), u = rng_real(seed, position,
 * id) (the Gumbel-max trick: Gumbel 1954; Maddison, Tarlow, Minka 2014). It depends on the place alone, needs no sum over the row, and what one step drew
 * the next need not know: so `fwd --chain` and `sample --gumbel` draw the same ids. u has 52 bits: with the 23 of rng_unit() the noise would end at 16.6
 * and ids rarer than one in 10^7 would never come. */
#ifndef GUMBEL_H
#define GUMBEL_H

#include <stddef.h>
#include <stdint.h>

/* The id that stands at `position`: the largest logits[id] / temp + g, in doubles; of equals the lowest. temp <= 0: the largest logit. A NaN and
 * −infinity never win, +infinity counts as FLT_MAX. -1: no id can. Ids that cannot win are passed over without computing their noise; the result is
 * the same. */
int32_t gumbel_pick(const float *logits, size_t n, float temp, uint64_t seed, uint64_t position);

/* The same among some ids alone, id[n], ascending; the index in them. */
int32_t gumbel_among(const float *logits, const int32_t *id, size_t n, float temp, uint64_t seed, uint64_t position);

#endif
