/* sampler_op: what one sampler of the chain is, and the row it works on. Private to lib/sampler*.c. */
#ifndef SAMPLER_OP_H
#define SAMPLER_OP_H

#include "cut.h"
#include "sampler.h"

/* Who is still in, always in ascending order of id. At first the whole row, id[i] = i, which is not written out: dense. */
struct candidates {
	size_t n;
	int dense;
	float *logit;           /* [n], the caller's row; −infinity takes no part */
	int32_t *id;            /* [n] unless dense */
	float *p;               /* [n] e^(logit − max), once candidates_weigh() was called */
	float max;              /* of logit */
	double sum;             /* of p */
	int has_max, has_p, has_sum;
};

struct sampler {
	struct sampler_params params;
	const struct sampler_op *chain[16];     /* the active ones, in order */
	size_t n_chain;
	struct candidates row;
	int32_t n_vocab;
	int32_t *at;            /* for cut_best(): as many as top_k and n_best take */
	float *scratch;
	int32_t *count;         /* [n_vocab], of the penalties; zero between draws */
	int32_t *history;       /* [SAMPLER_HISTORY], the last n_history ids; the first of them at position base */
	size_t n_history;
	uint32_t base;
	struct sampler_bias *bias;
	float *raw;             /* [n_vocab] the row as it came, and */
	struct sampler_logprob *best;   /* [n_best], where log-probabilities are asked for */
};

struct sampler_op {
	const char *name;
	int (*active)(const struct sampler_params *p);  /* 0: would change nothing */
	void (*apply)(struct sampler *s, struct candidates *c);
};

extern const struct sampler_op sampler_bias, sampler_penalties, sampler_temperature;    /* sampler_bend.c: change logits */
extern const struct sampler_op sampler_top_k, sampler_top_p, sampler_min_p;             /* sampler_drop.c: drop candidates */

/* Computes what is out of date: max; and p and its sum. */
void candidates_max(struct candidates *c);
void candidates_weigh(struct candidates *c);

/* After logits were changed. */
void candidates_changed(struct candidates *c);

/* Drops all whose key[n] (logit or p, or anything beside them) falls under the cut. */
void candidates_keep(struct candidates *c, const float *key, struct cut cut);

#endif
