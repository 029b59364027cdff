/* builder: appends the ops of a model to its plan. Each call binds its tensors by their names in the file and checks
 * their shapes. A failure sticks: the calls after it do nothing, and build_plan() returns it.
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
 * To add a family: a struct family with a layer function of the calls below, in a file of its own or with families
 * like it; a row in families.c; a new file's name in the Makefile; its lines in tests/reference.c. What differs by
 * layer is a field of struct layer (model.h), read in model.c. To add a kind of op: plan/op.h. */
#ifndef BUILDER_H
#define BUILDER_H

#include "fwd/plan/plan.h"

enum bias { BIAS_NONE, BIAS_MAYBE, BIAS };      /* no bias, one where the file has it, always one */

struct builder {
	struct plan *plan;
	struct model *model;
	const struct layer *layer;      /* the one being built */
	struct why *w;
	int failed;                     /* 0 or -1 */
	size_t room;                    /* of the table of ops */
	size_t il;                      /* its number, or OP_NO_LAYER */
	int wanted;                     /* behind the last attention */
	int pending;                    /* a branch is still to be added to x */
};

/* All ops of the plan's layers. */
int build_plan(struct plan *p, struct why *w);

/* ---- for families ---- */

/* x += branch, if one is pending; then the family's kind of norm of x, packed. */
struct packed *build_norm(struct builder *b, const char *name);

/* q, k and v of packed rows: from attn_q, attn_k and attn_v, or from one matrix attn_qkv that holds their rows one
 * after the other. */
void build_qkv(struct builder *b, struct packed *x, enum bias bias);
void build_qkv_fused(struct builder *b, struct packed *x, enum bias bias);

/* Rotation where the layer has one, state, attention; its result, packed. head_norms: attn_q_norm and attn_k_norm on
 * each head. */
struct packed *build_attention(struct builder *b, int head_norms);

/* The branch = W · x, n_embd wide. */
void build_branch(struct builder *b, struct packed *x, const char *name, enum bias bias);

/* f(ffn_gate) · ffn_up, or f(ffn_up), of packed rows; packed again. */
struct packed *build_gated(struct builder *b, struct packed *x, enum unary f);
struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f, enum bias bias);

#endif
