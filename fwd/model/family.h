/* family: describes a model architecture. A family is a row in a table of fwd/families; families.c there lists the
 * tables and has the functions below. Most families use the layer of fwd/builder/decoder.c and differ in its options;
 * the others have a layer function of their own. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stddef.h>

#include "fwd/kernels/kernels.h"
#include "model.h"

struct builder;
struct stream_kind;
struct value;

/* Norms of q and k. PLAIN: none. NORMED: of each head, before the rotation; LATE: after it. TOGETHER: of all heads as
 * one row, before the rotation. COMPRESSED: of each head of q without weights, and of k with those of
 * attn_kv_a_norm. */
enum head_norms { HEADS_PLAIN, HEADS_NORMED, HEADS_NORMED_LATE, HEADS_NORMED_TOGETHER, HEADS_COMPRESSED };

/* Options of decoder_layer(). Zeros give llama's layer. */
struct decoder {
	const char *attn_norm, *ffn_norm;       /* tensor names; NULL: these names; "": no norm */
	enum head_norms heads;
	int post_norms;                 /* norms of the branches' results, by post_attention_norm and post_ffw_norm */
	int bare_norms;                 /* norms have no weights */
	int parallel;                   /* both branches read x; without ffn_norm, they share one norm */
	int ungated;                    /* f(ffn_up) instead of f(ffn_gate) · ffn_up */
	enum unary f;
	int xielu;                      /* xIELU instead of f */
	int divides;                    /* f's results are divided by ffn.act.scales, if the file has them */
	int routes_input;               /* the router reads x itself, before the layer's norms */
	int v_from_k;                   /* layers without attn_v use K, before its norm, as V */
	int softplus_gates;             /* attention's gates are softplus; else sigmoids */
	int sub_norms;                  /* attn_sub_norm and ffn_sub_norm before the last product of a branch */
};

/* How a mixture weighs its experts: see struct experts. */
struct expert_rule {
	enum gating gating;             /* the default if reads_gating */
	int reads_gating;               /* key expert_gating_func is read */
	int normalise;
	int reads_weights;              /* keys expert_weights_norm and expert_weights_scale are read */
	int reads_scale;                /* only expert_weights_scale is read */
	int weighted;                   /* weights multiply the experts' inputs, not their results */
};

/* Whether files may have extra layers for multi-token prediction, which are not run: where a key says so, or where the
 * file has their tensors, too. */
enum predicts { PREDICTS_NOT, PREDICTS_BY_KEY, PREDICTS_BY_NAME };

/* Whether there is a table of learned positions: always, or if the file has one. */
enum positions { POSITIONS_NONE, POSITIONS_LEARNED, POSITIONS_OPTIONAL };

/* Whether the family ranks pairs of texts, and by which row: the first, through tanh; the mean, through GELU; or the
 * last, whose scores become probabilities. Files may lack the head. */
enum rank_head { RANKS_NOT, RANKS_FIRST, RANKS_MEAN, RANKS_LAST };

/* The epsilon of norms. OPTIONAL: 0 if the file has none. NONE: 0, whatever the file says, as in llama.cpp. EITHER: if
 * the file has none for RMS norms, the one for layer norms. */
enum epsilons { EPSILON_REQUIRED, EPSILON_OPTIONAL, EPSILON_NONE, EPSILON_EITHER };

/* What mixes the positions of a layer in place of attention, or beside it (fwd/mixers/mixer.h). */
struct mixer {
	/* Reads the hyperparameters, once for all layers with this mixer, after the family's own keys. NULL: there are
	 * none. */
	int (*read)(struct model *m, struct why *w);

	/* Returns the branch that mixes the positions of x, in the builder's current layer. */
	struct value *(*build)(struct builder *b, struct value *x);
};

#define NO_WINDOW SIZE_MAX

struct family {
	const char *arch;               /* general.architecture */
	enum norm_kind norm;
	enum rope_pairs pairs;
	int unrotated;                  /* no RoPE */
	enum positions positions;
	size_t window;                  /* for layers_slide(), if the file lacks attention.sliding_window; 0: such a
					 * file is refused; NO_WINDOW: its layers have no windows */
	struct decoder decoder;
	enum predicts predicts;
	enum epsilons epsilon;
	const struct mixer *mixer;      /* of layers without KV heads; NULL: every layer must have KV heads */
	int diffusion;                  /* predicts mask tokens; each row sees its whole sequence */
	int headless;                   /* makes embeddings, no logits */
	int sees_all;                   /* each row sees its whole text, whatever attention.causal says */
	enum rank_head ranks;
	size_t n_dense;                 /* products after pooling that files may have */
	const char *stack;              /* prefix of the names of the layers' tensors; NULL: none */
	int partial;                    /* layers may lack a mixer or a feed-forward part */
	const char *final_norm;         /* NULL: output_norm; "": none */
	int embeds_output;              /* a file without token_embd uses output in its place */
	const struct stream_kind *streams;      /* NULL: one residual stream (builder.h) */
	const char *attn_output;        /* what files call it; NULL: attn_output */
	int has_experts;                /* layers with a router have experts */
	/* Tensors of the model or of each layer that files may have but llama.cpp ignores, and so do we; up to NULL. */
	const char *unused[8];
	struct expert_rule experts;

	/* Reads the family's own keys into m and its layers, after those that most families have, but before the
	 * vocabulary, the epsilons and the mask token. May be NULL. */
	int (*read)(struct model *m, struct why *w);

	/* Appends the ops of layer il (builder.h); failures stick to b. NULL: decoder_layer(). */
	void (*layer)(struct builder *b, size_t il);
};

const struct family *family_of(const char *arch);       /* NULL: unknown */
const struct family *family_each(size_t i);             /* the i-th of all tables; NULL past the last */

/* Describes a file that holds no text-generating model. name[n]: its general.architecture or general.type. NULL: the
 * name is unknown. */
const char *family_other(const char *name, size_t n);

#endif
