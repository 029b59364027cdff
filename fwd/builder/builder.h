/* builder: appends the ops of a model to its plan. Each call binds its tensors by their names in the file and checks
 * their shapes. A failure sticks: the calls after it do nothing, and build_plan() reports it.
 *
 * build_plan() appends the embedding, calls family->layer() for each layer of the plan, and appends the head. Names
 * are without "blk.N." and ".weight", which the builder adds.
 *
 * x is the residual stream. A norm, an activation and attention return their rows packed, for products to read; packed
 * rows stay valid until the next norm, or until the next activation or attention. build_branch() makes a branch; the
 * next norm adds it to x, or else the next attention or branch does. So a family whose attention and feed-forward part
 * both read one norm (a parallel residual) makes one branch after the other, attention last: in the last layer it
 * leaves only the wanted rows, and rows packed before it can no longer be read.
 *
 * To add a family: a struct family with a layer function of the calls below, in a file of fwd/families, of its own or
 * with families like it; a new file's table in families.c and its name in the Makefile; its row in
 * tests/reference_model.c. What differs by layer is a field of struct layer (model.h), read in layers.c. To add a kind
 * of op: plan/op.h. */
#ifndef BUILDER_H
#define BUILDER_H

#include "fwd/model/family.h"
#include "fwd/plan/plan.h"

struct builder {
	struct plan *plan;
	struct model *model;
	const struct stream_kind *streams;      /* the family's, or one that does nothing of its own */
	const struct layer *layer;      /* the one being built */
	size_t il;                      /* its number, or OP_NO_LAYER */
	struct why *w;
	int failed;                     /* 0 or -1 */
	size_t room;                    /* of the table of ops */
	int routed;                     /* 1 + wanted, of the rows whose adapters were chosen last; 0: of none */
	int wanted;                     /* after the last attention: ops act on the wanted rows only */
	int pending;                    /* a branch is still to be added to x, */
	struct norm post;               /* after this norm, */
	float branch_scale;             /* multiplied by this, 0: by 1; */
	float sum_scale;                /* then x is multiplied by this; 0: it is not */
	struct {                        /* compressed rows of the layer */
		const struct grouped *kept;
		size_t offset;
	} compressed;
	const struct op_hyper *gathered;        /* how the part that is being built reads the streams (kinds.h) */
	struct place {
		size_t at[KV_TYPES];
	} *places;                      /* [n_layer]: of K and V in the state */
};

/* The plan of some layers of a model: weights and buffers are bound. NULL and one line why not. */
struct plan *build_plan(struct model *m, const struct plan_setup *setup, struct why *w);

/* ---- for families ---- */

/* Whether the file has NAME.weight in this layer. Biases are used where it has them. */
int build_has(const struct builder *b, const char *name);

/* x += branch, if one is pending; then the family's kind of norm of x, packed. name "": x itself, packed. */
struct packed *build_norm(struct builder *b, const char *name);

/* The same of x as it is, before a pending branch is added. */
struct packed *build_norm_beside(struct builder *b, const char *name);

/* x += branch, if one is pending; then x = the norm of x with the whole model's weights of this name. */
void build_norm_stream(struct builder *b, const char *name);

/* q, k and v of packed rows: from attn_q, attn_k and attn_v, or from one matrix attn_qkv that holds their rows one
 * after the other. */
void build_qkv(struct builder *b, struct packed *x);

/* The indexer chooses, for packed rows, which groups of layer->ratio positions the attention that follows sees. A
 * group's key is the mean of its positions' keys; or, where each head chooses for a KV head, positions have theirs. */
void build_index_groups(struct builder *b, struct packed *x);

/* q alone, for a layer that reads the K and V of another. */
void build_q(struct builder *b, struct packed *x);

/* Norms and rotation of q and k where the layer has them, state, attention; its result, packed. */
struct packed *build_attention(struct builder *b, enum head_norms norms);

/* The same by latent attention (model.h), from packed rows. */
struct packed *build_latent_attention(struct builder *b, struct packed *x);

/* Compressed attention (model.h) of packed rows. */
struct packed *build_compressed_attention(struct builder *b, struct packed *x);

/* The short convolution of packed rows, between its gates; its result, packed. */
struct packed *build_convolution(struct builder *b, struct packed *x);

/* A gated delta net, or Kimi delta attention, of packed rows; its result, gated and packed. */
struct packed *build_delta(struct builder *b, struct packed *x);
struct packed *build_kda(struct builder *b, struct packed *x);

/* Lightning attention of packed rows; its result, normed, gated and packed. */
struct packed *build_lightning(struct builder *b, struct packed *x);

/* A state space of packed rows; its result, gated and packed. */
struct packed *build_mamba(struct builder *b, struct packed *x);
struct packed *build_mamba2(struct builder *b, struct packed *x);
struct packed *build_mamba_plamo2(struct builder *b, struct packed *x);

/* For a layer that mixes no positions: the last of these keeps only the wanted rows from here on. */
void build_unmixed(struct builder *b);

/* W · x, n elements, packed. */
struct packed *build_low_rank(struct builder *b, struct packed *x, const char *name, size_t n);

/* The branch = W · x, n_embd wide. */
void build_branch(struct builder *b, struct packed *x, const char *name);

/* x += branch, if one is pending; then x *= the one element of NAME.weight. */
void build_scale(struct builder *b, const char *name);

/* x += branch, if one is pending; then x += what is carried of the embedding, times the one element of NAME.weight. */
void build_add_carried(struct builder *b, const char *name);

/* x += the whole model's vector of this name, which has no suffix. */
void build_add_constant(struct builder *b, const char *name);

/* x += branch, if one is pending; then x = its norm without weights, plus what is carried, in whose place the norm may
 * come: HRM's results of two stacks. */
void build_add_other(struct builder *b, int replace);

/* x += what the last norm returned. */
void build_add_normed(struct builder *b);

/* x = what the last norm returned. */
void build_take_normed(struct builder *b);

/* The branch is multiplied by this before it is added. */
void build_branch_scale(struct builder *b, float scale);

/* x is multiplied by this once the branch is added. */
void build_sum_scale(struct builder *b, float scale);

/* Several residual streams (family->streams): AltUp, hyper-connections, those with gates of all elements, attention
 * residuals (plan/kinds.h). */
extern const struct stream_kind altup_streams, hyper_streams, gated_streams, attn_res_streams, recalled_streams;

/* Before a layer of recalled_streams: x += gate · (a − x), where a is attention over x and what x was before each block
 * of layers. */
void build_recall(struct builder *b);

/* All streams += the embeddings of the last ids. */
void build_ngrams(struct builder *b);

/* AltUp. x becomes the prediction of the first stream. Then, from x and the pending branch,
 * the streams are corrected; the first one, scaled and packed, is returned. The branch is added to the others. */
void build_predict(struct builder *b);
struct packed *build_correct(struct builder *b);
void build_spread(struct builder *b);

/* The branch: the layer's own input (model->n_per_layer), gated by packed rows; normed before it is added. */
void build_per_layer(struct builder *b, struct packed *x);

/* The branch = its norm, packed, too. */
struct packed *build_norm_branch(struct builder *b, const char *name);

/* The branch is normed before it is added. */
void build_post_norm(struct builder *b, const char *name);

/* f(ffn_gate) · ffn_up, or f(ffn_up), of packed rows; packed again. ffn_up may hold the rows of both. */
struct packed *build_gated(struct builder *b, struct packed *x, enum unary f);
struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f);

/* The router's logits for packed rows: where experts are chosen by x itself. build_experts() calls it otherwise. */
void build_router(struct builder *b, struct packed *x);

/* The mixture of experts of the rows that the last norm made and packed in x, kept for build_add_aside(): the branch of
 * the dense part plus that of the experts, then times scale. */
void build_experts_aside(struct builder *b, struct packed *x, enum unary f);
void build_add_aside(struct builder *b, float scale);

/* Gemma 4's branch: the norm of a feed-forward part's result plus that of a mixture of experts, each with norms of its
 * own. */
void build_beside_experts(struct builder *b, enum unary f);

/* The branch = the mixture of experts of the rows that the last norm made and packed in x. */
void build_experts(struct builder *b, struct packed *x, enum unary f);

/* The layer that most families have: decoder.c. */
void decoder_layer(struct builder *b, size_t il);

#endif
