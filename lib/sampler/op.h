/* op: what one sampler of the chain is, and the row it works on. Private to lib/sampler. */
#ifndef SAMPLER_OP_H
#define SAMPLER_OP_H

#include "cut.h"
#include "sampler.h"

enum { MIROSTAT_TOP = 100 };    /* how many of the largest version 1 looks at */

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
	const struct sampler_op *chain[SAMPLER_KINDS + 1];      /* the active ones, in order */
	size_t n_chain;
	struct candidates row;
	int32_t n_vocab;
	uint32_t position;      /* of the draw */
	float temp;             /* what gumbel divides by */
	int looked;             /* sampler_look() saw this row */
	size_t n_nan;
	float *key;             /* [CUT_SCRATCH(n_vocab)], of whoever needs it */
	int32_t *count;         /* [n_vocab], of penalties and dry; zero between them */
	int32_t *history;       /* [SAMPLER_HISTORY], the last n_history ids; the first of them at position base */
	size_t n_history;
	uint32_t base;
	struct sampler_bias *bias;
	int32_t *at;            /* for cut_best(): as many as anyone asks it for */
	float *raw;             /* [n_vocab] the row as it came, */
	double total;           /* ln of its sum of e^logit, */
	struct sampler_logprob *best;   /* [n_best] and the best of it, where log-probabilities are asked for */
	size_t n_best;
	unsigned char *breaker; /* dry: [n_vocab] enum dry_breaker of each id */
	int32_t *match;         /* dry: [SAMPLER_HISTORY] */
	struct drawn *drawn;    /* mirostat: [SAMPLER_HISTORY], the draws up to here */
	size_t n_drawn;
};

struct sampler_op {
	const char *name;
	int (*active)(const struct sampler_params *p);  /* 0: would change nothing */
	void (*apply)(struct sampler *s, struct candidates *c);
};

extern const struct sampler_op *const sampler_ops[SAMPLER_KINDS];
extern const struct sampler_op sampler_bias, sampler_penalties, sampler_temperature;    /* bend.c: change logits */
extern const struct sampler_op sampler_dry;                                                     /* dry.c: does, too */
extern const struct sampler_op sampler_top_n_sigma, sampler_top_k, sampler_typ_p, sampler_top_p, sampler_min_p, sampler_xtc;    /* drop.c: drop candidates */
extern const struct sampler_op sampler_mirostat;                                                /* mirostat.c: does, too */

/* What dry and mirostat keep; 0, or -1 with the reason. */
int dry_open(struct sampler *s, struct why *w);
int mirostat_open(struct sampler *s);

/* After a draw of probability p. */
void mirostat_learn(struct sampler *s, double p);

/* ---- row.c ---- */

/* Computes what is out of date: max; and p and its sum. */
void candidates_max(struct candidates *c);
void candidates_weigh(struct candidates *c);

/* l = l / t, or (l − max) / t where max / t would overflow. */
void candidates_divide(struct candidates *c, float t);

/* After logits were changed, or the largest of them was dropped. */
void candidates_changed(struct candidates *c);

/* Drops those that take no part. */
void candidates_living(struct candidates *c);

/* Drops all whose key[n] (logit or p, or anything beside them) falls under the cut. */
void candidates_keep(struct candidates *c, const float *key, struct cut cut);

/* The mean of max − logit by their probabilities: H − ln(sum). */
double candidates_depth(struct candidates *c);

/* For each candidate of count > 0: logit = bend(params, logit, count), held to what is finite. ids[n] are all those with a count, maybe several times;
 * their counts are 0 again afterwards. While the row is dense the work is that of the ids, not of the vocabulary. */
void candidates_bend(struct sampler *s, struct candidates *c, const int32_t *ids, size_t n,
	float (*bend)(const struct sampler_params *p, float logit, int32_t count));

#endif
