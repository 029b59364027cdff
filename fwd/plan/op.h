/* op: the instructions of a plan, and the running of one. An op is bound once to its weights and buffers; what changes from batch to batch stands
 * in struct step, which every op reads. Rows of a buffer are rows of the batch. An op acts on rows [first, first + n): all of the batch, or,
 * behind the last attention, only those whose logits are wanted. Private to the plan. */
#ifndef OP_H
#define OP_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/kernels/kernels.h"
#include "fwd/run/pool.h"
#include "fwd/model/rope.h"

struct buffer {                 /* floats, [batch][stride] */
	float *at;
	size_t stride;
};

enum { ACTS_KINDS = ACTS_Q16 + 1, PARTS = 3 };

enum op_code { OP_EMBED, OP_ROWS, OP_PRODUCT, OP_ATTEND };

/* x = the embedding of each id, plus that of its position where these are learned. */
struct op_embed {
	struct matrix ids, positions;   /* positions.rows 0: none */
	struct buffer x, spare;         /* spare: a position's row */
};

/* What happens to a row between two products, in one pass over it, in this order; each part is left out where it is not set:
 *   x += branch;  out = f(in);  pack out for the next product. */
enum rows_function { ROWS_SAME, ROWS_NORM, ROWS_UNARY, ROWS_GLU };

struct op_rows {
	size_t n;                       /* elements of out */
	struct buffer x, branch;        /* branch.at NULL: nothing is added */
	enum rows_function f;
	struct buffer in, out;          /* SAME: out is in. GLU: in holds the gate's n elements, then the other n */
	enum norm_kind norm;
	const float *weight, *bias;     /* [n] or NULL */
	float eps;
	enum unary unary;
	int pack[ACTS_KINDS];           /* which kinds the next products want */
};

/* Up to three products of the same packed rows: y = W·x, plus a bias. */
struct part {
	struct matrix w;
	const float *bias;              /* [w.rows] or NULL */
	enum acts_kind kind;
	struct buffer y;                /* at NULL: the step's logits */
};

struct op_product {
	size_t n_parts;
	struct part part[PARTS];
};

/* From the q, k and v of each row to the heads' outputs: norms of q and k heads, rotation, K and V into the cache, attention. */
struct op_attend {
	struct buffer qkv, out;         /* q of all heads, then k, then v; out: [n_head·dim_v] */
	struct attend heads;            /* sizes and type; q, out and pos are filled in for each step */
	const float *q_norm, *k_norm;   /* [dim_k], the same for each head, or NULL */
	float eps;
	enum rope_pairs pairs;
	size_t n_rot;
	const struct rope *rope;        /* or NULL */
	struct kv_head *kv;             /* [n_head_kv] of this layer */
	int tail;                       /* K and V are stored for the whole batch, attention is for the wanted rows only */
};

struct op {
	enum op_code code;
	int tail;                       /* acts on the wanted rows only */
	union {
		struct op_embed embed;
		struct op_rows rows;
		struct op_product product;
		struct op_attend attend;
	};
};

/* What is patched from batch to batch, and what all ops share. */
struct step {
	const int32_t *ids;             /* [n] */
	size_t n, pos;                  /* rows of the batch; position of row 0 */
	size_t wanted;                  /* the last rows, whose logits are asked for */
	float *logits;                  /* [rows of the op][n_vocab] */

	const struct kernels *k;
	struct pool *pool;
	struct acts acts[ACTS_KINDS];   /* by enum acts_kind: the rows packed last */
	unsigned char *scratch;         /* for each thread */
	size_t scratch_bytes;
	unsigned char *parts;           /* of the blocks of a few rows' attention, for all KV heads and the whole context */
};

/* Runs one op on rows [first, first + n), n at least 1; returns when it is done. */
void op_run(struct step *s, const struct op *op, size_t first, size_t n);

/* What an op has to do: bytes of weights and of K and V to read once; multiply-adds, of codes with quantised activations and of floats. */
struct work {
	double bytes, codes, floats;
};

/* Adds the work of op_run() on n rows. */
void op_work(const struct step *s, const struct op *op, size_t n, struct work *w);

#endif
