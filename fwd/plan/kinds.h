/* kinds: the kinds of op, and what the ops of each are bound to. One file of this folder defines each kind. Private to
 * the builder and to these files. */
#ifndef KINDS_H
#define KINDS_H

#include "fwd/model/rope.h"
#include "op.h"

/* x = the embedding of each id, plus that of its position where positions are learned. */
struct op_embed {
	struct matrix ids, positions;   /* positions.rows 0: none */
	struct buffer x, spare;         /* spare: for the row of a position */
};

/* Cosines and sines of each row's position. */
struct op_angles {
	struct rope *rope;
};

/* What happens to a row between two products, in one pass over it and in this order, each part where it is set:
 *   x += branch;  out = f(in);  packed = out. */
enum row_function { ROW_SAME, ROW_NORM, ROW_UNARY, ROW_GLU };

struct op_rows {
	size_t n;                       /* elements of out */
	struct buffer x, branch;        /* branch.at NULL: nothing is added */
	enum row_function f;
	struct buffer in, out;          /* SAME: out is in. GLU: in holds the gate's n elements, then the other n */
	struct norm norm;
	enum unary unary;
	struct packed *packed;          /* or NULL */
};

/* Products of the same packed rows: y = W·x, plus a bias. */
enum { PRODUCTS_MAX = 3 };

struct op_product {
	struct packed *x;
	size_t n;                       /* products */
	struct matrix w[PRODUCTS_MAX];
	const float *bias[PRODUCTS_MAX];        /* [w.rows] or NULL */
	enum acts_kind kind[PRODUCTS_MAX];
	struct buffer y[PRODUCTS_MAX];  /* at NULL: the step's logits */
};

/* Attention is four ops. prepare: norms and rotation of q and k; store: K and V into the state; attend: what the heads
 * make of the values; join: the same put together, where threads shared the blocks of one context. */
struct op_attention {
	struct buffer qkv, out;         /* q of all heads, then k, then v; out: [n_head·dim_v] */
	struct attend heads;            /* sizes; what belongs to a run is filled in for each piece */
	size_t layer;                   /* in the state */
	struct norm q_norm, k_norm;     /* the same for each head */
	enum rope_pairs pairs;
	const struct rope *rope;        /* or NULL */
};

/* The wanted rows of a buffer, moved to its front. */
struct op_select {
	struct buffer x;
	size_t n;                       /* elements of a row */
};

extern const struct op_kind op_embed, op_angles, op_rows, op_product;
extern const struct op_kind op_prepare, op_store, op_attend, op_join, op_select;

/* What one piece of prepare and of store is about: rows [from, to) of the batch, of one run, and a KV head. */
struct kv_rows {
	const struct run *run;
	size_t head, from, to;
};

size_t kv_rows_pieces(const struct op *op, const struct step *s);
struct kv_rows kv_rows_of(const struct op_attention *a, const struct step *s, size_t piece);

#endif
