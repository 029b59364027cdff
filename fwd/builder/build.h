/* build: what the builder's files share: tensors of the current layer, new ops. After a failure all functions do
 * nothing. Pointers that they return belong to the plan or the model. */
#ifndef BUILD_H
#define BUILD_H

#include "builder.h"
#include "fwd/plan/kinds.h"

/* ---- tensors of the layer, by their names without "blk.N."; suffix "": the name has none ---- */

struct tensor_name {
	char s[96];
};

/* The name in the file. */
struct tensor_name build_name(const struct builder *b, const char *name, const char *suffix);

/* NAME.weight[rows × cols], as it is in the file. */
void build_matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out);

/* NAME.SUFFIX[n] as floats. NULL after a failure: the file lacks it, or it has another shape. */
const float *build_vector(struct builder *b, const char *name, const char *suffix, size_t n);

/* The same of n rows of `cols` elements, as cols rows of n. */
const float *build_transposed(struct builder *b, const char *name, const char *suffix, size_t n, size_t cols);

/* x[n] with each element repeated `times` times. */
const float *build_repeated(struct builder *b, const float *x, size_t n, size_t times);

const float *build_bias(struct builder *b, const char *name, size_t n);         /* NULL where the file has none */
struct norm build_norm_of(struct builder *b, const char *name, size_t n);       /* the family's kind of norm */

/* ---- ops ---- */

/* Memory of the plan, not cleared. NULL after a failure, also of this call. */
void *build_allocate(struct builder *b, size_t size);

/* A new op at the end of the plan, with a copy of what it is bound to. NULL after a failure. name NULL: the kind's. */
struct op *build_append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound,
	size_t size);

/* Output i of an op (which may be NULL), for --dump-tensors. */
void build_leaves(struct op *op, size_t i, const char *suffix, struct buffer from, size_t cols);

static inline struct buffer buffer_at(struct buffer b, size_t column)
{
	b.at += column;
	return b;
}

static inline struct buffer buffer_with(struct buffer b, size_t stride)
{
	b.stride = stride;
	return b;
}

/* ---- products ---- */

enum precision { NARROW, WIDE };        /* of quantised activations: see acts_kind in kernels.h */

/* One more product of the rows o->x, with W[rows × their elements]. */
void build_add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t rows,
	struct buffer y);

/* Appends them; the results lie side by side from y[0] on. */
void build_products(struct builder *b, const char *name, const struct op_product *o);

/* A single one; the op has the tensor's name. */
void build_product(struct builder *b, struct packed *x, const char *name, enum precision wide, size_t rows,
	struct buffer y);

/* Adds what the adapters of rows make of them to products of the same packed rows, which lie side by side from y[0]
 * on. Nothing where the model has no adapters. */
struct product_rows {
	const char *name;
	size_t rows;
};

void build_deltas(struct builder *b, const struct packed *x, const struct product_rows *products, size_t n,
	struct buffer y);

/* A single one with a matrix for each head: o.n elements of each, o.step apart, to `rows` each, to_step apart. */
void build_by_head(struct builder *b, const char *name, struct op_head_rows o, size_t rows, struct buffer to,
	size_t to_step);

/* ---- rows ---- */

/* Packed rows of k elements, to be filled by an op. */
struct packed *build_packed(struct builder *b, size_t k, enum slot slot);

/* An op over rows that packs its result, in o->packed. */
struct op *build_packing(struct builder *b, const char *name, struct op_rows *o, enum slot slot);

/* Rows of n elements packed as they are. */
struct packed *build_pack(struct builder *b, const char *name, struct buffer x, size_t n, enum slot slot);

/* Rows for the products of the experts to which routing sends them. */
struct packed *build_expert_rows(struct builder *b, const char *name, struct op_expert_rows o);

/* Rows of n elements, normed in place. */
void build_norm_rows(struct builder *b, const char *name, struct buffer x, size_t n);

/* to = from, n elements of each row. */
void build_copy(struct builder *b, const char *name, struct buffer from, struct buffer to, size_t n);

/* The RMS norm of x with weight[n_embd] / divisor, packed, where no branch is pending. */
struct packed *build_scaled_norm(struct builder *b, const char *name, const float *weight, float divisor);

/* Adds the pending branch to x now. */
void build_add_branch(struct builder *b);

/* After a mixer without attention, which made n elements of all rows: in the last layer, unless attention follows, only
 * the wanted rows matter from here on, and are moved to the front. */
void build_mixed(struct builder *b, struct buffer made, size_t n);

/* Places for what this layer keeps: `bytes` of each recent row; `floats` of recurrent state. Return the offset, for
 * segment_row() and segment_state(). */
size_t build_ring(struct builder *b, size_t bytes);
size_t build_state(struct builder *b, size_t floats);

/* Adds n to *size, of what segments hold. Returns where these n begin. */
size_t build_share(struct builder *b, size_t *size, size_t n);

/* The convolution of n elements of rows, then silu, in place. */
void build_convolve(struct builder *b, const char *name, struct buffer x, size_t n);

/* The same with this many taps, `apart` positions apart. */
void build_convolve_apart(struct builder *b, const char *name, struct buffer x, size_t n, size_t taps, size_t apart);

/* The ops of a linear attention, whose places in the segment are set here. */
void build_linear(struct builder *b, struct op_linear *o);

/* ---- several residual streams ---- */

/* What a kind of them does in place of what a single stream does; NULL: the same. */
struct stream_kind {
	void (*open)(struct builder *b);        /* after the embedding: all streams, from the first in x */
	struct packed *(*read)(struct builder *b, const char *norm);    /* what a part reads, normed and packed */
	void (*update)(struct builder *b);      /* adds the pending branch */
	void (*unite)(struct builder *b, struct buffer x);      /* what the head reads, in place of the first in x */
};

/* All streams begin as the embedding. */
void hyper_open(struct builder *b);

/* ---- attention ---- */

/* q of all heads, then k, then v. */
struct buffer build_qkv_buffer(const struct builder *b);

/* Gates of attention's result that attn_gate makes of packed rows, where the layer has some. */
void build_gates(struct builder *b, struct packed *x);

/* The rotations of this spec, whose angles are made before their first use; `every`: see struct rope. */
const struct rope *build_rope(struct builder *b, const struct rope_spec *spec, size_t every);

/* Room for n floats in what is kept of each group of `ratio` positions; *offset: where it begins. After all layers:
 * where groups lie in extents. */
struct grouped *build_grouped(struct builder *b, size_t ratio, size_t n, size_t *offset);
void build_lay_out_groups(struct builder *b);

/* The indexer's choice for rows x, whose low-rank queries are q_low, among groups with these keys. */
void build_choose(struct builder *b, struct packed *x, struct packed *q_low, const struct grouped *keys, size_t offset);

/* The same among positions, whose keys it makes of x. */
void build_index(struct builder *b, struct packed *x, struct packed *q_low);

/* Positions that the layer's indexer chooses together. */
size_t build_chosen_size(const struct builder *b);

/* Attention over compressed rows or chosen positions, after K and V are stored. */
void build_attend_groups(struct builder *b, const struct op_attention *a);

/* Attention, from q, k and v to the heads' results. */
struct buffer build_attend(struct builder *b, enum head_norms norms);

/* The heads' results packed; in the last layer only the wanted rows are left from here on. */
struct packed *build_attended(struct builder *b, struct buffer out);

#endif
