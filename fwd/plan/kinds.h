/* kinds: the kinds of op that parts of the builder share, and the parameters to which the ops of each are bound. Each
 * kind is defined in a file of this folder. Those that only one mixer or kind of residual stream has are in its file
 * (fwd/mixers, fwd/residual). Private to the builder and to these files. */
#ifndef KINDS_H
#define KINDS_H

#include "fwd/model/model.h"
#include "routing.h"
#include "op.h"

/* x = scale · the embedding of the row's id, + the embedding of its position if positions are learned. */
struct op_embed {
	struct matrix ids, positions;   /* positions.rows 0: none */
	const int32_t *substitute;      /* [n_vocab]: the id whose embedding is used for each; NULL: its own */
	float scale;                    /* of the embedding of an id */
	struct buffer x, spare;         /* spare: for the embedding of the position */
};

/* Computes the cosines and sines of each row's position. */
struct op_angles {
	struct rope *rope;
};

/* What happens to a row between two products, in one pass over the row. Steps in this order, each only if it is set:
 *   branch = norm(branch);  x += scale · branch;  x *= x_scale;  out = f(in);  out = norm(out);  packed = out. */
enum row_function { ROW_SAME, ROW_UNARY, ROW_GLU, ROW_XIELU, ROW_CLAMP, ROW_SPARSE, ROW_TANH, ROW_SOFTMAX,
	ROW_GATES };

struct op_rows {
	size_t n;                       /* elements of out */
	struct buffer x, branch;        /* branch.at NULL: nothing is added */
	struct norm branch_norm;
	float scale;                    /* of branch */
	float x_scale;                  /* 0: x is not multiplied */
	enum row_function f;
	float most;                     /* CLAMP: to [-most, most]; SPARSE: standard deviations, see sparsify() */
	struct buffer in, out;          /* GLU: in is the gate's n elements, then up's, unless `up` is set. SAME without
					 * the other steps, CLAMP, SPARSE, TANH and SOFTMAX work in place */
	struct buffer up;               /* GLU: up's n elements, if they are elsewhere; GATES: the n elements */
	size_t gates;                   /* GATES: number of gates in `in`; each applies to an equal part of the row */
	struct glu_limit limit;         /* GLU */
	enum unary unary;
	struct xielu xielu;
	struct norm norm;
	size_t norms;                   /* number of equal parts of a row that are normed separately; 0: the whole
					 * row */
	int norm_first;                 /* GLU: the norm is of up's n elements, before the product */
	struct packed *packed;          /* or NULL */
};

/* y[n] = f(gate) · up, within the limits. Overwrites up. */
void rows_glu(const struct kernels *k, enum unary f, struct glu_limit limit, float *y, const float *gate, float *up,
	size_t n);

/* y = W · x + bias, for up to PRODUCTS_MAX matrices and the same packed rows. */
enum { PRODUCTS_MAX = 4 };

struct op_product {
	struct packed *x;
	size_t n;                       /* number of products */
	struct matrix w[PRODUCTS_MAX];
	const float *scale[PRODUCTS_MAX];       /* of the product, before the bias: one, [n] for experts, or NULL */
	const float *bias[PRODUCTS_MAX];        /* [w.rows] or NULL; of experts [n][w.rows] */
	const struct routing *routing;  /* w has the matrices of all experts, one after the other; or NULL */
	size_t heads, step;             /* w has a matrix for each head; results are `step` apart; 0: one matrix */
	enum acts_kind kind[PRODUCTS_MAX];      /* ACTS_F32 with quantised weights: they are widened to floats, so that
					 * the only rounding is that of the sums */
	struct buffer y[PRODUCTS_MAX];  /* y.at NULL: the step's logits */
	const size_t *adapter;          /* [n]: the product is left out of steps none of whose runs has this adapter;
					 * NULL: never */
	const struct lora_pair *lora[PRODUCTS_MAX];     /* the adapters' factors of the matrix whose rows w begins with
							 * at row lora_row; or NULL */
	size_t lora_row[PRODUCTS_MAX];
};

/* y += scale · B · low, for up to PRODUCTS_MAX results of a product and the adapters that have factors for them. low is
 * A · x. The scale is that of the adapter for the row's sequence, times `factor`. */
struct op_lora {
	const struct routing *routing;  /* as in the product */
	size_t n, terms;
	size_t rows[PRODUCTS_MAX];
	struct buffer y[PRODUCTS_MAX];
	struct lora_term {
		size_t of;              /* the result */
		size_t adapter;
		float factor;
		struct matrix b;
		struct buffer low;
	} *term;                        /* [terms]: those of a result in the order of the adapters */
};

/* Scratch bytes of each thread. */
size_t lora_scratch(const struct op_lora *o, const struct kernels *k, size_t batch);

/* Attention takes four ops. prepare: norms and rotates q and k. store: writes K and V to the segment. attend: computes
 * the heads' results. join: combines partial results, if threads shared the blocks of one context. */
struct op_attention {
	struct buffer q, k, v;          /* of all heads; q not set: K and V are stored for later; k not set: they are
					 * those of an earlier layer; v not set: see struct attend's v_in_k */
	struct buffer out;              /* [n_head·dim_v] */
	struct attend heads;            /* sizes; what depends on the run is filled in for each work item */
	size_t offset[KV_TYPES];        /* in the data of an extent, by the type of K and V: of the layer's first KV
					 * head */
	struct norm q_norm, k_norm, v_norm;     /* of each head */
	int recent;                     /* the offset is in the data of layers with a window */
	enum sight sight;
	size_t norm_step;               /* floats between the norm weights of adjacent heads; 0: all heads share them */
	int late;                       /* norms come after the rotation */
	size_t rope_at;                 /* the first element of a head that rotates */
	size_t top;                     /* rows that see more positions than this are left to attend_groups; 0: none */
	struct temperature temperature;
	enum rope_pairs pairs;
	const struct rope *rope;        /* or NULL */
};

/* Compressed attention (DeepSeek-AI 2026). A group is `ratio` positions, starting at a multiple of it. Element by
 * element, its compressed row is the weighted sum of the values of its rows. The weights are a softmax of the rows'
 * scores plus a bias for each position in the group. If groups overlap, rows have two halves: the sum is over the
 * second halves of the group's own rows and the first halves of the rows of the group before. Sums are updated row by
 * row, as attention does block by block:
 *   m' = max(m, score);  a = e^(m − m');  c = e^(score − m');  l = l · a + c;  o = o · a + c · value;  the sum is o / l
 * compress: computes a compressed row as soon as its group is complete, and leaves it in the row of the group's last
 * position. */
struct op_compress {
	size_t n, ratio;
	int overlaps;
	const float *position_bias;     /* [ratio][n, or 2n] */
	struct buffer values, scores, out;
	size_t ring, state;             /* offsets in the segment: of the ring of rows; of the state, which is m, l and
					 * o of an incomplete group at a chunk's start */
};

/* keep_group: norms a group's row, rotates it by the group's first position, and stores it in the segment. The keys of
 * an indexer that chooses single positions are stored in the same way, as groups of one. */
struct op_keep_group {
	size_t n, ratio, rope_at;
	struct buffer x;
	struct norm norm;
	enum rope_pairs pairs;
	const struct rope *rope;
	const struct grouped *kept;
	size_t offset;                  /* in what the segment keeps of a group */
};

/* index: in batches of few rows, the scores of the groups that each row sees: the sum over heads of weight · scale ·
 * max(q · k, 0). choose: for each row that sees more than `top`, the numbers of the best (best.h), ascending. In
 * batches of many rows, choose also computes the scores. */
struct op_choose {
	size_t heads, n, top, ratio, rope_at;
	float scale;
	struct buffer q, weight;        /* [heads][n], not yet rotated; [heads] */
	enum rope_pairs pairs;
	const struct rope *rope;
	const struct grouped *kept;     /* the groups' keys, n elements */
	size_t offset;
	int split;                      /* chooses positions, by the scores of their groups; those after the last whole
					 * group rank first */
	size_t block, local;            /* block > 0: each head chooses among groups of this many positions, by the
					 * largest score in each; the last `local` groups rank first */
	struct buffer chosen;           /* [top], or [heads][top], as int32_t */
};

/* attend_groups: attention over compressed rows (all, or the chosen ones) in blocks of ATTEND_BLOCK, then over the
 * blocks of the window, merged in this order. Keys are also values, so the heads' results are rotated back.
 * Without `kept` it attends to groups of `ratio` positions instead, by the layer's own keys and values, and to the
 * positions after the last complete group; there is no window and no rotation back, and rows that see everything are
 * left to op_attend. by_head: each KV head sees groups of its own, which include the row's own group, up to the row. */
struct op_attend_groups {
	struct op_attention attention;
	size_t ratio;                   /* 0: no compressed rows */
	const struct grouped *kept;     /* or NULL */
	size_t offset;
	struct buffer chosen;
	size_t top;                     /* 0: all are seen */
	int by_head;
	int alone;                      /* no rows are left to op_attention */
};

/* Scratch bytes of each thread, for contexts up to n_ctx. choose_index_bytes(): bytes that index needs for each block
 * of the context, shared by threads. */
size_t choose_scratch(const struct op_choose *o, size_t n_ctx);
size_t choose_index_bytes(const struct op_choose *o);
size_t attend_groups_scratch(const struct op_attend_groups *o, const struct kernels *k, size_t n_ctx);

/* Where the segment keeps a compressed row, or an indexer's key: `offset` floats into what it keeps of the group. */
float *grouped_at(const struct grouped *g, const struct segment *state, size_t offset, size_t group);

/* Moves the wanted rows to the front, for ops that act on these alone. */
enum { SELECT_MAX = 8 };

struct op_select {
	size_t buffers;
	struct buffer x[SELECT_MAX];
	size_t n[SELECT_MAX];           /* elements of a row */
};

/* Packs rows for products by head: n elements for each head, `step` apart. */
struct op_head_rows {
	struct buffer in;
	size_t heads, n, step;
	struct packed *packed;
};

/* Copies elements from row to row: n for each head; the heads are from_step and to_step apart. */
enum { COPIES_MAX = 4 };

struct op_copy {
	size_t copies;
	struct copy {
		struct buffer from, to;
		size_t heads, n, from_step, to_step;
	} copy[COPIES_MAX];
};

/* Row i of out = the mean of the wanted rows of run i. */
struct op_mean {
	size_t n;
	struct buffer in, out;
};

/* Scales the step's logits, then caps them by cap · tanh(x / cap). cap 0: not capped. */
struct op_logits {
	size_t n;                       /* logits of a row */
	float scale, cap;
	size_t from, to;                /* these become -FLT_MAX */
};

extern const struct op_kind op_embed, op_angles, op_rows, op_product, op_lora;
extern const struct op_kind op_prepare, op_store, op_attend, op_join, op_select, op_logits;
extern const struct op_kind op_compress, op_keep_group, op_index, op_choose, op_attend_groups;
extern const struct op_kind op_head_rows, op_copy, op_mean;

/* ---- mixtures of experts ---- */

/* Chooses experts by the router's logits, and computes their weights. */
struct op_route {
	struct routing *routing;
	const struct experts *experts;
	struct buffer logits;           /* [experts], overwritten */
	const float *bias;              /* [experts] or NULL */
	const int32_t *by_id;           /* [n_vocab][used], the experts of each id; NULL: the best by score + bias */
};

/* Chooses the adjugates of each row, after op_route and by the same scores: those of the best experts. */
struct op_route_adjugates {
	struct routing *routing;
	const struct experts *adjugates;
	struct buffer scores;           /* [adjugates · stand_for] */
};

/* Packs rows for each expert. gathers: rows of the batch, before the first product; else the rows by place, activated,
 * before the second. */
struct op_expert_rows {
	struct routing *routing;
	size_t n;                       /* elements of a row */
	struct buffer in;               /* gathers: rows of the batch; else by place */
	int gathers, weighted;          /* weighted: rows are multiplied by the slot's weight */
	int plain;                      /* not activated */
	int gated;                      /* glu() of a row's first n elements and the next n; else unary() of n */
	enum unary unary;
	struct glu_limit limit;         /* gated */
	struct packed *packed;
};

/* out = the weighted sum of the results of a row's experts, plus the shared expert's result. */
struct op_combine {
	const struct routing *routing;
	size_t n;
	struct buffer in, out;          /* in: rows by place */
	int unweighted;                 /* inputs were weighted already, or there are no weights */
	int adds;                       /* adds to out instead of overwriting it */
	const float *scale;             /* [experts], multiplies the weights; or NULL */
	struct buffer shared, gate;     /* at NULL: none. gate: one logit per row, whose sigmoid replaces
					 * scale_shared */
	float scale_shared;
};

/* Bytes for the packed rows of `slots` slots, whatever number each expert has. */
size_t expert_acts_bytes(const struct kernels *k, enum acts_kind kind, size_t elements, size_t slots);

/* Reserves n rows for expert or head e, `at` bytes from the start. Returns where the next ones go, in bytes. */
size_t packed_place(const struct packed *p, const struct kernels *k, size_t e, size_t n, enum acts_kind kind,
	size_t at);

extern const struct op_kind op_route, op_route_adjugates, op_expert_rows, op_combine;

/* A work item of prepare and of store: rows [from, to) of the batch, of one run, and a KV head. */
struct kv_rows {
	const struct run *run;
	size_t head, from, to;
};

size_t kv_rows_items(const struct op *op, const struct step *s);      /* items() of both ops */
struct kv_rows kv_rows_of(const struct op_attention *a, const struct step *s, size_t item);

/* Where the segment has K and V of a KV head. */
struct kv_head kv_head_of(const struct op_attention *a, const struct segment *state, size_t head);

#endif
