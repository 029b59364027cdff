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

/* *out = the first of n matrices NAME.weight[rows × cols], in the mapping. */
void build_matrices(struct builder *b, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out);

/* NAME.SUFFIX[n], or [rows × cols], as floats. NULL on failure: the file lacks it, or it has another shape. */
const float *build_vector(struct builder *b, const char *name, const char *suffix, size_t n);
const float *build_table(struct builder *b, const char *name, const char *suffix, size_t rows, size_t cols);

/* The same, transposed: the file has n rows of `cols` elements, the result cols rows of n. */
const float *build_transposed(struct builder *b, const char *name, const char *suffix, size_t n, size_t cols);

/* build_repeated() copies x[n] with each element repeated `times` times; build_tiled() repeats x as a whole `times`
 * times. NULL if x is NULL or memory is short. */
const float *build_repeated(struct builder *b, const float *x, size_t n, size_t times);
const float *build_tiled(struct builder *b, const float *x, size_t n, size_t times);

/* [n] copies of a number, for rows that are all alike; NULL after a failure. */
struct buffer build_constant(struct builder *b, size_t n, float x);

/* Lets the file have NAME.weight in fewer dimensions than n x rows x cols (model_unfold()). */
void build_unfold(struct builder *b, const char *name, size_t n, size_t rows, size_t cols);

/* Ignores NAME.SUFFIX for each of the names, up to NULL (model_ignore()). */
void build_ignore(struct builder *b, const char *const *names, const char *suffix);

/* What belongs to n matrices: a bias for each of their rows, a factor for each. NULL if the file has none. */
const float *build_bias(struct builder *b, const char *name, size_t n, size_t rows);
const float *build_scales(struct builder *b, const char *name, size_t n);

/* A norm of the model's kind, or `norms` of them side by side, of n elements each. */
struct norm build_norm_of(struct builder *b, const char *name, size_t n);
struct norm build_norms_of(struct builder *b, const char *name, size_t norms, size_t n);

/* ---- values and ops ---- */

static inline int build_failed(const struct builder *b)
{
	return b->graph.failed;
}

/* Memory owned by the plan, not cleared. NULL after a failure, including that of this call. */
void *build_allocate(struct builder *b, size_t size);

/* Rows of n floats, which an op has yet to make; and columns of a value. */
struct value *build_value(struct builder *b, size_t n);
struct value *build_part(struct builder *b, struct value *v, size_t column, size_t n);

/* Columns of v's rows as ops have made them by now; column 0 is that of v. */
struct value *build_columns(struct builder *b, struct value *v, size_t column, size_t n);

/* All residual streams, of which b->x is the first. */
struct value *build_streams(struct builder *b);

/* Appends an op to the plan. It is bound to a copy of bound[size]. name NULL: the kind's name. */
int build_append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound, size_t size);

/* The op that build_append() returned; NULL after a failure. */
struct op *build_op(struct builder *b, int op);

/* Declares output i of an op, for --dump-tensors: `cols` floats of each row of v. */
void build_output(struct builder *b, int op, size_t i, const char *suffix, struct value *v, size_t cols);

/* ---- products ---- */

enum precision { NARROW, WIDE };        /* of quantised activations; WIDE is 16 bits: see acts_kind in kernels.h */

/* NAME.weight[rows × elements of x] · x. build_product_into() makes y, which may be part of a wider value. */
struct value *build_product(struct builder *b, struct value *x, const char *name, enum precision wide, size_t rows);
void build_product_into(struct builder *b, struct value *x, const char *name, enum precision wide, struct value *y);

/* Several products of the same x as one op: build_products_of() begins it, build_add_product() adds y = NAME.weight ·
 * x, and build_products() appends it. */
struct op_product build_products_of(struct builder *b, struct value *x);
void build_add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide,
	struct value *y);
int build_products(struct builder *b, const char *name, const struct op_product *o);

/* Adds the product that makes the step's logits. */
void build_add_logits(struct builder *b, struct op_product *o, const char *name, size_t rows);

/* Adds one product for each part of a matrix: consecutive rows, each with a value of its own. */
void build_add_parts(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t parts,
	struct value *const part[]);

/* The table [n_vocab] of the id that is embedded in place of each; NULL if none is replaced. */
const int32_t *build_substitutes(struct builder *b);

/* Adds the adapters' deltas to products of x, whose results are adjacent, and replaces these. Does nothing if the model
 * has no adapters. */
struct product_result {
	const char *name;
	struct value **y;
};

void build_deltas(struct builder *b, struct value *x, const struct product_result *products, size_t n);

/* What adapters add. build_find_lora(): their factors for a tensor of n matrices [rows × cols], by its full name; NULL:
 * none. build_lora() adds their products to the results of these. build_lora_of_embedding(): to the embedding, where
 * `scale` multiplies it. */
const struct lora_pair *build_find_lora(struct builder *b, const char *name, size_t n, size_t rows, size_t cols);
void build_lora(struct builder *b, const struct op_product *of);
void build_lora_of_embedding(struct builder *b, float scale);

/* A product with a separate matrix for each head: n elements of x for each of `heads` heads, `step` apart, give `rows`
 * elements of y, to_step apart. */
struct by_head {
	struct value *x;
	size_t heads, n, step;
	struct value *y;
	size_t rows, to_step;
};

void build_by_head(struct builder *b, const char *name, struct by_head h);

/* f(gate) · up, n elements, by the tensors of these names, or f(up). If there is no tensor `gate`, `up` has the rows of
 * both. */
struct value *build_gated_by(struct builder *b, struct value *x, const char *gate, const char *up, size_t n,
	enum unary f);
struct value *build_ungated_by(struct builder *b, struct value *x, const char *up, size_t n, enum unary f);

/* The memory to route rows to n experts, `used` each: *shared, which is allocated by the first call. It is the routing
 * of the op that is appended next. NULL after a failure. */
struct routing *build_routing(struct builder *b, struct routing **shared, size_t n, size_t used);

/* Packs x for the experts that its rows are routed to, and begins products by their matrices. */
struct op_product build_expert_products(struct builder *b, const char *name, struct value *x,
	struct op_expert_rows o);

/* ---- rows ---- */

/* Appends o, which makes `out` of `in`. Returns out. */
struct value *build_rows(struct builder *b, const char *name, struct op_rows o, struct value *in, struct value *out);

/* The same with its result as an output of the op. */
struct value *build_rows_shown(struct builder *b, const char *name, struct op_rows o, struct value *in,
	struct value *out);

/* Norms x in place. */
struct value *build_norm_rows(struct builder *b, const char *name, struct value *x);

/* Copies a row's elements to another value, which may be part of a wider one. */
void build_copy_into(struct builder *b, const char *name, struct value *from, struct value *to);

/* Separates rows that are interleaved head by head: each head has n elements of every part in turn; n: elements of the
 * part divided by heads. */
void build_deinterleave(struct builder *b, const char *name, struct value *from, size_t heads, size_t parts,
	struct value *const part[]);

/* The RMS norm of x with weight[n] / divisor. */
struct value *build_scaled_norm(struct builder *b, struct value *x, const char *name, const float *weight,
	float divisor);

/* ---- state ---- */

/* Reserve space in the segment for this layer: `bytes` for each recent row; `floats` of recurrent state, which each row
 * replaces if `current`. They return the offset for segment_row() and segment_state(). */
size_t build_ring(struct builder *b, size_t bytes);
size_t build_state(struct builder *b, size_t floats, int current);

/* Whether the layer belongs to this plan. Those of other plans are built, too, so that it is known what flows between
 * them; they have no state. */
int build_present(const struct builder *b);

/* ---- several residual streams ---- */

/* What a kind of streams does differently from a single stream; NULL: nothing. */
struct stream_kind {
	void (*open)(struct builder *b);        /* after the embedding: makes all streams from the first */
	struct value *(*read)(struct builder *b, const char *norm);     /* what a part of a layer reads */
	void (*add)(struct builder *b, struct value *branch);           /* adds a branch to the streams */
	struct value *(*unite)(struct builder *b, struct value *all);   /* what the head reads */
};

/* ---- the embedding and the encoder ---- */

/* The encoder's ops, from the embedding to the K and V of all cross-attention. */
void build_encoder(struct builder *b);

/* The embedding, from ids to b->x. */
void build_embed(struct builder *b);

/* ---- embeddings ---- */

/* The head of a plan that makes embeddings. build_ignore_heads(): in a plan that makes logits, the tensors of that head
 * are ignored. */
void build_pooled(struct builder *b);
void build_ignore_heads(struct builder *b);

/* ---- attention ---- */

/* Room for q, k and v side by side. */
struct qkv build_qkv_room(struct builder *b, size_t q, size_t k, size_t v);

/* The layer's attention, still without offsets. */
struct op_attention build_attention_of(struct builder *b, struct qkv x);

/* Reserves space for the K and V of o in the segment; place: where b->kv_offsets keeps the offset. */
void build_place_kv(struct builder *b, struct op_attention *o, size_t place);

/* Gates of attention's result by attn_gate, if the layer has them; otherwise NULL. */
struct value *build_gates(struct builder *b, struct value *x);

/* The rotations of this spec. Their angles are computed before the first use. every: see struct rope. */
const struct rope *build_rope(struct builder *b, const struct rope_spec *spec, size_t every);

/* What segments keep of each group of `ratio` positions for this layer: n floats, from `offset` on. */
struct kept_groups {
	const struct grouped *in;       /* NULL: nothing */
	size_t offset;
};

struct kept_groups build_grouped(struct builder *b, size_t ratio, size_t n);

/* Called after all layers: places the groups in extents. */
void build_lay_out_groups(struct builder *b);

/* Chooses groups for x, by low-rank queries q_low, among groups with these keys. */
void build_choose(struct builder *b, struct value *x, struct value *q_low, struct kept_groups keys);

/* The same among positions; computes their keys from x. */
void build_index(struct builder *b, struct value *x, struct value *q_low);

/* Number of positions that the layer's indexer chooses together. */
size_t build_chosen_size(const struct builder *b);

/* Attention over compressed rows, or over chosen positions for the rows that see more than these. K and V must be
 * stored before. */
void build_attend_groups(struct builder *b, const struct op_attention *a, struct kept_groups compressed,
	struct value *out);

/* The ops of attention, from q, k and v to the heads' results. */
struct value *build_attend(struct builder *b, struct qkv x, enum head_norms norms, struct kept_groups compressed);

/* Applies the gates, or NULL, and a norm to the heads' results. */
struct value *build_attended(struct builder *b, struct value *out, struct value *gates);

#endif
