/* sampler: a row of logits to one id, through a chain of samplers. The chain, its order, its defaults and its formulas are those that llama.cpp's
 * users know; a draw depends on nothing but the row, the ids before it, the seed and its position.
 *
 * In this order, each on what the one before has left:
 *   bias         l += bias of the id; an id of bias −infinity never comes
 *   penalties    for each id that stands c times in the last `last_n`: l = l <= 0 ? l·repeat : l / repeat, then l −= c·frequency + presence
 *   top_k        the k largest logits; 0: off
 *   top_p        by descending probability, as far as their sum is >= P, the id that reaches it included; 1: off
 *   min_p        l >= l_max + ln(P); 0: off
 *   temperature  l = (l − l_max) / T, which gives the probabilities of l / T; T = 0: the largest alone
 *   draw         with w[i] = e^(l[i] − l_max) over the survivors in ascending order of id, the first at which the sum of w (added up in that order, as
 *                doubles) exceeds rng_real(seed, position, SAMPLER_DRAW)·(sum of all w); position is that of the id drawn
 * Wherever logits are equal the lowest id wins. A NaN never wins and is counted; +infinity counts as FLT_MAX. All floats but for the sums; exp and
 * log are lib/fmath's. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "why.h"

#define SAMPLER_DRAW UINT64_MAX         /* where an id stands in rng's key; no id */

enum {
	SAMPLER_HISTORY = 1 << 20,      /* ids that the penalties can look back on */
	SAMPLER_BEST_MAX = 1000         /* see n_best */
};

struct sampler_bias {
	int32_t id;
	float bias;             /* finite or −infinity */
};

struct sampler_params {
	float temp, top_p, min_p;
	float repeat, frequency, presence;
	int32_t top_k;
	int32_t last_n;         /* of the penalties; −1: all */
	uint64_t seed;
	const struct sampler_bias *bias;        /* added in this order; borrowed by sampler_open() only */
	size_t n_bias;
	int32_t n_best;         /* log-probabilities of the pick and of this many best ids, at most SAMPLER_BEST_MAX; −1: none, not even the pick's */
};

/* temp 0.8, top_k 40, top_p 0.95, min_p 0.05, penalties off with a window of 64, seed 0, no log-probabilities. */
void sampler_defaults(struct sampler_params *p);

struct sampler;

/* For a vocabulary of n_vocab ids, all memory that it will ever take included. NULL: a bias outside the vocabulary, or no memory. */
struct sampler *sampler_open(const struct sampler_params *p, int32_t n_vocab, struct why *w);
void sampler_close(struct sampler *s);

/* The ids of the sequence from position pos on are these now (FRAME_APPEND: after what is there). The same ids may be told twice. -1: an id outside
 * the vocabulary, none is taken. */
int sampler_history(struct sampler *s, uint32_t pos, const int32_t *ids, size_t n, struct why *w);

/* The position after the last id told. */
uint32_t sampler_next(const struct sampler *s);

struct sampler_logprob {
	int32_t id;
	float logprob;          /* ln of its softmax in the row as it came, before the chain */
};

struct sampler_pick {
	int32_t id;
	float p;                /* its probability among the survivors */
	float logprob;          /* where asked for */
	size_t n_best;          /* fewer than asked for where fewer ids are possible */
	const struct sampler_logprob *best;     /* the likeliest first; borrowed until the next draw */
	size_t n_nan;           /* NaNs in the row */
};

/* Draws the id that will stand at `position`. row[n_vocab] is scratch afterwards. -1: no finite logit. */
int sampler_draw(struct sampler *s, float *row, uint32_t position, struct sampler_pick *pick, struct why *w);

#endif
