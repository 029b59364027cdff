/* op: the instructions of a plan. Each op is of a kind, whose functions share out its work in pieces, and is bound
 * once to weights, buffers and sizes. What changes from batch to batch is in struct step. struct op says all that
 * others need to know of an op: plan, dump, prefault, limits and profile do not know the kinds.
 *
 * To add a kind of op: one file of this folder, which defines its struct op_kind; a declaration of that and of what
 * its ops are bound to in kinds.h; a function in the builder that appends it; a word in the Makefile's list. */
#ifndef OP_H
#define OP_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/kernels/kernels.h"
#include "fwd/state/segment.h"

struct buffer {                 /* floats, [batch][stride] */
	float *at;
	size_t stride;
};

/* What all layers keep in a segment of each group of `ratio` positions (segment_group()). */
enum { GROUPINGS = 2 };

struct grouped {
	size_t ratio;                   /* 0: there are none */
	size_t floats;                  /* of a group */
	size_t at[KV_TYPES];            /* in the data of an extent */
};

enum { ACTS_KINDS = ACTS_Q16 + 1 };

/* Packed rows of one slot share memory, so each replaces the one before: rows that a norm made; rows between two
 * products of a branch; rows of experts. */
enum slot { SLOT_NORMED, SLOT_BRANCH, SLOT_EXPERTS, SLOTS };

/* Rows made ready for products: once for each kind of activations that one of the products asks for. */
struct packed {
	size_t k;                       /* elements of a row */
	struct buffer rows;             /* the same as floats, until they are overwritten; or not set */
	int wants[ACTS_KINDS];          /* by enum acts_kind */
	struct acts acts[ACTS_KINDS];   /* n is set with each batch */
	size_t experts;                 /* or heads; 0: neither; else acts[].data holds the rows of each in turn */
	struct acts *by_expert[ACTS_KINDS];     /* [experts], set with each batch */
	size_t used;                    /* experts, or heads, of a row */
	enum slot slot;
	struct packed *next;            /* in the plan */
};

/* The rows of one sequence in a batch. */
struct run {
	struct segment *state;
	size_t n, wanted;               /* rows; the last of them, whose logits are asked for */
	/* set by the plan */
	size_t pos;                     /* of its first row */
	size_t first;                   /* its first row in the batch */
	size_t first_wanted;            /* its first wanted row among the wanted rows of all runs */
};

/* One batch, as its ops see it. */
struct step {
	const int32_t *ids;             /* [rows of the batch] */
	const struct run *run;
	size_t n_runs;
	const size_t *pos;              /* [rows of the batch]: their positions */
	size_t *first_piece;            /* [n_runs]: for step_run(); of an op whose pieces are parts of runs */
	size_t first, n;                /* the op acts on rows [first, first + n) of the batch, or of its wanted rows */
	float *logits;                  /* [n][n_vocab], of the op's rows */

	const struct kernels *k;
	size_t threads;
	unsigned char *scratch;         /* [threads][scratch_bytes] */
	size_t scratch_bytes;
	unsigned char *shared;          /* op->block_bytes for each block of the context */
};

/* What an op has to do: bytes to read, of weights and of K and V, each once; multiply-adds of codes with quantised
 * activations, of floats in products, of floats in attention. */
struct work {
	double bytes, codes, floats, attention;
};

struct cost {                   /* what an op has taken, while plan->timed */
	double seconds;
	size_t times;                   /* that it ran */
	struct work work;
};

struct op;

struct op_kind {
	const char *name;

	/* How many pieces the op has in this step. Called once, before them; not for an op that follows another. */
	size_t (*pieces)(const struct op *op, const struct step *s);

	/* Does one piece: at any time, in any order, on any thread. */
	void (*piece)(const struct op *op, const struct step *s, size_t piece, size_t thread);

	/* Whether piece i needs no more than piece i of the op before, so that one thread can do the two in turn.
	 * NULL: never. */
	int (*follows)(const struct op *op, const struct step *s);

	/* Adds what there is to do in this step. NULL: nothing worth counting. */
	void (*work)(const struct op *op, const struct step *s, struct work *w);
};

struct output {                 /* floats that an op leaves: of a buffer or, where that is not set, of the logits */
	const char *suffix;             /* NULL: none */
	struct buffer from;
	size_t cols;
};

enum { OP_OUTPUTS = 2 };

struct op {
	const struct op_kind *kind;
	void *bound;                    /* what the kind acts on: see kinds.h */
	const char *name;               /* within its layer */
	size_t layer;                   /* OP_NO_LAYER: in none */
	int wanted;                     /* acts on the wanted rows only, which lie together */
	const struct matrix *weights;   /* [n_weights], read from end to end in this order */
	size_t n_weights;
	size_t scratch;                 /* bytes for each thread */
	size_t block_bytes;             /* for each block of the context */
	struct output output[OP_OUTPUTS];
	struct cost cost[2];            /* in batches of one row, and of several */
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

/* Pieces of `each` that cover n. */
static inline size_t op_pieces(size_t n, size_t each)
{
	return (n + each - 1) / each;
}

/* The pieces() of an op whose pieces are rows. */
size_t op_each_row(const struct op *op, const struct step *s);

/* p[n] = the softmax of p, n at least 1; the sum is made in ascending order. */
void op_softmax(float *p, size_t n);

/* The run that a piece is part of, as s->first_piece says, which pieces() has set. */
const struct run *step_run(const struct step *s, size_t piece);

/* The row of the batch that row i of an op is about, and its run. */
struct batch_row {
	const struct run *run;
	size_t row, pos;
};

struct batch_row step_row(const struct op *op, const struct step *s, size_t i);

#endif
