/* reference_model: what the reference (reference.c) knows of a model: sizes and options from the file's keys, the rules
 * of its family, and its weights as floats. It shares the GGUF reader and the dequantisers with the product, and
 * nothing else. A failure ends the program. */
#ifndef REFERENCE_MODEL_H
#define REFERENCE_MODEL_H

#include <stddef.h>

#include "lib/gguf/gguf.h"

enum { REFERENCE_LAYERS = 128, REFERENCE_EXPERTS = 256 };

enum activation { SILU, GELU, RELU, RELU2, XIELU, SWIGLU_OAI };
enum head_norm { HEADS_PLAIN, HEADS_EACH, HEADS_EACH_LATE, HEADS_TOGETHER };    /* of q and k; LATE: after RoPE */
enum gate { GATE_DEFAULT, GATE_SOFTMAX, GATE_SIGMOID, GATE_CHOSEN, GATE_ROOT }; /* numbered as in the file's key */

struct reference;

/* The rules of a family. Zeros are LLaMA's. */
struct rules {
	const char *arch;
	int layer_norm;                 /* norms subtract the mean; otherwise RMSNorm */
	int halves;                     /* RoPE rotates (0, n_rot/2), (1, n_rot/2 + 1)...; else (0,1), (2,3)... */
	int unrotated;                  /* no RoPE */
	size_t window;                  /* without a key for it; 0: none */
	int ollama;                     /* attn_out instead of attn_output, attn_sinks without .weight, YaRN without a
					 * key that says so */
	const char *norm1, *norm2;      /* of attention and the feed-forward part; "": none */
	enum head_norm heads;
	int post_norms;                 /* post_attention_norm and post_ffw_norm on the results of branches */
	const char *attn_post_norm;     /* NULL: post_attention_norm */
	int parallel;                   /* both branches read the layer's input; one norm if there is no norm2 */
	int ungated;                    /* act(up) instead of act(gate) · up */
	enum activation act;

	enum gate gate;                 /* of experts; GATE_DEFAULT: softmax */
	int gate_key, weight_keys;      /* whether keys expert_gating_func and expert_weights_* are read */
	int scale_key;                  /* of expert_weights_*, only the scale is read */
	int normalised;                 /* experts' weights are divided by their sum */
	int weighs_inputs;              /* weights multiply the experts' inputs, not their results */
	int limits_gates;               /* limits apply to gates, not to act(gate) */
	int softplus_gates;             /* attention's gates are softplus; else sigmoids */
	int averaged;                   /* the result is the mean of the routed and the shared experts' results */
	int routes_input;               /* the router reads the layer's input */
	int beside;                     /* experts are added to the dense part, each with norms of its own */

	enum { EXPERTS_ALONE, EXPERTS_OF_INPUT, EXPERTS_AVERAGED } with_dense;  /* in layers that also have a dense
					 * part: experts read the layer's input, with a norm of their own; or they read
					 * what the dense part reads, and the sum is divided by √2 */
	int carries_embedding;          /* a layer adds a multiple of the embedding */
	int sees_all;                   /* rows see the whole text */
	int norms_sums;                 /* norms are of what a branch was added to */
	enum { RANKS_FIRST, RANKS_MEAN, RANKS_LAST } ranks;     /* which row a pair of texts is ranked by */
	int layer_norm_heads;           /* norms of heads subtract the mean; their epsilon is 1e-5 */
	int plamo2;                     /* PLaMo 2's variant of Mamba */
	int tiled_heads;                /* value head j of a delta net reads key head j mod (number of key heads) */
	const char *last_norm;          /* NULL: output_norm. token_embd_norm is then not one after the embedding */
	const char *unbiased;           /* the bias of this product is ignored; or NULL */
	void (*adapt)(struct reference *m);     /* applies everything else that differs; or NULL */
};

struct reference_layer {
	size_t n_head, n_head_kv, head_dim, dim_v, n_rot, n_ff, n_used; /* see struct reference */
	double *k, *v;                  /* [n][n_head_kv][head_dim or dim_v], kept for layers that share them */
	size_t kv_of;                   /* the layer whose k and v this one reads; usually itself */
	double sparsity;                /* gates up to mean + sparsity × standard deviation become 0; 0: none */
	int chooses;                    /* has an indexer of positions */
	size_t ratio;                   /* positions per compressed row; 0: the layer has none */
	size_t window, chunk;           /* i sees j where i - j < window and i / chunk = j / chunk; 0: all */
	double scale;                   /* of scores; 0: the model's */
	int rotated, bare_heads;        /* bare_heads: q and k are normed by head, without weights, after RoPE */
	double base;                    /* RoPE's; 0: the model's */
	double plain_base;              /* RoPE with this base and no scaling; 0: the model's */
	double temperature;             /* q *= 1 + temperature · ln(1 + floor((i + offset) / length)) */
	double limit, limit_experts;    /* of act(gate), or of the gate, and of up, in all but the
					 * routed experts, and in these; 0: none */
	double xielu[4];                /* alpha_p and alpha_n after softplus, beta, eps */
};

struct reference {
	const struct gguf *g;
	const struct rules *rules;
	char arch[32];
	size_t n_vocab, n_embd, n_layer;
	size_t n_head, n_head_kv, n_rot, n_ff;  /* of the current layer, like head_dim and dim_v */
	size_t head_dim, dim_v;         /* of queries and keys; of values */
	int low_gates;                  /* gates of attention's result read the low-rank queries before their norm; else
					 * x */
	int bare_values;                /* v is normed by head, without weights */
	size_t n_per_layer, n_streams;  /* elements of each layer's own input; residual streams */
	double magnitude, hyper_eps;    /* of hyper-connections; magnitude 0: none */
	size_t rounds;                  /* times their mixing matrix is normalised; 0: there is no matrix */
	int gated_streams;              /* hyper-connections have a gate for each element (Qwen 4) */
	size_t ngrams, ngram_taps, ngram_end;           /* ngrams: the longest n-gram; 0: none */
	size_t index_heads, index_dim, index_top;       /* of sparse attention; index_top 0: none */
	double index_eps;
	int index_halves, index_turns_end;              /* how the indexer rotates its heads */
	size_t index_local;             /* blocks that each head always sees; 0: the indexer's heads choose together */
	char *sees;                     /* [n][n], or [n_head_kv][n][n]: what the latest indexer chose for each row */
	size_t out_groups;              /* of compressed attention */
	const int *ids;                 /* of the prompt */
	double soft_gate, soft_up;      /* x becomes limit · tanh(x / limit); 0: there are none */
	size_t recalled_layers;         /* layers of a block, in gated attention residuals; 0: none */
	size_t block_layers;            /* the same, in plain ones; 0: none. Both bank residual streams here: */
	double *block[REFERENCE_LAYERS];
	size_t n_block;
	double eps;
	double rope_base, factor, original_ctx, beta_fast, beta_slow;   /* factor 1: no scaling */
	double kept;                    /* YaRN: how much of their frequency the fastest pairs keep */
	double rope_length, plain_length;       /* the factor of cosine and sine; the same in layers with plain_base */
	int yarn, parallel;
	size_t section[4];              /* pairs of each section; those of the last have angle 0 in texts; all 0:
					 * none */
	int interleaved, halves;        /* interleaved: sections alternate; halves: usually the rules' value */
	const char *factors;            /* the tensor that divides RoPE's frequencies */
	enum activation act;            /* usually the rules' */
	double scale, attn_cap, logit_cap, clamp, alibi;        /* scale: of scores; caps, clamp, alibi: 0: none */
	double embedding_scale, residual_scale, logit_scale;
	double attn_out_scale;          /* of attention's branch */
	size_t temperature_offset, temperature_length;

	size_t n_state_groups;          /* key heads of delta nets; groups of state spaces */
	size_t wkv_head;                /* elements of a head of RWKV */
	size_t halved;                  /* RWKV 6: x is halved after every this many layers; 0: never */
	size_t times;                   /* the layers are run this many times, */
	int norms_between;              /* with the final norm in between */
	double least_decay;             /* lower bound of the logarithm of decays; 0: none */
	double unit_eps;                /* epsilon of the lengths of q and k in delta nets; 0: eps */
	int negative_rates;             /* ssm_a is negative although decays have a lower bound */
	double *embedded;               /* x[n][n_embd] after the embedding, where layers add it */
	size_t no_text_from, no_text_to;        /* ids that are not text: their logits become the least */
	size_t stack, cycle;            /* HRM: layers of a stack; runs of a cycle (low ones and one high one) */
	double *other;                  /* HRM: the latest result of the stack whose result is not in x */
	double normed_scale;            /* branches are added to normed rows times this; 0: to x */
	int norms_branches;             /* norms are applied to the results of branches, not to their inputs */
	int normed_embedding;           /* rows are normed after the embedding, without weights */
	double post_eps;                /* epsilon of the norms of branches; 0: eps */
	double *first_values;           /* the first layer's values, [n][n_embd] */
	int norms_state;                /* Mamba's time steps, B and C are normed, without weights */

	int sees_all;                   /* rows see the whole text, in windows both ways */
	size_t encoder_layers;          /* 0: no encoder */
	size_t buckets;                 /* of the biases of scores by distance */
	int text_ends, answer_starts;   /* the id that ends the encoder's text; the decoder's first */

	size_t n_expert, n_groups, n_groups_used;
	size_t n_used;                  /* experts per row, of the current layer */
	size_t n_adapters, *adapter;    /* adapters; [n], the number of each row's, from 1; 0: none */
	double other_ids;               /* weight in the mean of adapters of an id that switches none on */
	size_t stand_for;               /* consecutive experts per adjugate; 0: there are none */
	double adjugates_scale;
	enum gate gate;
	int normalised;
	double weights_scale;
	struct reference_layer layer[REFERENCE_LAYERS];
};

_Noreturn void die(const char *format, ...);
void *memory(size_t n, size_t size);    /* zeros */

/* The sizes of layer il in those of the model. */
void reference_enter(struct reference *m, size_t il);

void reference_read(struct reference *m, const struct gguf *g);

/* The rules of an architecture, or NULL. */
const struct rules *reference_rules(struct gguf_string arch);

/* The array of this key. */
const struct gguf_value *reference_array(const struct reference *m, const char *key);

/* How many values the tensor has; 0: there is none. */
size_t n_weights(const struct reference *m, const char *format, ...);

/* The full name of the tensor with the embeddings. */
const char *reference_embedding(const struct reference *m);

/* The tensor's n values, or NULL where there is none; free() them. */
float *weights(const struct reference *m, size_t n, const char *format, ...);

#endif
