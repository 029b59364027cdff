/* sampler: draws an id from a row of logits through a chain of samplers. The chain, its default order, defaults and
 * formulas are those that llama.cpp's users know. A draw depends only on the row, the ids before it, the seed and its
 * position (and, with mirostat, on mirostat's earlier draws).
 *
 * Biases come first: l += bias of the id; a bias of −infinity excludes the id. The samplers follow in this order or any
 * other. Each works on the candidates that the one before left, with p = softmax(l) over them and H = −Σ p ln p:
 *   penalties    for each id that occurs c times in the last `last_n`: l = l <= 0 ? l·repeat : l / repeat, then l −=
 *                c·frequency + presence
 *   dry          for each id that would make the last n ids repeat n earlier ids: l −= multiplier·base^(n − allowed) if
 *                n >= allowed; n does not extend beyond the last breaker; base^x is at most FLT_MAX; breaker ids are
 *                exempt
 *   top_n_sigma  keeps l >= l_max − n·σ, σ the standard deviation of the finite logits (of the population); <= 0: off
 *   top_k        keeps the k largest logits; 0: off
 *   typ_p        by ascending |−ln p − H|, keeps the fewest whose p add up to more than P; 1: off
 *   top_p        by descending p, keeps the fewest whose p add up to P or more; 1: off
 *   min_p        keeps l >= l_max + ln(P); 0: off
 *   xtc          if rng_real(seed, position, SAMPLER_KEY_XTC) <= probability: of those with p >= threshold, drops all
 *                but the least likely (ties: keeps the last); off if the threshold is above 1/2 or only one has p >=
 *                threshold
 *   temperature  l = l / T (l_max is subtracted first where l_max / T would overflow); T = 0 keeps only the largest.
 *                With a range r > 0: T = lo + (hi − lo)·(H / ln N)^exponent, lo = max(0, T − r), hi = T + r, N the
 *                number of candidates; a single candidate is left alone
 * With mirostat the chain is bias, temperature (without its range) and mirostat. s is the surprise −log2 p of the drawn
 * id, and μ = 2·ent before the first draw:
 *   version 2    keeps −log2 p <= μ, and always the most likely; after the draw μ −= lr·(s − ent)
 *   version 1    keeps the k largest, k = (ε·2^μ / (1 − N^−ε))^(1/S), ε = S − 1, N the size of the vocabulary, S = Σ
 *                t·b / Σ t² over neighbours among the 100 largest: t = ln((i + 1) / i), i from 1 on, b the difference
 *                of their logits; then as version 2
 * At the end:
 *   draw         with w[i] = e^(l[i] − l_max) over the candidates in ascending order of id: the first at which the sum
 *                of w (added in that order, in doubles) exceeds rng_real(seed, position, SAMPLER_KEY_DRAW)·(sum of all
 *                w), where position is that of the drawn id
 *   or gumbel    as in gumbel.h, among the candidates; T is the temperature if that is the last sampler, otherwise 1
 * Ties go to the lowest id. A NaN is never drawn, and counted; +infinity is read as FLT_MAX; finite logits stay finite.
 * Floats throughout, except sums and means; exp, log and pow are those of lib/base/fmath. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

#define SAMPLER_KEY_DRAW UINT64_MAX     /* in place of an id in rng's key; not ids */
#define SAMPLER_KEY_XTC (UINT64_MAX - 1)
#define SAMPLER_KEY_CERTAINTY (UINT64_MAX - 2)  /* for the sampler's caller */

enum {
	SAMPLER_HISTORY = 1 << 20,      /* ids that penalties and dry remember */
	SAMPLER_BEST_MAX = 1000,        /* see n_best */
	SAMPLER_BREAKER_MAX = 64        /* bytes of a breaker of dry */
};

enum sampler_kind {             /* in the default order */
	SAMPLER_PENALTIES, SAMPLER_DRY, SAMPLER_TOP_N_SIGMA, SAMPLER_TOP_K, SAMPLER_TYP_P, SAMPLER_TOP_P, SAMPLER_MIN_P,
	SAMPLER_XTC, SAMPLER_TEMPERATURE, SAMPLER_KINDS
};

struct sampler_bias {
	int32_t id;
	float bias;             /* finite or −infinity */
};

/* What ends a repetition for dry. */
struct sampler_breakers {
	const int32_t *id;      /* [n_id] */
	size_t n_id;
	const struct sampler_breaker {
		const char *s;
		size_t n;       /* 1 to SAMPLER_BREAKER_MAX */
	} *text;                /* [n_text], anywhere in the text of the ids */
	size_t n_text;
	/* The bytes of an id; called if there are texts. */
	const char *(*piece)(const void *context, int32_t id, size_t *n);
	const void *context;
};

/* The candidates after a sampler, for an observer. */
struct sampler_view {
	const char *name;       /* of the sampler; "logits" for the row as it came, with its biases */
	size_t n;
	const int32_t *id;      /* [n] ascending; NULL: 0 to n − 1 */
	const float *logit;     /* [n]; −infinity: masked */
	float temp;             /* the draw will divide by it: 1, except for gumbel after a temperature */
};

struct sampler_params {
	enum sampler_kind order[SAMPLER_KINDS];
	size_t n_order;
	float repeat, frequency, presence;
	int32_t last_n;         /* of the penalties; −1: all */
	float dry_multiplier, dry_base;
	int32_t dry_allowed, dry_last_n;        /* −1: all */
	/* borrowed by sampler_open() only, except what `text` points to and piece() */
	struct sampler_breakers breakers;
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
	/* log-probabilities of the drawn id and of the n_best most likely, at most SAMPLER_BEST_MAX; −1: none */
	int32_t n_best;
	int entropy;            /* with log-probabilities: compute the entropy of the row, too */
	void (*observe)(void *context, const struct sampler_view *v);   /* called after each sampler, or NULL */
	void *observer;         /* its context */
};

/* The default order with top_k 40, top_p 0.95, min_p 0.05 and temp 0.8, all others off; penalties over the last 64 ids,
 * dry with base 1.75 from 2 ids on; seed 0, no log-probabilities. */
void sampler_defaults(struct sampler_params *p);

/* Sets the order from names ("top_k;temperature"; '-' is read as '_'; "temp", "typical_p" and "typical" are aliases) or
 * letters ("kt": e penalties, d dry, s top_n_sigma, k top_k, y typ_p, p top_p, m min_p, x xtc, t temperature). -1: an
 * unknown sampler, or one named twice. */
int sampler_order(struct sampler_params *p, const char *names, struct why *w);
int sampler_order_letters(struct sampler_params *p, const char *letters, struct why *w);

struct sampler;

/* For a vocabulary of n_vocab ids. Allocates all memory it will ever use but for the history, which grows. NULL: the id
 * of a bias or breaker is outside the vocabulary, or out of memory. */
struct sampler *sampler_open(const struct sampler_params *p, int32_t n_vocab, struct why *w);
void sampler_close(struct sampler *s);

/* The same with other parameters, for other sequences: it borrows the memory that a draw takes, as a fork does. */
struct sampler *sampler_open_beside(const struct sampler *lender, const struct sampler_params *p, struct why *w);

/* A copy with the same history, for another sequence, that draws with this seed. It borrows the memory that a draw
 * takes from the sampler that was opened, which is to be closed last; a draw (from sampler_prepare() on) must be over
 * before another sampler of these begins. NULL: out of memory. */
struct sampler *sampler_fork(const struct sampler *s, uint64_t seed, struct why *w);

/* From now on ids[n] are the ids of the sequence from position pos on (FRAME_APPEND: after the last). The same ids may
 * be given again. -1: an id outside the vocabulary, or out of memory; the history is unchanged. */
int sampler_history(struct sampler *s, uint32_t pos, const int32_t *ids, size_t n, struct why *w);

/* The ids of its history; borrowed until the next call for it. */
const int32_t *sampler_ids(const struct sampler *s, size_t *n);

/* From now on its history is that of `from`. */
int sampler_remember(struct sampler *s, const struct sampler *from, struct why *w);

/* The position after the last id of the history. */
uint32_t sampler_next(const struct sampler *s);

struct sampler_logprob {
	int32_t id;
	float logprob;          /* ln of its softmax in the row as it came, before the chain */
};

struct sampler_pick {
	int32_t id;
	float logprob;          /* if wanted */
	double entropy;         /* in nats, of the row as it came; if wanted */
	size_t n_best;          /* fewer than wanted if fewer ids are possible */
	const struct sampler_logprob *best;     /* the most likely first; borrowed until the next draw */
	size_t n_nan;           /* NaNs in the row */
};

/* Draws the id for `position`. row[n_vocab] is overwritten. -1: no finite logit, or out of memory. */
int sampler_draw(struct sampler *s, float *row, uint32_t position, struct sampler_pick *pick, struct why *w);

/* For callers that mask logits before the draw: called before that, it takes the log-probabilities of the unmasked
 * row. */
void sampler_prepare(struct sampler *s, float *row);

/* What a draw of this id would say of the row: its log-probability, and the best. Nothing is drawn; the row may change.
 * For samplers with n_best >= 0. */
void sampler_look(struct sampler *s, float *row, int32_t id, struct sampler_pick *pick);

/* After a draw: the candidates it was made from. id[n] ascending, of probability weight[i] / sum; borrowed until the
 * next draw. */
struct sampler_survivors {
	size_t n;
	const int32_t *id;
	const float *weight;
	double sum;
};
struct sampler_survivors sampler_survivors(struct sampler *s);

#endif
