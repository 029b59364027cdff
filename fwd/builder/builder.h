/* builder: the vocabulary in which a family describes its layers. Each call appends an op to the plan and returns the
 * value that the op makes: rows of floats, which products read in packed form (graph.h). It looks its tensors up by
 * their names in the file and checks their shapes. Errors are sticky: after a failure the calls do nothing, and
 * build_plan() reports it.
 *
 * build_plan() appends the embedding, calls family->layer() for each layer, and appends the head. The builder adds
 * "blk.N." and ".weight" to names.
 *
 * To add a family: write a struct family, and a layer function of the calls below if it needs one, in a file of
 * fwd/families; list a new file's table in families.c and its name in the Makefile; add its row to
 * tests/reference_families.c. What differs by layer is a field of struct layer (model.h), read in layers.c. To add a
 * kind of op, see plan/op.h. */
#ifndef BUILDER_H
#define BUILDER_H

#include "fwd/model/family.h"
#include "graph.h"

struct builder {
	struct graph graph;
	struct plan *plan;
	struct model *model;
	const struct stream_kind *streams;      /* the family's; for a single stream, one without functions */
	const struct layer *layer;      /* the one being built */
	size_t il;                      /* its number, or OP_NO_LAYER */
	const char *stack;              /* see struct op */
	enum sight sight;               /* of the layer's attention */
	const float *biases;            /* by distance, of the latest layer that has its own (struct attend) */
	struct why *w;
	int apart;                      /* ops before this one are not merged with later ones */
	struct value *x;                /* the residual stream, or the first of several */
	struct value *carried;          /* what the family carries from layer to layer besides it; or NULL */
	struct value *per_layer;        /* the inputs of all layers (Gemma 3n and 4) */
	const struct op_hyper *gathered;        /* how the branch of the current part is added to several streams */
	struct value *chosen;           /* what the indexer of the latest layer with one chose */
	struct routing *experts, *adjugates, *adapters; /* memory that all layers share; NULL: not yet allocated */
	const uint16_t *switched;       /* [n_vocab]: the adapter that each id switches on; 0: none */
	size_t routed;                  /* the layer in which rows were last routed to adapters */
	struct grouped absent_groups[GROUPINGS];        /* in place of the plan's, for layers of other plans */
	int elsewhere;                  /* a set of enum kept: what layers of other plans keep in their states */
	int one_place;                  /* the K and V of all layers share one place in the segment */
	size_t window;                  /* largest window of any layer with K and V, in positions */
	struct kv_offset {
		size_t at[KV_TYPES];
	} *kv_offsets;                  /* where K and V are in the segment: [n_layer] of layers, [n_layer] of
					 * cross-attention, then one for all layers of the encoder */
};

enum kept { KEPT_RING = 1, KEPT_STATE = 2 };

/* Builds the plan of some layers of a model, with all weights and buffers bound. NULL with a one-line reason on
 * failure. */
struct plan *build_plan(struct model *m, const struct plan_setup *setup, struct why *w);

/* ---- for families ---- */

/* Whether the file has NAME.weight in this layer. (Biases are used if the file has them, unless the family
 * ignores them.) */
int build_has(const struct builder *b, const char *name);

/* The rows of NAME.weight, where no key says how many; 1 if the file lacks it or has too many. */
size_t build_n_rows(const struct builder *b, const char *name);

/* The one element of NAME.weight; 0 after a failure. */
float build_number(struct builder *b, const char *name);

/* Returns x normed by the norm NAME; x itself if NAME is "". */
struct value *build_norm(struct builder *b, struct value *x, const char *name);

/* build_norm() with weights NAME of the whole model. */
struct value *build_norm_of_model(struct builder *b, struct value *x, const char *name);

/* What a part of a layer reads: the residual stream, or a combination of several, normed by NAME. */
struct value *build_read(struct builder *b, const char *name);

/* How a branch is added to the residual stream: x = after · (x + residual_scale · scale · norm(branch)). Zeros: no
 * norm, and factors of 1. */
struct sum {
	const char *norm;
	float scale, after;
};

/* Adds a branch to the residual stream or, if the kind of streams has add(), to all streams; sum is then ignored. */
void build_add(struct builder *b, struct value *branch, struct sum sum);

/* Adds scale · y to the residual stream; y keeps its rows. */
void build_add_scaled(struct builder *b, const char *name, struct value *y, float scale);

/* Adds a vector of the whole model, whose name has no suffix, to the residual stream. */
void build_add_constant(struct builder *b, const char *name);

/* Adds x[n_embd] to each row of the residual stream. */
void build_add_vector(struct builder *b, const float *x);

/* Returns scale · (x + y) in place of x. y keeps its rows. */
struct value *build_sum(struct builder *b, const char *name, struct value *x, struct value *y, float scale);

struct value *build_copy(struct builder *b, const char *name, struct value *x);

/* A branch: NAME.weight · x, n_embd elements. */
struct value *build_branch(struct builder *b, struct value *x, const char *name);

/* Returns second · (first · x), with `rank` elements between the two. */
struct value *build_low_rank(struct builder *b, struct value *x, const char *first, size_t rank, const char *second);

/* Queries, keys and values of all heads, and the gates of their results. */
struct qkv {
	struct value *q, *k, *v;        /* k and v NULL: those of an earlier layer; v NULL: within the keys */
	struct value *gates;            /* NULL: none */
};

/* Computes q, k and v by attn_q, attn_k and attn_v, or by one matrix attn_qkv, which has their rows in this order.
 * Where the layer reads the K and V of another, q alone. */
struct qkv build_qkv(struct builder *b, struct value *x);

/* Attention: norms and rotates q and k if the layer does, stores K and V, attends, and applies the gates. */
struct value *build_attention(struct builder *b, struct qkv x, enum head_norms norms);

/* The indexer chooses the groups of layer->ratio positions that the following attention sees. The key of a group is the
 * mean of its positions' keys. Where each head chooses for one KV head, positions keep their own keys. */
void build_index_groups(struct builder *b, struct value *x);

/* Latent attention (latent.h) and compressed attention (compressed.h), all of it from x. */
struct value *build_latent_attention(struct builder *b, struct value *x);
struct value *build_compressed_attention(struct builder *b, struct value *x);

/* Before the attention of a layer of a model with an encoder: the biases by distance are those of attn_rel_b or, if the
 * layer lacks it, of the layer before. */
void build_biases(struct builder *b);

/* Attention to the encoder's result, by tensors cross_attn_*. */
struct value *build_cross_attention(struct builder *b, struct value *x);

/* Kinds of residual streams for family->streams: AltUp, hyper-connections, hyper-connections with a gate for each
 * element, attention residuals (struct stream_kind in build.h; fwd/residual). */
extern const struct stream_kind altup_streams, hyper_streams, gated_streams, attn_res_streams;

/* Before a layer with gated attention residuals: x += gate · (a − x), where a is the weighted sum of x and of what it
 * was before each block of layers. */
void build_gated_attn_res(struct builder *b);

/* Adds the embeddings of the last ids to all streams. */
void build_ngrams(struct builder *b);

/* AltUp. build_predict(): x becomes the prediction for the first stream; returns the predictions for all.
 * build_correct(): corrects all streams from x and their predictions, and returns the first one, scaled.
 * build_spread(): adds a branch, normed by NAME, to the other streams. */
struct value *build_predict(struct builder *b);
struct value *build_correct(struct builder *b, struct value *predicted);
void build_spread(struct builder *b, struct value *branch, const char *name);

/* f(ffn_gate) · ffn_up, or f(ffn_up), of x. Without ffn_gate, ffn_up has the rows of both. */
struct value *build_gated(struct builder *b, struct value *x, enum unary f);
struct value *build_ungated(struct builder *b, struct value *x, enum unary f);

/* The router's logits. */
struct value *build_router(struct builder *b, struct value *x);

/* A branch: the mixture of experts of x, chosen by these logits; NULL: the router's for x. */
struct value *build_experts(struct builder *b, struct value *x, struct value *logits, enum unary f);

/* Gemma 4's branch: the result of a feed-forward part plus that of a mixture of experts, each with norms of its own. */
struct value *build_beside_experts(struct builder *b, enum unary f);

/* The layer that most families have, in decoder.c. */
void decoder_layer(struct builder *b, size_t il);

#endif
