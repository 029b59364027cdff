/* builder: appends the ops of a model to its plan. Each call looks its tensors up by their names in the file and checks
 * their shapes. Errors are sticky: after a failure the calls do nothing, and build_plan() reports it.
 *
 * build_plan() appends the embedding, calls family->layer() for each layer of the plan, and appends the head. The
 * builder adds "blk.N." and ".weight" to names.
 *
 * x is the residual stream. Norms, activations and attention return their rows packed, as products read them. Packed
 * rows are valid until the next norm (those of a norm), or the next activation or attention (those of the others).
 *
 * build_branch() makes a branch, which is then pending: the next norm, attention or branch adds it to x. If attention
 * and feed-forward part both read the same norm (a parallel residual), attention must come last: in the last layer it
 * leaves only the wanted rows, so rows packed before it can no longer be read.
 *
 * To add a family: write a struct family, and a layer function of the calls below if it needs one, in a file of
 * fwd/families; list a new file's table in families.c and its name in the Makefile; add its row to
 * tests/reference_families.c. What differs by layer is a field of struct layer (model.h), read in layers.c. To add a
 * kind of op, see plan/op.h. */
#ifndef BUILDER_H
#define BUILDER_H

#include "fwd/model/family.h"
#include "fwd/plan/plan.h"

struct builder {
	struct plan *plan;
	struct model *model;
	const struct stream_kind *streams;      /* the family's; for a single stream, one without functions */
	const struct layer *layer;      /* the one being built */
	size_t il;                      /* its number, or OP_NO_LAYER */
	const char *stack;              /* see struct op */
	enum sight sight;               /* of the layer's attention */
	const float *biases;            /* by distance, of the latest layer that has its own (struct attend) */
	struct why *w;
	int failed;                     /* 0 or -1 */
	size_t room;                    /* that the table of ops has space for */
	int routed;                     /* rows that adapters were last chosen for: 0: none, 1: all, 2: the wanted */
	int wanted;                     /* the last attention is done: ops act on the wanted rows only */
	int pending;                    /* a branch has not been added to x yet; before it is, */
	struct norm post;               /* it is normed, */
	float branch_scale;             /* and multiplied by this (0: 1); */
	float sum_scale;                /* afterwards x is multiplied by this (0: not) */
	struct {                        /* compressed rows of the current layer */
		const struct grouped *kept;
		size_t offset;
	} compressed;
	const struct op_hyper *gathered;        /* how the current part reads the streams (kinds.h) */
	struct kv_offset {
		size_t at[KV_TYPES];
	} *kv_offsets;                  /* where K and V are in the segment: [n_layer] of layers, [n_layer] of
					 * cross-attention, then one for all layers of the encoder */
};

/* Builds the plan of some layers of a model, with all weights and buffers bound. NULL with a one-line reason on
 * failure. */
struct plan *build_plan(struct model *m, const struct plan_setup *setup, struct why *w);

/* ---- for families ---- */

/* Whether the file has NAME.weight in this layer. (Biases are used if the file has them, unless the family
 * ignores them.) */
int build_has(const struct builder *b, const char *name);

/* Adds the pending branch, then norms x and packs the result. name "": packs x itself. */
struct packed *build_norm(struct builder *b, const char *name);

/* The same, but without adding the pending branch. */
struct packed *build_norm_beside(struct builder *b, const char *name);

/* Adds the pending branch, then replaces x by its norm, with weights NAME of the whole model. */
void build_norm_stream(struct builder *b, const char *name);

/* Computes q, k and v from packed rows, by attn_q, attn_k and attn_v, or by one matrix attn_qkv, which has their rows
 * in this order. */
void build_qkv(struct builder *b, struct packed *x);

/* The same for q alone, in a layer that reads the K and V of another. */
void build_q(struct builder *b, struct packed *x);

/* The indexer chooses, for packed rows, the groups of layer->ratio positions that the following attention sees. The key
 * of a group is the mean of its positions' keys. Where each head chooses for one KV head, positions keep their own
 * keys. */
void build_index_groups(struct builder *b, struct packed *x);

/* Attention: norms and rotates q and k if the layer does, stores K and V, attends. Returns the result, packed. */
struct packed *build_attention(struct builder *b, enum head_norms norms);

/* The same by latent attention (model.h), all of it from packed rows. */
struct packed *build_latent_attention(struct builder *b, struct packed *x);

/* Compressed attention (model.h) from packed rows. */
struct packed *build_compressed_attention(struct builder *b, struct packed *x);

/* Before the attention of a layer of a model with an encoder: the biases by distance are those of attn_rel_b or, if the
 * layer lacks it, of the layer before. */
void build_biases(struct builder *b);

/* Attention to the encoder's result, by tensors cross_attn_*. Returns the result, packed. */
struct packed *build_cross_attention(struct builder *b, struct packed *x);

/* A gated short convolution of packed rows. Returns the result, packed. */
struct packed *build_convolution(struct builder *b, struct packed *x);

/* A gated delta net, or Kimi delta attention, of packed rows. Returns the gated result, packed. */
struct packed *build_delta(struct builder *b, struct packed *x);
struct packed *build_kda(struct builder *b, struct packed *x);

/* Lightning attention of packed rows. Returns the normed and gated result, packed. */
struct packed *build_lightning(struct builder *b, struct packed *x);

/* A state space of packed rows. Returns the gated result, packed. */
struct packed *build_mamba(struct builder *b, struct packed *x);
struct packed *build_mamba2(struct builder *b, struct packed *x);
struct packed *build_mamba_plamo2(struct builder *b, struct packed *x);

/* For a layer without a mixer: if it is the last, only the wanted rows are left from here on. */
void build_unmixed(struct builder *b);

/* Returns NAME.weight[n × ...] · x, packed. */
struct packed *build_low_rank(struct builder *b, struct packed *x, const char *name, size_t n);

/* The branch = NAME.weight · x, n_embd elements. It is pending from here on. */
void build_branch(struct builder *b, struct packed *x, const char *name);

/* Adds the pending branch, then multiplies x by the one element of NAME.weight. */
void build_scale(struct builder *b, const char *name);

/* Adds the pending branch, then x += plan->carried times the one element of NAME.weight. */
void build_add_carried(struct builder *b, const char *name);

/* x += a vector of the whole model, whose name has no suffix. */
void build_add_constant(struct builder *b, const char *name);

/* HRM: adds the pending branch; then x = norm(x), without weights, + the carried result of the other stack. replace:
 * norm(x) is carried from here on. */
void build_add_other(struct builder *b, int replace);

/* x += the result of the last norm. */
void build_add_normed(struct builder *b);

/* x = the result of the last norm. */
void build_take_normed(struct builder *b);

/* The pending branch will be multiplied by this before it is added. */
void build_branch_scale(struct builder *b, float scale);

/* x will be multiplied by this after the pending branch is added. */
void build_sum_scale(struct builder *b, float scale);

/* Kinds of residual streams for family->streams: AltUp, hyper-connections, hyper-connections with a gate for each
 * element, attention residuals, gated attention residuals (plan/kinds.h). */
extern const struct stream_kind altup_streams, hyper_streams, gated_streams, attn_res_streams,
	gated_attn_res_streams;

/* Before a layer with gated attention residuals: x += gate · (a − x), where a is the weighted sum of x and of what it
 * was before each block of layers. */
void build_gated_attn_res(struct builder *b);

/* Adds the embeddings of the last ids to all streams. */
void build_ngrams(struct builder *b);

/* AltUp. build_predict(): x becomes the prediction for the first stream. build_correct(): corrects all streams from x
 * and the pending branch, and returns the first one, scaled and packed. build_spread(): adds the branch to the other
 * streams. */
void build_predict(struct builder *b);
struct packed *build_correct(struct builder *b);
void build_spread(struct builder *b);

/* The branch = the layer's own input (model->n_per_layer elements), gated by packed rows. It will be normed before it
 * is added. */
void build_per_layer(struct builder *b, struct packed *x);

/* Norms the branch and packs it. */
struct packed *build_norm_branch(struct builder *b, const char *name);

/* The pending branch will be normed before it is added. */
void build_post_norm(struct builder *b, const char *name);

/* f(ffn_gate) · ffn_up, or f(ffn_up), of packed rows; packed. Without ffn_gate, ffn_up has the rows of both. */
struct packed *build_gated(struct builder *b, struct packed *x, enum unary f);
struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f);

/* Computes the router's logits from packed rows. Only needed if they are not those that the experts read: otherwise
 * build_experts() does it. */
void build_router(struct builder *b, struct packed *x);

/* build_experts_aside() applies the mixture of experts to the rows of the last norm, packed in x, and keeps the result.
 * build_add_aside() adds it to the pending branch, that of the dense part, and multiplies the sum by scale. */
void build_experts_aside(struct builder *b, struct packed *x, enum unary f);
void build_add_aside(struct builder *b, float scale);

/* Gemma 4's branch: the result of a feed-forward part plus that of a mixture of experts, each with norms of its own. */
void build_beside_experts(struct builder *b, enum unary f);

/* The branch = the mixture of experts of the rows of the last norm, packed in x. */
void build_experts(struct builder *b, struct packed *x, enum unary f);

/* The layer that most families have, in decoder.c. */
void decoder_layer(struct builder *b, size_t il);

#endif
