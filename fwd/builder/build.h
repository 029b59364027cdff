/* build: what the builder's files share: finding the current layer's tensors, and appending ops. After a failure these
 * functions do nothing. The plan or the model owns what they return pointers to. */
#ifndef BUILD_H
#define BUILD_H

#include "builder.h"
#include "fwd/plan/kinds.h"

/* ---- tensors of the current layer; names are without "blk.N."; suffix "": no suffix ---- */

struct tensor_name {
	char s[96];
};

/* The full name in the file. */
struct tensor_name build_name(const struct builder *b, const char *name, const char *suffix);

/* "weight", or "" where the file has NAME without that suffix (Falcon-H1, PLaMo 3, adapters). */
const char *build_suffix(const struct builder *b, const char *name);

/* *out = NAME.weight[rows × cols], in the mapping. */
void build_matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out);

/* NAME.SUFFIX[n], or [rows × cols], as floats. NULL on failure: the file lacks it, or it has another shape. */
const float *build_vector(struct builder *b, const char *name, const char *suffix, size_t n);
const float *build_table(struct builder *b, const char *name, const char *suffix, size_t rows, size_t cols);

/* The same, transposed: the file has n rows of `cols` elements, the result cols rows of n. */
const float *build_transposed(struct builder *b, const char *name, const char *suffix, size_t n, size_t cols);

/* build_repeated() copies x[n] with each element repeated `times` times; build_tiled(), all of x so many times. NULL if
 * x is, or if memory is short. */
const float *build_repeated(struct builder *b, const float *x, size_t n, size_t times);
const float *build_tiled(struct builder *b, const float *x, size_t n, size_t times);

/* Lets the file have NAME.weight in fewer dimensions than n x rows x cols (model_unfold()). */
void build_unfold(struct builder *b, const char *name, size_t n, size_t rows, size_t cols);

/* Ignores NAME.SUFFIX for each of the names, up to NULL (model_ignore()). */
void build_ignore(struct builder *b, const char *const *names, const char *suffix);

const float *build_bias(struct builder *b, const char *name, size_t n);         /* NULL: the file has none */

/* A norm of the model's kind, or `norms` of them side by side, of n elements each. */
struct norm build_norm_of(struct builder *b, const char *name, size_t n);
struct norm build_norms_of(struct builder *b, const char *name, size_t norms, size_t n);

/* ---- ops ---- */

/* Memory owned by the plan, not cleared. NULL after a failure, including that of this call. */
void *build_allocate(struct builder *b, size_t size);

/* Appends an op to the plan. It is bound to a copy of bound[size]. name NULL: the kind's name. Returns NULL after a
 * failure. */
struct op *build_append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound,
	size_t size);

/* Declares output i of an op, for --dump-tensors: `cols` floats of each row of `from`. op may be NULL. */
void build_output(struct op *op, size_t i, const char *suffix, struct buffer from, size_t cols);

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

enum precision { NARROW, WIDE };        /* of quantised activations; WIDE is 16 bits: see acts_kind in kernels.h */

/* Adds a product to o: y = NAME.weight[rows × elements of a row of o->x] · o->x. */
void build_add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t rows,
	struct buffer y);

struct product_part {
	size_t rows;
	struct buffer y;
};

/* Adds one product for each part of a matrix: consecutive rows, each part with its own y. */
void build_add_parts(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t parts,
	const struct product_part part[]);

/* Appends the products of o as one op. Their results must be adjacent, from y[0] on. */
void build_products(struct builder *b, const char *name, const struct op_product *o);

/* The same for a single product; the op gets the tensor's name. */
void build_product(struct builder *b, struct packed *x, const char *name, enum precision wide, size_t rows,
	struct buffer y);

/* Adds the adapters' deltas to n products of the same packed rows; their results are adjacent, from y on. Does nothing
 * if the model has no adapters. */
struct product_rows {
	const char *name;
	size_t rows;
};

void build_deltas(struct builder *b, const struct packed *x, const struct product_rows *products, size_t n,
	struct buffer y);

/* A product with a separate matrix for each head: o.n elements, o.step apart, give `rows` elements, to_step apart. */
void build_by_head(struct builder *b, const char *name, struct op_head_rows o, size_t rows, struct buffer to,
	size_t to_step);

/* ---- rows ---- */

/* Packed rows of k elements, which an op still has to fill. */
struct packed *build_packed(struct builder *b, size_t k, enum slot slot);

/* Appends o, which packs its result in o->packed. */
struct op *build_packing(struct builder *b, const char *name, struct op_rows *o, enum slot slot);

/* Packs rows of n elements as they are. */
struct packed *build_pack(struct builder *b, const char *name, struct buffer x, size_t n, enum slot slot);

/* Packs rows for the experts that they are routed to. */
struct packed *build_expert_rows(struct builder *b, const char *name, struct op_expert_rows o);

/* Norms rows of n elements in place. */
void build_norm_rows(struct builder *b, const char *name, struct buffer x, size_t n);

/* Copies n elements of each row. */
void build_copy(struct builder *b, const char *name, struct buffer from, struct buffer to, size_t n);

/* Separates rows that are interleaved head by head: each head has n elements of every part in turn. */
struct interleaved {
	size_t n;
	struct buffer to;               /* the part's rows, [heads][n] */
};

void build_deinterleave(struct builder *b, const char *name, struct buffer from, size_t heads, size_t parts,
	const struct interleaved part[]);

/* The RMS norm of x with weight[n_embd] / divisor, packed. No branch may be pending. */
struct packed *build_scaled_norm(struct builder *b, const char *name, const float *weight, float divisor);

/* Adds the pending branch to x at once. */
void build_add_branch(struct builder *b);

/* Call after a mixer other than attention; `made` is its result, n elements. In the last layer, unless attention
 * follows, this moves the wanted rows to the front and drops the others. */
void build_mixed(struct builder *b, struct buffer made, size_t n);

/* Reserve space in the segment for this layer: `bytes` for each recent row; `floats` of recurrent state. They return
 * the offset for segment_row() and segment_state(). */
size_t build_ring(struct builder *b, size_t bytes);
size_t build_state(struct builder *b, size_t floats);

/* Adds n to *size, the size of a part of segments. Returns the old value: where the n begin. */
size_t build_reserve(struct builder *b, size_t *size, size_t n);

/* Convolution of n channels, then silu, in place. */
void build_convolve(struct builder *b, const char *name, struct buffer x, size_t n);

/* The same with `taps` taps, `apart` positions apart. */
void build_convolve_apart(struct builder *b, const char *name, struct buffer x, size_t n, size_t taps, size_t apart);

/* Appends the ops of linear attention, and reserves their space in the segment. */
void build_linear(struct builder *b, struct op_linear *o);

/* ---- several residual streams ---- */

/* What a kind of streams does differently from a single stream; NULL: nothing. */
struct stream_kind {
	void (*open)(struct builder *b);        /* after the embedding: makes all streams from the first, in x */
	struct packed *(*read)(struct builder *b, const char *norm);    /* replaces build_norm(): returns what a part
					 * reads, normed and packed */
	void (*update)(struct builder *b);      /* adds the pending branch */
	void (*unite)(struct builder *b, struct buffer x);      /* makes what the head reads, in the first stream of
					 * x */
};

/* Sets all streams to the embedding. */
void hyper_open(struct builder *b);

/* ---- attention ---- */

/* The encoder's ops, from the embedding to the K and V of all cross-attention. */
void build_encoder(struct builder *b);

/* The embedding, from ids to x. */
void build_embed(struct builder *b);

/* The layer's attention, still without offsets. */
struct op_attention build_attention_of(struct builder *b);

/* Reserves space for the K and V of o in the segment; place: where b->kv_offsets keeps the offset. */
void build_place_kv(struct builder *b, struct op_attention *o, size_t place);

/* Where q of all heads is, then k, then v. */
struct buffer build_qkv_buffer(const struct builder *b);

/* Gates of attention's result by attn_gate, from packed rows, if the layer has them. */
void build_gates(struct builder *b, struct packed *x);

/* The rotations of this spec. Their angles are computed before the first use. every: see struct rope. */
const struct rope *build_rope(struct builder *b, const struct rope_spec *spec, size_t every);

/* build_grouped() reserves n floats in what segments keep of each group of `ratio` positions; *offset is where they
 * begin. build_lay_out_groups(), called after all layers, places the groups in extents. */
struct grouped *build_grouped(struct builder *b, size_t ratio, size_t n, size_t *offset);
void build_lay_out_groups(struct builder *b);

/* Chooses groups for rows x, by low-rank queries q_low, among groups with these keys. */
void build_choose(struct builder *b, struct packed *x, struct packed *q_low, const struct grouped *keys, size_t offset);

/* The same among positions; computes their keys from x. */
void build_index(struct builder *b, struct packed *x, struct packed *q_low);

/* Number of positions that the layer's indexer chooses together. */
size_t build_chosen_size(const struct builder *b);

/* Attention over compressed rows or chosen positions. K and V must be stored before. */
void build_attend_groups(struct builder *b, const struct op_attention *a);

/* The ops of attention, from q, k and v to the heads' results. */
struct buffer build_attend(struct builder *b, enum head_norms norms);

/* Packs the heads' results. In the last layer, only the wanted rows are left from here on. */
struct packed *build_attended(struct builder *b, struct buffer out);

#endif
