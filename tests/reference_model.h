/* reference_model: what the reference (reference.c) knows of a model: sizes and options from the file's keys, the rules
 * of its family, and its weights, widened. It shares the reading of the file and the dequantisers with the product, and
 * nothing else. A failure ends the program. */
#ifndef REFERENCE_MODEL_H
#define REFERENCE_MODEL_H

#include <stddef.h>

#include "lib/gguf/gguf.h"

enum { REFERENCE_LAYERS = 128, REFERENCE_EXPERTS = 256 };

enum activation { SILU, GELU, RELU, RELU2, XIELU, SWIGLU_OAI };
enum head_norm { HEADS_PLAIN, HEADS_EACH, HEADS_EACH_LATE, HEADS_TOGETHER };    /* of q and k; late: after RoPE */
enum gate { GATE_DEFAULT, GATE_SOFTMAX, GATE_SIGMOID, GATE_CHOSEN, GATE_ROOT }; /* the numbers of the file's key */

struct reference;

/* A family: zeros are LLaMA's. */
struct rules {
	const char *arch;
	int layer_norm;                 /* norms subtract the mean; otherwise RMSNorm */
	int halves;                     /* RoPE rotates (0, n_rot/2), (1, n_rot/2 + 1)...; otherwise (0,1), (2,3)... */
	int unrotated;                  /* no RoPE */
	const char *norm1, *norm2;      /* of the two parts of a layer; "": none */
	enum head_norm heads;
	int post_norms;                 /* post_attention_norm and post_ffw_norm of the branches */
	const char *attn_post_norm;     /* NULL: post_attention_norm */
	int parallel;                   /* both parts read the layer's input, where there is no norm2 */
	int ungated;                    /* act(up) in place of act(gate) · up */
	enum activation act;

	enum gate gate;                 /* of experts; GATE_DEFAULT: softmax */
	int gate_key, weight_keys;      /* whether expert_gating_func, and expert_weights_*, count */
	int scale_key;                  /* of expert_weights_*, only the scale counts */
	int normalised;                 /* weights are divided by their sum */
	int weighs_inputs;              /* weights multiply the experts' inputs */
	int limits_gates;               /* limits are of gates, not of act(gate) */
	int softplus_gates;             /* of attention; else sigmoids */
	int averaged;                   /* with the shared expert: half of the sum */
	int routes_input;               /* the router reads the layer's input */
	int beside;                     /* experts add to the dense part, each part with norms of its own */

	enum { EXPERTS_ALONE, EXPERTS_OF_INPUT, EXPERTS_AVERAGED } with_dense;  /* what experts do where a layer has a
					 * dense part, too: read the layer's input, normed; read what that reads,
					 * and the sum is divided by the root of 2 */
	int carries_embedding;          /* a layer adds some of the embedding */
	int layer_norm_heads;           /* heads' norms subtract the mean, with an epsilon of 1e-5 */
	int plamo2;                     /* its Mamba */
	int tiled_heads;                /* value head j of a delta net reads key head j mod their number */
	int late_embd_norm;             /* token_embd_norm is the last norm, not the first */
	const char *unbiased;           /* the bias of this product is left out; or NULL */
	void (*adapt)(struct reference *m);     /* what else is different; or NULL */
};

struct reference_layer {
	size_t n_head, n_head_kv, head_dim, dim_v, n_rot, n_ff; /* see struct reference */
	double *k, *v;                  /* [n][n_head_kv][head_dim or dim_v], for the layers that read them */
	size_t kv_of;                   /* the layer whose k and v this one reads; usually itself */
	double sparsity;                /* gates: 0 up to so many standard deviations above their mean; 0: none */
	int chooses;                    /* it has an indexer of positions */
	size_t ratio;                   /* positions of a compressed row; 0: there are none */
	size_t window, chunk;           /* i sees j where i - j < window and i / chunk = j / chunk; 0: all */
	double scale;                   /* of scores; 0: the model's */
	int rotated, bare_heads;        /* bare: after RoPE, q and k are normed by head without weights */
	double base;                    /* of RoPE; 0: the model's */
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
	size_t n_head, n_head_kv, n_rot, n_ff;  /* of the layer at work, as are these: */
	size_t head_dim, dim_v;         /* of queries and keys; of values */
	int low_gates;                  /* of attention's result: from what queries come from, before its norm */
	int bare_values;                /* v is normed by head without weights */
	size_t n_per_layer, n_streams;  /* elements of a layer's own input; residual streams */
	double magnitude, hyper_eps;    /* of hyper-connections; magnitude 0: there are none */
	size_t rounds;                  /* of normalising their matrix; 0: there is none */
	int gated_streams;              /* they have gates of all elements (Qwen 4) */
	size_t ngrams, ngram_taps, ngram_end;           /* the longest n-gram; 0: there are none */
	size_t index_heads, index_dim, index_top;       /* of sparse attention; top 0: there is none */
	double index_eps;
	int index_halves, index_turns_end;              /* how its indexer's heads are rotated */
	size_t index_local;             /* blocks that each head always sees; 0: the indexer's heads choose together */
	char *sees;                     /* [n][n], or [n_head_kv][n][n]: what the latest indexer has chosen */
	size_t out_groups;              /* of compressed attention */
	const int *ids;                 /* of the prompt */
	double soft_gate, soft_up;      /* x becomes limit · tanh(x / limit); 0: there are none */
	size_t recalled_layers;         /* of a block of gated ones (below); 0: there are none */
	size_t block_layers;            /* of attention residuals; 0: there are none; the residual streams banked: */
	double *block[REFERENCE_LAYERS];
	size_t n_block;
	double eps;
	double rope_base, factor, original_ctx, beta_fast, beta_slow;   /* factor 1: no scaling */
	double kept;                    /* YaRN: of the frequency of the fastest pairs */
	double rope_length, plain_length;       /* what cos and sin are multiplied by; where layers have plain_base */
	int yarn, parallel;
	size_t section[4];              /* of pairs; those of the last have an angle of 0 in texts; all 0: none */
	int interleaved, halves;        /* sections take turns; RoPE's pairs, usually the rules' */
	const char *factors;            /* the tensor that divides RoPE's frequencies */
	double scale, attn_cap, logit_cap, clamp, alibi;        /* scale: of scores; caps, clamp, alibi: 0: none */
	double embedding_scale, residual_scale, logit_scale;
	double attn_out_scale;          /* of attention's branch */
	size_t temperature_offset, temperature_length;

	size_t n_state_groups;          /* of key heads, of state spaces */
	size_t wkv_head;                /* elements of a head of RWKV; */
	size_t halved;                  /* x is halved after so many layers of RWKV 6; 0: never */
	size_t times;                   /* the layers are run so often; */
	int norms_between;              /* with the last norm between */
	double least_decay;             /* its logarithm; 0: there is none */
	double unit_eps;                /* of the lengths of q and k in delta nets; 0: eps */
	int negative_rates;             /* ssm_a, with a least */
	double *embedded;               /* x[n][n_embd] after the embedding, where layers add it */
	size_t no_text_from, no_text_to;        /* ids whose logits are the least */
	size_t stack, cycle;            /* HRM: layers of a stack; runs of the low one, and one of the high one */
	double *other;                  /* the result that is not x */
	double normed_scale;            /* branches are added to so much of normed rows; 0: to x */
	int norms_branches;             /* norms of the parts are of their branches */
	int normed_embedding;           /* without weights */
	double post_eps;                /* of the norms of branches; 0: eps */
	double *first_values;           /* the first layer's values, [n][n_embd] */
	int norms_state;                /* norms of Mamba's step, B and C, without weights */

	size_t n_expert, n_used, n_groups, n_groups_used;
	size_t n_adapters, *adapter;    /* that ids switch on; of each row, from 1, 0: none */
	double other_ids;               /* what an id that switches none counts in the mean of adapters */
	size_t stand_for;               /* experts that an adjugate stands for; 0: there are none */
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

/* The array of this key. */
const struct gguf_value *reference_array(const struct reference *m, const char *key);

/* How many values the tensor has; 0: there is none. */
size_t n_weights(const struct reference *m, const char *format, ...);

/* The tensor's n values, or NULL where there is none; free() them. */
float *weights(const struct reference *m, size_t n, const char *format, ...);

#endif
