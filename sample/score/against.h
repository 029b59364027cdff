/* against: compares the predictions of two streams for the same tokens: those of a base model, and those of the same
 * model with other weights. Both are read side by side, and only the values that percentiles need are kept: two floats
 * a prediction. */
#ifndef AGAINST_H
#define AGAINST_H

#include "figures.h"
#include "lib/sampler/positions.h"

struct values {                 /* kept for percentiles */
	float *x;               /* [n] */
	size_t n, room;
};

struct against {
	/* set by the caller */
	uint32_t chunk;                 /* see perplexity_counts() */
	int as_json;

	/* private */
	struct mean kl;                 /* of the base from the other, nats */
	struct values kls;              /* each */
	struct mean delta, delta_squares;       /* of a token's probability: the other's less the base's; its square */
	struct values deltas;
	struct mean ratio;              /* ln of the ratio of perplexities: differences of log-probabilities */
	struct mean nll, base_nll;
	size_t compared, same_best;
	double most;                    /* the largest |difference| of two logits, or of log-probabilities of scores */
	int differ, rows;               /* some bits do; both streams hold logits */
	uint32_t seq, pos;              /* of the first prediction that does */
};

/* Reads both streams to the end and prints the figures. 1: some bits of the predictions differ; 0: none do; -1: a
 * damaged stream, or streams that are not about the same tokens. */
int against_run(struct against *a, struct positions *base, struct positions *other, struct why *w);

#endif
