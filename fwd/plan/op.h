/* op: the instructions of a plan. The functions of an op's kind divide its work into work items for the thread pool.
 * An op is bound once to its weights, buffers and sizes; struct step has what changes from batch to batch. struct op
 * has all that others need to know of an op: plan, dump, prefault, limits and profile do not depend on the kinds.
 *
 * To add a kind of op that only one mixer or kind of residual stream has, define it in that file. For one that several
 * share: define its struct op_kind in a new file of this folder; declare it, and the parameters of its ops, in kinds.h;
 * write a builder function that appends it; add the file to OPS in the Makefile. */
#ifndef OP_H
#define OP_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/kernels/kernels.h"
#include "fwd/state/segment.h"

struct value;

/* Rows of floats, [batch][stride]. While a plan is built, `value` says whose rows they are; binding sets the other two
 * (fwd/builder/graph.h). */
struct buffer {
	float *at;
	size_t stride;
	struct value *value;
};

/* What segments keep for each group of `ratio` positions, all layers together (segment_group()). */
enum { GROUPINGS = 2 };

struct grouped {
	size_t ratio;                   /* 0: nothing */
	size_t floats;                  /* per group */
	size_t at[KV_TYPES];            /* offset in the data of an extent */
};


/* Rows prepared for products, once for each kind of activations that one of the products wants. */
struct packed {
	size_t k;                       /* elements of a row */
	/* indexed by enum acts_kind: bit f: a product with weights of format f wants it */
	uint64_t wants[ACTS_KINDS];
	struct acts acts[ACTS_KINDS];   /* n is set for each batch */
	size_t experts;                 /* number of experts, or of heads: acts[].data has the rows of each in turn; 0:
					 * neither */
	struct acts *by_expert[ACTS_KINDS];     /* [experts], set for each batch */
	size_t used;                    /* experts, or heads, per row */
	struct value *value;            /* as in struct buffer */
};

/* The rows of one sequence in a batch. */
struct run {
	struct segment *state;
	size_t n, wanted, after;        /* rows; `wanted` of them get logits, `after` more follow these */
	/* set by the plan: */
	size_t pos;                     /* position of its first row */
	size_t first;                   /* its first row in the batch */
	size_t first_wanted;            /* the same among the wanted rows of all runs */
	size_t text;                    /* positions of the encoder's text, or of a diffusion model's; 0: none */
};

/* Which positions rows see. PAST: those up to their own (in windows, see struct attend). ALL: those of the whole
 * sequence (diffusion models). With an encoder: ENCODER: those of the encoder's text; CROSS: the same, by keys and
 * values that the decoder's layer made of the encoder's result; ANSWER: those from the text's last up to their own. */
enum sight { SIGHT_PAST, SIGHT_ALL, SIGHT_ENCODER, SIGHT_CROSS, SIGHT_ANSWER };

/* One batch, as its ops see it. */
struct step {
	const int32_t *ids;             /* [rows of the batch] */
	const struct run *run;
	size_t n_runs;
	const size_t *pos;              /* position of each row of the batch */
	size_t *first_item;             /* [n_runs]: set by items() of an op whose items are parts of runs, for
					 * step_run() */
	size_t first, n;                /* the op's rows: [first, first + n) of the batch, or of its wanted rows */
	float *logits;                  /* [n][n_vocab], of these rows */

	const struct kernels *k;
	int one_stream;                 /* the CPU has SYSTEM_ONE_STREAM */
	size_t threads;
	unsigned char *scratch;         /* [threads][scratch_bytes] */
	size_t scratch_bytes;
	unsigned char *shared;          /* shared by threads: op->block_bytes for each block of the context */
};

/* The work of an op: bytes of weights, and of K and V, to read once each; multiply-adds of quantised weights with
 * quantised activations (two for one of 16 bits), of floats in products, and of floats in attention. */
struct work {
	double bytes, codes, floats, attention;
};

struct cost {                   /* what an op took, measured while plan->timed */
	double seconds;
	size_t times;                   /* number of runs */
	struct work work;
};

/* What an op does with rows. READ_ALL: it reads all rows of the batch, even if it acts on the wanted rows only.
 * FILL: it makes some of the columns, between those that other ops have made. CHANGE: it reads them and replaces
 * them. SPOIL: it reads them and leaves nothing of use. */
enum use { USE_READ, USE_READ_ALL, USE_MAKE, USE_FILL, USE_CHANGE, USE_SPOIL };

struct routing;

/* A visitor of what an op uses. rows: n floats of each row of x, unless x is constant or not set. packed: packed rows;
 * made with `of`, they are those floats, packed if a product reads them. routing: which experts each row has. */
struct uses {
	void (*rows)(struct uses *u, struct buffer *x, size_t n, enum use use);
	void (*packed)(struct uses *u, struct packed **p, const struct buffer *of, enum use use);
	void (*routing)(struct uses *u, const struct routing *r, enum use use);
};

struct op;

struct op_kind {
	const char *name;

	/* Shows everything that an op with these parameters uses, what it reads first. */
	void (*uses)(void *bound, struct uses *u);

	/* Every row of the batch must be evaluated, because later ones depend on it through the state, or because the
	 * op finds rows by their place in the batch. */
	int all_rows;

	/* Number of items in this step. Called once, before the items run; not called for an op that follows
	 * another. */
	size_t (*items)(const struct op *op, const struct step *s);

	/* Runs one item. Items may run in any order and on any thread. */
	void (*item)(const struct op *op, const struct step *s, size_t item, size_t thread);

	/* Whether item i needs nothing but item i of the op before, so that one thread can run the two in a row.
	 * NULL: never. */
	int (*follows)(const struct op *op, const struct step *s);

	/* Adds the work of this step to *w. NULL: too little to count. */
	void (*work)(const struct op *op, const struct step *s, struct work *w);
};

struct output {                 /* floats that an op outputs: a buffer or, if that is not set, the logits */
	const char *suffix;             /* NULL: none */
	struct buffer from;
	size_t cols;
};

enum { OP_OUTPUTS = 2 };

struct op {
	const struct op_kind *kind;
	void *bound;                    /* parameters: see kinds.h */
	const char *name;               /* what --compare and --profile call it; several in a layer may share one */
	size_t layer;                   /* OP_NO_LAYER: none */
	const char *stack;              /* prefix of the names of the layer's tensors, "enc." or "dec."; usually "" */
	int wanted;                     /* acts on the wanted rows only, which are adjacent */
	const struct matrix *weights;   /* [n_weights], read completely, in this order */
	size_t n_weights;
	size_t scratch;                 /* bytes per thread */
	size_t block_bytes;             /* bytes per block of the context */
	struct output output[OP_OUTPUTS];
	struct cost cost[2];            /* in batches of one row; in batches of several */
};

#define OP_NO_LAYER SIZE_MAX

static inline float *buffer_row(const struct buffer *b, size_t i)
{
	return b->at + i * b->stride;
}

static inline unsigned char *step_scratch(const struct step *s, size_t thread)
{
	return s->scratch + thread * s->scratch_bytes;
}

/* items() for ops with one item per row. */
size_t op_each_row(const struct op *op, const struct step *s);

/* For ops whose items are some of the n channels of a run's rows: their number, and channels [at, at + n) of the item's
 * run. */
enum { CHANNELS_EACH = 128 };
struct run_channels {
	const struct run *run;
	size_t at, n;
};
size_t op_channel_items(const struct step *s, size_t n);
struct run_channels op_channels(const struct step *s, size_t n, size_t item);

/* p[n] = softmax(p), n >= 1. The sum is taken in ascending order. */
void op_softmax(float *p, size_t n);

/* Whether some run of the step has this adapter. */
int step_has_adapter(const struct step *s, size_t adapter);

/* The run that this item belongs to, by s->first_item. */
const struct run *step_run(const struct step *s, size_t item);

/* The batch row that row i of an op stands for, with its run. */
struct batch_row {
	const struct run *run;
	size_t row, pos;
};

struct batch_row step_row(const struct op *op, const struct step *s, size_t i);

#endif
