/* mkfamilies: the tensors and keys in which the files of a family differ from others, for mkweights. */
#ifndef MKFAMILIES_H
#define MKFAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "mkgguf.h"

/* Norms of q and k. PLAIN: none. ONE: all heads share the weights. ROWS: weights for each head. ALL: one norm over all
 * heads together. GAINS: one factor for each head of q. */
enum mkheads { MKHEADS_PLAIN, MKHEADS_ONE, MKHEADS_ROWS, MKHEADS_ALL, MKHEADS_GAINS };

/* A family. Zeros give LLaMA. */
struct mkfamily {
	const char *name;               /* for mkmodel --arch */
	const char *arch;               /* general.architecture; NULL: the name */
	const char *pre;                /* BPE's pre-tokenizer; NULL: llama-bpe */
	const char *norm1, *norm2;      /* norms before attention and the feed-forward part; NULL: attn_norm, ffn_norm;
					 * "": none */
	int layer_norm, norm_bias, post_norms;
	const char *attn_post_norm;     /* NULL: post_attention_norm */
	enum mkheads heads;
	float heads_mean;               /* mean of the norms' weights; 0: 1.2. Smaller if scores are not divided by
					 * √head_dim */
	int fused_qkv, qkv_bias;        /* qkv_bias 2: of q and v, even if attn_qkv has their weights */
	int out_bias, ff_bias, logits_bias;
	int ungated, fused_gate;        /* there is no ffn_gate; or its rows are in ffn_up */
	int divided;                    /* ffn.act.scales divide the activations */
	int unrotated, positions;       /* no RoPE; a table of learned positions */
	int multi_head;                 /* n_head_kv = n_head, and head_dim = n_embd / n_head */
	int whole_queries;              /* latent attention: queries are not low-rank */
	int low_gates;                  /* latent attention: gates are computed from the low-rank queries */
	uint32_t norm_rank;             /* rank of the norms' gates: of both norms in layers with experts, else of
					 * attention's only; 0: none */
	int shared_normed;              /* latent attention: has attn_k_norm, for the part of keys that heads share */
	int unrotated_share;            /* 1/unrotated_share of a head's elements are rotated; 0: all */
	int bare_freqs;                 /* rope_freqs whose factors are all 1 */
	int ollama;                     /* attn_out instead of attn_output, and attn_sinks without .weight */
	int sinks, gates;               /* gates: 1: attn_gate with a gate per element, 2: per head */
	int images;                     /* layers have additional weights for images */
	int half_values;                /* heads of V have half as many elements as heads of K */
	uint32_t layers;                /* 0: the shape's */
	int uneven;                     /* n_head and n_ff differ from layer to layer */
	uint32_t period;                /* all layers but every period-th have a window, and heads half as long or, with
					 * latent attention, twice as many and as long; 0: none */
	uint32_t shared_kv;             /* number of last layers that read the K and V of earlier ones */
	int v_from_k;                   /* layers without a window have no attn_v */
	uint32_t per_layer;             /* elements of the per-layer inputs */
	int streams, out_scale;         /* AltUp; layer_output_scale */
	int hyper;                      /* number of residual streams, with hyper-connections */
	int stream_mean;                /* the head reads the mean of the streams, and has no tensors for that */
	int stream_matrix;              /* each layer also has a mixing matrix of the streams */
	uint32_t stream_rank;           /* or gates for each element, of this rank */
	int ngrams;                     /* embeddings of n-grams in layer 1 */
	int residuals;                  /* attention residuals; 2: gated ones, between layers */
	/* latent attention with separate matrices for K and V (ABSORBED), or one for both (EXPANDED) */
	enum { MKLATENT_NONE, MKLATENT_ABSORBED, MKLATENT_EXPANDED } latent;
	int compressed;                 /* compressed attention (mkcompressed.c) */
	int block_indexer;              /* an indexer of blocks, in layers with experts */
	int indexer;                    /* an indexer of sparse attention */
	int kpool_names;                /* the other names of the tensors of: */
	uint32_t pool;                  /* positions per group that the indexer chooses, by gated sums of keys */
	/* the mixers of the layers in turn: a attention, m Mamba 2, b both, s Mamba, h PLaMo 2's Mamba, r RWKV 7, w
	 * RWKV 7 without a norm and with an ordinary feed-forward part, x RWKV 6, q RWKV 6 with fewer keys, no bonus
	 * and an ordinary feed-forward part, c a short convolution, d a gated delta net (attention then has gates), k
	 * Kimi delta attention, l lightning attention, p a product, - none */
	const char *mixers;
	int state_norms;                /* Mamba's time steps, B and C are normed with weights */
	uint32_t decay_rank;            /* delta net: rank of the decays of each key element; 0: a decay for each
					 * head */
	int fused_decay;                /* ssm_ba instead of ssm_beta and ssm_alpha */
	int whole_decays;               /* Kimi delta attention: decays and gates each come from a single matrix */
	int whole_gates;                /* Kimi delta attention: gates come from ssm_g */
	uint32_t blocks;                /* number of layers that have tensors in the file; 0: all */
	int single;                     /* a layer has either a mixer or a feed-forward part */
	const char *last_norm;          /* NULL: output_norm; "": none */
	int no_embedding;               /* no token_embd: output is used in its place */
	int head_norm_bias;             /* norms of heads have biases */
	int bare_norm2, bare_post_norms;        /* tensors named without .weight */

	uint32_t experts, used, dense;  /* dense: number of leading layers without experts */
	uint32_t uneven_experts;        /* layers with even numbers use this many experts fewer per row, and experts
					 * half as wide */
	int shared, shared_gate;        /* shared expert; with a gate */
	int with_dense;                 /* layers with experts also have a dense part; 2: as wide as the model */
	int beside;                     /* experts beside a dense part, each with norms of its own */
	int latent_experts;             /* experts work on n_embd / 2 elements, made by a product; 2: with tensors
					 * ffn_routed_* */
	int wide_latent;                /* or on n_embd · 3 / 2 */
	uint32_t adapters;              /* with low-rank deltas of all products; 0: none */
	uint32_t adjugates;             /* number of experts that share an adjugate, which reads their result; 0:
					 * none */
	uint32_t by_id;                 /* number of first layers that choose experts by token id */
	int choice_bias, expert_bias;   /* exp_probs_b (2: named without .bias); biases of router and experts */
	uint32_t decoders;              /* number of the decoder's layers, after an encoder; 0: there is no encoder */
	uint32_t eos;                   /* the id that ends a text; 0: the vocabulary's */
	uint32_t mask;                  /* the mask token's id; 0: not a diffusion model */
	int unshifted;                  /* logits are for a row's own position */
	int embeds;                     /* makes embeddings; 2: and no logits */
	uint32_t types;                 /* rows of token_types; 0: none */
	int normed_embedding;           /* token_embd_norm */
	const char *ff_post_norm;       /* NULL: post_ffw_norm */
	int bare_first;                 /* layer 0 has no norm1 */
	int twice_normed;               /* attn_norm_2 */
	uint32_t every;                 /* only the second of every so many layers has experts; 0: all */
	int encodes;                    /* the encoder of T5 alone */
	const char *ranks;              /* tensors of the rank head: letters c (cls), n (cls.norm), o (cls.output), b
					 * (with biases) */
	uint32_t labels;                /* of classifier.output_labels; 0: no such key */
	uint32_t projections;           /* products after pooling, dense_2 and so on */
	const char *keys;               /* further keys: KEY=VALUE ...; a value with a point is a float, one with commas
					 * an array */
};

const struct mkfamily *mkfamilies_named(const char *name);      /* or NULL */
const struct mkfamily *mkfamilies_each(size_t i);               /* the i-th, or NULL past the last */

/* Whether layer il has experts. */
int mkfamilies_has_experts(const struct mkfamily *f, uint32_t il);

/* Adds the keys of f->keys. */
void mkfamilies_keys(const struct mkfamily *f, struct mkgguf *m);

#endif
