/* family: what is known of a model architecture. A family is a row in a table of fwd/families (families.c lists the
 * tables). Most share the layer of fwd/builder/decoder.c and differ in its options; the others have a function of their
 * own. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stddef.h>

#include "fwd/kernels/kernels.h"
#include "model.h"

struct builder;
struct stream_kind;

/* Norms of q and k: none; of each head before the rotation, or after it; of all heads together before it; of each head
 * of q without weights, of k with those of attn_kv_a_norm. */
enum head_norms { HEADS_PLAIN, HEADS_NORMED, HEADS_NORMED_LATE, HEADS_NORMED_TOGETHER, HEADS_COMPRESSED };

/* Options of decoder_layer(). Zeros are llama's. */
struct decoder {
	const char *attn_norm, *ffn_norm;       /* tensors of the norms; NULL: those names; "": there is none */
	enum head_norms heads;
	int post_norms;                 /* post_attention_norm and post_ffw_norm of the branches */
	int bare_norms;                 /* without weights */
	int parallel;                   /* both branches read x: one norm, where the file has no ffn_norm */
	int ungated;                    /* f(ffn_up) in place of f(ffn_gate) · ffn_up */
	enum unary f;
	int xielu;                      /* xIELU in place of f */
	int routes_input;               /* experts are chosen by x, before the layer's norms */
	int v_from_k;                   /* V is K before its norm, in layers without attn_v */
	int softplus_gates;             /* of attention; else sigmoids */
	int sub_norms;                  /* attn_sub_norm and ffn_sub_norm before the last product of a branch */
};

/* How a mixture weighs its experts: see struct experts. */
struct expert_rule {
	enum gating gating;             /* also the default of: */
	int reads_gating;               /* key expert_gating_func counts */
	int normalise;
	int reads_weights;              /* keys expert_weights_norm and expert_weights_scale count */
	int reads_scale;                /* only the latter does */
	int weighted;                   /* weights multiply the experts' inputs */
};

/* Whether files may have further layers, which predict further tokens: if a key says so, or if tensors do, too. */
enum predicts { PREDICTS_NOT, PREDICTS_BY_KEY, PREDICTS_BY_NAME };

/* Whether there is a table of learned positions: always, or if the file has one. */
enum positions { POSITIONS_NONE, POSITIONS_LEARNED, POSITIONS_OPTIONAL };

struct family {
	const char *arch;               /* general.architecture */
	enum norm_kind norm;
	enum rope_pairs pairs;
	int unrotated;                  /* no RoPE */
	enum positions positions;
	struct decoder decoder;
	enum predicts predicts;
	int no_epsilon;                 /* norms have none, whatever the key says, as in llama.cpp */
	enum mixer mixer;               /* of layers without KV heads; 0: all must have some */
	int partial;                    /* layers may lack a mixer or a feed-forward part */
	const char *final_norm;         /* NULL: output_norm */
	int either_epsilon;             /* RMS norms take the epsilon of layer norms where they have none */
	const struct stream_kind *streams;      /* of several residual streams (builder.h); NULL: there is one */
	int has_experts;                /* in layers with a router */
	const char *unused_key, *unused_bias;   /* a feature (keys.h) and a product's bias that files may have, but
					 * llama.cpp leaves out, and we do, too; or NULL */
	struct expert_rule experts;

	/* Reads what is the family's own: into m and its layers, which have what most families read. Or NULL. */
	int (*read)(struct model *m, struct why *w);

	/* Appends the ops of layer il (builder.h); failures stick to b. NULL: decoder_layer(). */
	void (*layer)(struct builder *b, size_t il);
};

const struct family *family_of(const char *arch);       /* or NULL */
const struct family *family_each(size_t i);             /* the i-th of all tables, or NULL past the last */

#endif
