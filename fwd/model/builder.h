/* builder: the words in which a family's plan is written (families.c). Each call appends an op, binds its tensors by their names in the file and checks
 * their shapes. A failure sticks: the calls after it do nothing, and plan_open() reports it.
 *
 * Names are without "blk.N." and ".weight": build_layer() says which layer the next calls are about. The state of a row is x, the residual stream;
 * what a norm or an activation makes is packed for the next products; what build_branch() makes is added to x by the next norm. */
#ifndef BUILDER_H
#define BUILDER_H

#include "fwd/plan/plan.h"

enum bias { BIAS_NONE, BIAS_MAYBE, BIAS };      /* no bias, one where the file has it, always one */

struct builder {
	struct plan *plan;
	struct model *model;
	struct why *w;
	int failed;             /* 0 or -1 */
	size_t room;            /* of the plan's tables */
	size_t layer;           /* or LABEL_NONE */
	int tail;               /* behind the last attention */
	int pending;            /* the branch is still to be added to x */
	size_t packed;          /* index of the op that packed last */
};

/* x = token_embd (+ position_embd where the family learns positions). */
void build_embed(struct builder *b);

/* The next calls are about layer il. */
void build_layer(struct builder *b, size_t il);

/* x += branch, if one is pending; then norm(x), with a bias in families of layer norms, packed. */
void build_norm(struct builder *b, const char *name);

/* q, k and v of the packed rows: from attn_q, attn_k and attn_v, or from one matrix attn_qkv that holds their rows one after the other. */
void build_qkv(struct builder *b, enum bias bias);
void build_qkv_fused(struct builder *b, enum bias bias);

/* Rotation where the model has one, cache, attention, its result packed. head_norms: attn_q_norm and attn_k_norm on each head. */
void build_attend(struct builder *b, int head_norms);

/* The branch = W · packed rows, n_embd wide. */
void build_branch(struct builder *b, const char *name, enum bias bias);

/* f(ffn_gate) · ffn_up, or f(ffn_up), of the packed rows; packed again. */
void build_gated(struct builder *b, enum unary f);
void build_ungated(struct builder *b, enum unary f, enum bias bias);

/* output_norm and output, or token_embd again where the file has no output: the head. */
void build_head(struct builder *b);

#endif
