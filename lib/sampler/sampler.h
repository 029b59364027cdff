/* sampler: a row of logits to one id, through a chain of samplers. The chain, its default order, its defaults and its formulas are those that llama.cpp's
 * users know; a draw depends on nothing but the row, the ids before it, the seed and its position (and, with mirostat, on its own draws before it).
 *
 * The bias comes first: l += bias of the id; an id of bias −infinity never comes. Then, in this order or any other, each on what the one before has left,
 * with p = softmax(l) over that and H = −Σ p ln p:
 *   penalties    for each id that stands c times in the last `last_n`: l = l <= 0 ? l·repeat : l / repeat, then l −= c·frequency + presence
 *   dry          for each id that would make the last n ids a repetition of n ids before: l −= multiplier·base^(n − allowed) where n >= allowed;
 *                n goes back to the last breaker and no further, base^x is at most FLT_MAX, an id that is a breaker alone is exempt
 *   top_n_sigma  l >= l_max − n·σ, σ the standard deviation of the finite logits (of the population); <= 0: off
 *   top_k        the k largest logits; 0: off
 *   typ_p        by ascending |−ln p − H|, as far as it takes for the sum of p to exceed P; 1: off
 *   top_p        by descending p, as far as their sum is >= P, the id that reaches it included; 1: off
 *   min_p        l >= l_max + ln(P); 0: off
 *   xtc          if rng_real(seed, position, SAMPLER_KEY_XTC) <= probability: of those with p >= threshold all but the least likely (of equals: the last)
 *                go; off where the threshold is above 1/2 or one id is left
 *   temperature  l = l / T (l_max is subtracted before where l_max / T would overflow); T = 0: the largest alone. With a range r > 0:
 *                T = lo + (hi − lo)·(H / ln N)^exponent, lo = max(0, T − r), hi = T + r, N = how many are left; one alone stays as it is
 * With mirostat, bias, temperature (without its range) and this alone, s being the surprise −log2 p of what is drawn, μ = 2·ent before the first draw:
 *   version 2    −log2 p <= μ, the likeliest in any case; after the draw μ −= lr·(s − ent)
 *   version 1    the k largest, k = (ε·2^μ / (1 − N^−ε))^(1/S), ε = S − 1, N the vocabulary, S = Σ t·b / Σ t² over neighbours among the 100 largest:
 *                t = ln((i + 1) / i), i from 1 on, b = the difference of their logits; then as version 2
 * And then
 *   draw         with w[i] = e^(l[i] − l_max) over the survivors in ascending order of id, the first at which the sum of w (added up in that order, as
 *                doubles) exceeds rng_real(seed, position, SAMPLER_KEY_DRAW)·(sum of all w); position is that of the id drawn
 *   or gumbel    gumbel.h's, among the survivors; a temperature that stands last in the chain is its T, and otherwise it is 1
 * Wherever logits are equal the lowest id comes first. A NaN never wins and is counted; +infinity counts as FLT_MAX; what was finite stays so. All floats
 * but for sums and means; exp, log and pow are lib/fmath's. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

#define SAMPLER_KEY_DRAW UINT64_MAX     /* where an id stands in rng's key; no ids */
#define SAMPLER_KEY_XTC (UINT64_MAX - 1)

enum {
	SAMPLER_HISTORY = 1 << 20,      /* ids that the penalties can look back on */
	SAMPLER_BEST_MAX = 1000,        /* see n_best */
	SAMPLER_BREAKER_MAX = 64        /* bytes of a breaker of dry */
};

enum sampler_kind {             /* in the default order */
	SAMPLER_PENALTIES, SAMPLER_DRY, SAMPLER_TOP_N_SIGMA, SAMPLER_TOP_K, SAMPLER_TYP_P, SAMPLER_TOP_P, SAMPLER_MIN_P, SAMPLER_XTC, SAMPLER_TEMPERATURE,
	SAMPLER_KINDS
};

struct sampler_bias {
	int32_t id;
	float bias;             /* finite or −infinity */
};

/* What dry does not look back beyond. */
struct sampler_breakers {
	const int32_t *id;      /* [n_id] */
	size_t n_id;
	const struct sampler_breaker {
		const char *s;
		size_t n;       /* 1 to SAMPLER_BREAKER_MAX */
	} *text;                /* [n_text], wherever they stand in the text that the ids make */
	size_t n_text;
	const char *(*piece)(const void *context, int32_t id, size_t *n);       /* the bytes of an id; called where there are texts */
	const void *context;
};

/* Who is still in after a sampler, for those who watch. */
struct sampler_view {
	const char *name;       /* of the sampler; "logits" for what came, after the bias */
	size_t n;
	const int32_t *id;      /* [n] ascending; NULL: 0 to n − 1 */
	const float *logit;     /* [n]; −infinity takes no part */
	float temp;             /* the draw will divide by it: 1, but for gumbel after a temperature */
};

struct sampler_params {
	enum sampler_kind order[SAMPLER_KINDS];
	size_t n_order;
	float repeat, frequency, presence;
	int32_t last_n;         /* of the penalties; −1: all */
	float dry_multiplier, dry_base;
	int32_t dry_allowed, dry_last_n;        /* −1: all */
	struct sampler_breakers breakers;       /* borrowed by sampler_open() only, but for what `text` points to and piece() */
	float top_n_sigma;
	int32_t top_k;
	float typical, top_p, min_p;
	float xtc_probability, xtc_threshold;
	float temp, temp_range, temp_exponent;
	int mirostat;           /* 0, 1 or 2 */
	float mirostat_ent, mirostat_lr;
	int gumbel;
	uint64_t seed;
	const struct sampler_bias *bias;        /* added in this order; borrowed by sampler_open() only */
	size_t n_bias;
	int32_t n_best;         /* log-probabilities of the pick and of this many best ids, at most SAMPLER_BEST_MAX; −1: none, not even the pick's */
	void (*watch)(void *context, const struct sampler_view *v);     /* called after each sampler; changes nothing; NULL: nobody */
	void *watch_context;
};

/* The default order with top_k 40, top_p 0.95, min_p 0.05 and temp 0.8, all others off; penalties with a window of 64, dry with base 1.75 from 2 ids on;
 * seed 0, no log-probabilities. */
void sampler_defaults(struct sampler_params *p);

/* The order by names ("top_k;temperature"; '-' is as good as '_', "temp", "typical_p" and "typical" are known) or by letters ("kt": e penalties, d dry,
 * s top_n_sigma, k top_k, y typ_p, p top_p, m min_p, x xtc, t temperature). -1: no such sampler, or one named twice. */
int sampler_order(struct sampler_params *p, const char *names, struct why *w);
int sampler_order_letters(struct sampler_params *p, const char *letters, struct why *w);

struct sampler;

/* For a vocabulary of n_vocab ids, all memory that it will ever take included. NULL: an id of a bias or a breaker outside the vocabulary, or no memory. */
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
	float logprob;          /* where asked for */
	size_t n_best;          /* fewer than asked for where fewer ids are possible */
	const struct sampler_logprob *best;     /* the likeliest first; borrowed until the next draw */
	size_t n_nan;           /* NaNs in the row */
};

/* Draws the id that will stand at `position`. row[n_vocab] is scratch afterwards. -1: no finite logit. */
int sampler_draw(struct sampler *s, float *row, uint32_t position, struct sampler_pick *pick, struct why *w);

/* For who sets logits to −infinity before the draw (a grammar): called before that, the log-probabilities are those of the row as it was. */
void sampler_look(struct sampler *s, float *row);

/* After a draw: whom it was made among. id[n] ascending, probability weight[i] / sum; borrowed until the next draw. */
struct sampler_left {
	size_t n;
	const int32_t *id;
	const float *weight;
	double sum;
};
struct sampler_left sampler_left(struct sampler *s);

#endif
