/* plan: the forward pass of some layers of a model as a flat table of ops (op.h). It is built once, with every weight
 * and buffer bound, and run for each batch. A batch is a list of runs: the rows of one sequence each. Running a plan
 * allocates nothing, takes no lock and looks nothing up by name. */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/model/model.h"
#include "fwd/run/pool.h"
#include "fwd/state/segment.h"
#include "lib/stream/frame.h"
#include "op.h"

enum { PLAN_ALIGN = 64 };       /* bytes: alignment of plan_memory() */

struct plan_setup {
	const struct kernels *kernels;
	struct pool *pool;
	size_t batch;                   /* maximum rows of a batch or, where texts are evaluated as a whole, of a text;
					 * at least 1 */
	size_t first, last;             /* layers [first, last): layer 0 brings the embedding, the last layer the
					 * head */
	int embeds;                     /* the head makes embeddings, pooled in this way, instead of logits */
	enum pooling pooling;
	int lens;                       /* keep the residual stream after each layer, for plan_lens(); only for all
					 * layers */
};

/* Rows that pass between plans that divide the layers: some columns of up to PLAN_PARTS values, side by side. */
enum { PLAN_PARTS = 4 };

struct plan_parts {
	struct buffer rows[PLAN_PARTS];
	size_t n[PLAN_PARTS];           /* floats of each */
	size_t parts, width;            /* their number; floats in all */
};

/* Which rows of a text its embedding is made of. */
enum text_rows { TEXT_ALL, TEXT_FIRST, TEXT_LAST };

struct plan {
	struct model *model;            /* borrowed, as are kernels and pool */
	struct plan_setup setup;
	struct op *op;
	size_t n_encoder;               /* op[0 .. n_encoder) are the encoder */
	size_t n_ops, n_body;           /* op[n_body] and on are the head: from x to logits */
	/* Of a plan that makes embeddings: ops from this one on act on one row for each run; the rows of a text that
	 * must be wanted; floats of an embedding. */
	size_t n_pooled;
	enum text_rows rows;
	size_t n_embedding;
	int timed;                      /* measure op->cost */
	/* Called after each op, when its outputs are complete; or NULL. */
	void (*after_op)(void *context, const struct plan *p, const struct op *op);
	void *after_op_context;
	int (*cancelled)(void *context);        /* polled between ops of plan_step(); or NULL */
	void *cancel_context;

	/* private */
	struct buffer x;                /* what the head reads: a row for each wanted row */
	struct buffer embedding;        /* a row for each run or, without pooling, for each wanted row */
	struct buffer *lens;            /* with setup.lens: [n_layer], what the head would read after each layer: all
					 * rows or, after the last layer, the wanted ones */
	struct plan_parts in, out;      /* what comes from the plan before, and what goes to the next */
	struct step step;
	struct run *runs;               /* [batch], of the current step */
	size_t *pos;                    /* [batch], of the current step */
	struct rope *ropes;             /* a list */
	uint64_t layout;                /* hash of the layout of segments */
	struct segment_heads heads[2][SEGMENT_SIZES];   /* of this layout: see segment.h */
	size_t extent_bytes[KV_TYPES], recent_bytes[KV_TYPES];  /* size of an extent's data; of that of layers with a
					 * window */
	size_t window;                  /* largest window, in positions */
	struct grouped grouped[GROUPINGS];      /* of compressed rows, by ratio */
	size_t row_bytes, state_floats; /* sizes of what recurrent layers keep */
	int keeps_current;              /* some layer has a state that each row replaces (segment.h) */
	void *memory;                   /* all that plan_memory() returned: a list */
	struct text_buffers {
		int32_t *whole, *decoder;       /* [batch]: ids of whole texts; of the decoder's rows */
		struct run *runs;               /* [batch]: the runs of these */
	} texts;                        /* where texts are evaluated as a whole, and of models with an encoder */
};

/* Frees a plan that build_plan() made (fwd/builder/builder.h). */
void plan_close(struct plan *p);

/* Allocates n · size bytes, aligned to PLAN_ALIGN and not cleared. The plan frees them. NULL if memory is short. */
void *plan_memory(struct plan *p, size_t n, size_t size);

/* The shape of the segments of these layers, for this context. kv_type is of enum kv_type. */
struct segment_shape plan_shape(const struct plan *p, size_t n_ctx, uint32_t kv_type);

/* Prepares for positions below n_ctx. Call once, before the first step. Returns -1 with a reason if memory is short or
 * RoPE's angles would be out of range. */
int plan_bind(struct plan *p, size_t n_ctx, struct why *w);

/* Evaluates the rows of run[n_runs], 1 to batch rows in all, ids being those of all rows, below n_vocab. The rows of a
 * run follow the valid rows of its state, where segment_reserve() must have made room; afterwards they are valid, too.
 * If a state's `next` is below its length, its valid rows from `next` on are evaluated again first. A plan without
 * layer 0 evaluates the rows that split_take() set (split.h), which are those from `next` on. With an encoder, rows of
 * its text but the last are not evaluated and cannot be wanted; the last one evaluates the encoder first, for which all
 * positions up to it must be prepared (fork.h). Of whole texts, all rows of the states are evaluated, so all must be
 * prepared, and count for the batch. Returns 0, or -1 if cancelled: lengths are then as before, and `next` may
 * be lower. */
int plan_step(struct plan *p, const int32_t *ids, const struct run *run, size_t n_runs);

/* Computes logits[n][n_vocab] of rows [row, row + n) of those that the last step wanted. */
void plan_logits(struct plan *p, size_t row, size_t n, float *logits);

/* Whether all rows of a text are evaluated together: in diffusion models, and for embeddings. */
int plan_takes_whole_texts(const struct plan *p);

/* Computes the embeddings of the texts of the last step, whose rows p->rows must be the wanted ones. Row i is that of
 * run i or, without pooling, of wanted row i; n_embedding floats, valid up to the next step. */
void plan_embed(struct plan *p);
const float *plan_embedding(const struct plan *p, size_t i);

/* From now on, plan_logits() applies the head to the residual stream that the last step had after this many layers,
 * from 1 to all. */
void plan_lens(struct plan *p, size_t layers);

/* For bench: the work of a step of these runs, each at its pos, and of its logits. */
struct work plan_work(const struct plan *p, const struct run *run, size_t n_runs);

#endif
