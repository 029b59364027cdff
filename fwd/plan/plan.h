/* plan: the forward pass of one model as a flat table of ops (op.h), built once with every weight and buffer bound, then replayed for each batch
 * with four things patched: its ids, its position (and with it how much of K and V there is to see), how many of its rows are wanted, and where
 * their logits go. Nothing is allocated, locked or looked up by name in a replay. */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/measure/dump.h"
#include "fwd/model/model.h"
#include "op.h"
#include "fwd/state/segment.h"

enum { ARITHMETIC = 1 };        /* for segments: a new number with any change to a bit of K or V */

struct tally {                  /* what an op has cost, while plan->timed */
	double seconds;
	size_t runs;
	struct work work;
};

struct label {                  /* what an op is called, and the time it took: beside the table, so that the hot one stays small */
	const char *name;
	size_t layer;           /* LABEL_NONE: in no layer */
	struct tally decode, prompt;    /* in batches of one row, and of several */
};

#define LABEL_NONE SIZE_MAX

struct plan {
	struct model *model;            /* borrowed */
	size_t batch;                   /* rows of a batch, at most */
	struct op *op;
	struct label *label;
	size_t n_ops, n_body;           /* op[n_body ...]: the head, from x to logits */
	int timed;
	struct dump *dump;              /* what each op makes is written there; or NULL */
	int (*enough)(void);            /* asked before each op of plan_append(); or NULL */

	/* private */
	struct step step;
	struct rope rope;               /* of the batch's positions; not open where the model has none */
	struct kv_head *kv;             /* [n_layer][n_head_kv] */
	struct buffer x, branch, h, wide;       /* residual stream; a branch's result; normed rows, and heads' outputs; q, k and v, and n_ff wide */
};

/* The segment's shape for this model; kv_type of enum kv_type. */
struct segment_shape plan_shape(const struct model *m, uint32_t kv_type, size_t n_ctx);

/* Binds weights and buffers; batch from 1. NULL and one line why not. */
struct plan *plan_open(struct model *m, const struct kernels *k, struct pool *pool, size_t batch, struct why *w);

/* Binds the K and V of a segment, which must outlive the plan, and prepares the rotations for its context. Before the first replay. */
int plan_bind(struct plan *p, const struct segment *s, struct why *w);
void plan_close(struct plan *p);

/* Evaluates ids[n], n from 1 to batch, all in the vocabulary, after what counts in the segment that is bound, which has room for them; then they count,
 * too. wanted: the last rows, for which plan_logits() may be called. 0; -1 where enough() said so, and none of them counts. */
int plan_append(struct plan *p, struct segment *s, const int32_t *ids, size_t n, size_t wanted);

/* What plan_append() of n ids at this position, and plan_logits() of the wanted rows, have to do; the floats of attention are left out: what counts as
 * the least that a model asks for is its matrices, and K and V as bytes. */
struct work plan_work(const struct plan *p, size_t pos, size_t n, size_t wanted);

/* logits[n][n_vocab] of rows [row, row + n) of the batch evaluated last. */
void plan_logits(struct plan *p, size_t row, size_t n, float *logits);

#endif
