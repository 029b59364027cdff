/* plan: the forward pass of some layers of a model as a flat table of ops (op.h), built once with every weight and
 * buffer bound, then replayed for each batch. A batch is a list of runs, the rows of one sequence each. Nothing is
 * allocated, locked or looked up by name in a replay. */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/model/model.h"
#include "fwd/run/pool.h"
#include "fwd/state/segment.h"
#include "mixture.h"
#include "op.h"

enum { ARITHMETIC = 2 };        /* for segments: a new number with any change to a bit of K or V */

enum { PLAN_ALIGN = 64 };       /* bytes: of plan_memory() */

struct plan_setup {
	const struct kernels *kernels;
	struct pool *pool;
	size_t batch;                   /* rows of a batch, at most; from 1 */
	size_t first, last;             /* layers [first, last); with layer 0 the embedding, with the last the head */
	int lens;                       /* the residual stream after each layer is kept, for plan_lens(); all layers */
};

struct plan {
	struct model *model;            /* borrowed, as are kernels and pool */
	struct plan_setup setup;
	struct op *op;
	size_t n_ops, n_body;           /* op[n_body ...]: the head, from x to logits */
	int timed;                      /* op->cost is kept */
	/* Called after each op, whose outputs are complete; or NULL. */
	void (*after_op)(void *context, const struct plan *p, const struct op *op);
	void *after_op_context;
	int (*cancelled)(void *context);        /* asked between the ops of plan_step(); or NULL */
	void *cancel_context;

	/* private */
	struct buffer x;                /* the residual stream, or all of them side by side (model->n_streams) */
	struct buffer *lens;            /* [n_layer], of setup.lens: x after each layer, of the last its wanted rows */
	struct step step;
	struct run *runs;               /* [batch], of the step */
	size_t *pos;                    /* [batch], of the step */
	struct rope *ropes;             /* a list */
	uint64_t layout;                /* hash of what a segment holds, layer by layer */
	struct segment_heads heads[2][SEGMENT_SIZES];   /* of it: see segment.h */
	size_t extent_bytes[KV_TYPES], recent_bytes[KV_TYPES];  /* of an extent's data; of layers with a window */
	size_t window;                  /* positions that these see, at most */
	struct grouped grouped[GROUPINGS];      /* of compressed rows, by ratio */
	size_t row_bytes, state_floats; /* of recurrent layers */
	int scanned;                    /* some are scanned (segment.h) */
	struct packed *packed;          /* a list */
	void *memory;                   /* all of plan_memory(): a list */
	struct mixture mixture;         /* of the experts, if the model has any */
	struct latent_buffers {
		struct buffer q_low, q;         /* low-rank queries; queries before keys are absorbed */
		struct buffer low, kv;          /* the latent row; keys and values, or the heads' values */
	} latent;
	struct compressed_buffers {
		struct buffer q_low;            /* low-rank queries */
		struct buffer rows, made;       /* values and scores of rows to be compressed; compressed rows */
		struct buffer low;              /* of the groups of heads' results */
	} compressed;
	struct indexer_buffers {
		struct buffer q, weight, key;   /* [heads][dim]; [heads]; [dim] */
		struct buffer rows;             /* keys to be averaged, and scores of 0, which weigh them alike */
		struct buffer chosen;           /* [top], or [heads][top], of int32_t */
	} indexer;
	struct adapter_buffers {
		uint16_t *switched;             /* [n_vocab]: the adapter that an id switches on; 0: none */
		struct routing routing;         /* of rows to adapters */
		struct buffer low, out;         /* of deltas: between their two products; made */
	} adapters;
	struct buffer carried;          /* values of the first layer (RWKV 7), or x after the embedding */
	struct buffer predicted, modes; /* of several streams: all of them once more; weights of each */
	struct buffer per_layer, per_layer_ids;         /* the layers' own inputs; the part that the ids make */
	struct buffer branch, h, wide;  /* a branch's result; normed rows, heads' outputs; q, k and v, or n_ff wide */
};

/* Frees what build_plan() made (fwd/builder/builder.h). */
void plan_close(struct plan *p);

/* n · size bytes, aligned to PLAN_ALIGN, not cleared, freed with the plan; NULL if memory is short. */
void *plan_memory(struct plan *p, size_t n, size_t size);

/* The shape of the state of these layers for this context; kv_type of enum kv_type. */
struct segment_shape plan_shape(const struct plan *p, size_t n_ctx, uint32_t kv_type);

/* Prepares for positions below n_ctx. Once, before the first step. */
int plan_bind(struct plan *p, size_t n_ctx, struct why *w);

/* Evaluates the rows of run[n_runs], 1 to batch in all, after the valid rows of each one's state, where
 * segment_reserve() has made room for them; then these are valid too. Before them, where a state's next is below its
 * length, the valid rows from there on are evaluated again. ids: of all rows, in the vocabulary. A plan without layer 0
 * evaluates the rows that split_take() set (split.h), which are those from next on. 0; -1 if cancelled, and none of
 * them is valid. */
int plan_step(struct plan *p, const int32_t *ids, const struct run *run, size_t n_runs);

/* logits[n][n_vocab] of rows [row, row + n) of those that the last step wanted. */
void plan_logits(struct plan *p, size_t row, size_t n, float *logits);

/* From here on plan_logits() gives what the head makes of the residual stream of the last step after this many layers,
 * 1 to all. */
void plan_lens(struct plan *p, size_t layers);

/* What there is to do for a step of these runs, each at its pos, and for its logits. */
struct work plan_work(const struct plan *p, const struct run *run, size_t n_runs);

#endif
