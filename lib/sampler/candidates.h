/* candidates: the ids that a sampler of the chain works on, and what a sampler is. Private to lib/sampler. */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "sampler.h"
#include "topk.h"

enum { MIROSTAT_TOP = 100 };    /* how many of the largest logits version 1 looks at */

/* The ids that can still be drawn, always in ascending order of id. At first the whole row, "dense": id[i] = i, not
 * written. With a limit, only those are candidates that it selects: they move together when a sampler needs them
 * "settled", and several samplers may have raised the limit by then. */
struct candidates {
	size_t n;
	int dense, limited;     /* limited and has_sum: p[] is settled already */
	struct threshold limit; /* of logit */
	float *logit;           /* [n], the caller's row; −infinity: masked */
	int32_t *id;            /* [n] unless dense */
	float *p;               /* [n] e^(logit − max), after candidates_weigh() */
	float max;              /* of logit */
	double sum;             /* of p */
	int has_max, has_p, has_sum;
};

struct sampler {
	struct sampler_params params;
	const struct sampler_op *chain[SAMPLER_KINDS + 1];      /* the active samplers, in order */
	size_t n_chain;
	struct candidates row;
	int32_t n_vocab;
	uint32_t position;      /* of the id to draw */
	float temp;             /* what the draw divides by */
	int min_p_follows;      /* top_p, */
	int temp_follows;       /* and a constant temperature follows them */
	int prepared;           /* sampler_prepare() was called for this row */
	size_t n_nan, n_infinite;       /* NaNs and +infinities of the current row */
	float *key;             /* [TOPK_SCRATCH(n_vocab)], scratch of any sampler */
	int32_t *count;         /* [n_vocab], of penalties and dry; all zero between them */
	int32_t *history;       /* [history_room] the last n_history ids; the first is at position base */
	size_t n_history, history_room;
	uint32_t base;
	struct sampler_bias *bias;
	int32_t *at;            /* for topk_select(): as many as any sampler asks it for */
	float *raw;             /* [n_vocab] if log-probabilities are wanted: the row as it came, */
	double total;           /* ln of its sum of e^logit, */
	double entropy;         /* if that is wanted, too, */
	struct sampler_logprob *best;   /* [n_best] and its most likely ids */
	size_t n_best;
	void *memory[12];       /* all arrays above except the history and `drawn`, for sampler_close(); empty in a
				 * copy */
	size_t n_memory;
	unsigned char *breaker; /* dry: [n_vocab] enum dry_breaker of each id */
	int32_t *match;         /* dry: [SAMPLER_HISTORY] */
	struct drawn *drawn;    /* mirostat: [drawn_room] the draws so far */
	size_t n_drawn, drawn_room;
};

typedef void sampler_function(struct sampler *s, struct candidates *c);
sampler_function sampler_bias, sampler_penalties, sampler_temperature, sampler_dry;     /* change logits */
sampler_function sampler_top_n_sigma, sampler_top_k, sampler_typ_p, sampler_top_p, sampler_min_p, sampler_xtc,
	sampler_mirostat;                                                               /* drop candidates */

/* The samplers that can be ordered, and the two that cannot. */
enum { SAMPLER_BIAS = SAMPLER_KINDS, SAMPLER_MIROSTAT, SAMPLER_OPS };
extern const struct sampler_op {
	const char *name;
	sampler_function *apply;
	char letter;
	int takes_limited;      /* settled candidates are not needed */
} sampler_ops[SAMPLER_OPS];

/* Whether a sampler would change anything. */
int sampler_is_active(const struct sampler_params *p, unsigned op);

/* Allocates n cleared elements until sampler_close(). NULL: no memory. */
void *sampler_array(struct sampler *s, size_t n, size_t size);

/* Allocates what dry needs. 0, or -1 with the reason. */
int dry_open(struct sampler *s, struct why *w);

/* The number of ids at the end of the history that a sampler looks at if it looks back last_n; −1: all. */
size_t sampler_window(const struct sampler *s, int32_t last_n);

/* Copies the draws of another sampler. -1: out of memory. */
int mirostat_fork(struct sampler *to, const struct sampler *from);

/* Updates μ after a draw of probability p. -1: out of memory. */
int mirostat_update(struct sampler *s, double p);

/* ---- row.c ---- */

/* candidates_max() computes max, candidates_weigh() p and its sum, unless they are up to date. */
void candidates_max(struct candidates *c);
void candidates_weigh(struct candidates *c);

/* l = l / t, or (l − max) / t where max / t would overflow. */
void candidates_divide(struct candidates *c, float t);

/* Call after logits changed, or the largest of them was dropped. */
void candidates_changed(struct candidates *c);

/* Drops the masked candidates. */
void candidates_drop_masked(struct candidates *c);

/* The sum of eight accumulators, in one order everywhere. */
double candidates_add_lanes(double lane[8]);

/* Computes p and its sum, but stops as soon as the p of logits below `least` add up to more than `enough`; returns that
 * sum. */
double candidates_weigh_until(struct candidates *c, float least, double enough);

/* For the draw: computes p and its sum as if the logits were divided by t; with a limit, p[] of the candidates that are
 * left. All else stays as it is. Returns how many candidates there are. */
size_t candidates_weigh_drawn(struct candidates *c, float t);

/* The mean of max − logit, weighted by probability: H − ln(sum). */
double candidates_mean_gap(struct candidates *c);

/* For each candidate with count > 0: logit = adjust(params, logit, count), clamped to finite values. ids[n] are all ids
 * with a count, repetitions allowed; their counts are 0 afterwards. While the row is dense the work is in proportion to
 * n. */
typedef float candidates_adjuster(const struct sampler_params *p, float logit, int32_t count);
void candidates_adjust(struct sampler *s, struct candidates *c, const int32_t *ids, size_t n,
	candidates_adjuster *adjust);

/* ---- keep.c ---- */

/* Keeps the candidates whose key[n] (logit, p, or any parallel array) the threshold selects. */
void candidates_keep(struct candidates *c, const float *key, struct threshold t);

/* Keeps those whose logit the threshold selects, as a limit: candidates_settle() moves them. */
void candidates_limit(struct candidates *c, struct threshold t);
void candidates_settle(struct candidates *c);

/* Moves those of x[n] to y whose logit the threshold selects; y may be x. Returns how many there are. */
size_t candidates_gather(const struct candidates *c, const float *x, struct threshold t, float *y);

/* The id of candidate i, settled or not. */
int32_t candidates_id(const struct candidates *c, size_t i);

#endif
