/* mkfamilies: what the files of a family have that others do not, for mkweights: tensors and keys. */
#ifndef MKFAMILIES_H
#define MKFAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "mkgguf.h"

/* Norms of q and k: none; weights that all heads share; weights for each head; one norm of all heads together; for
 * each head of q, a number. */
enum mkheads { MKHEADS_PLAIN, MKHEADS_ONE, MKHEADS_ROWS, MKHEADS_ALL, MKHEADS_GAINS };

/* Zeros are LLaMA's. */
struct mkfamily {
	const char *name;               /* of mkmodel --arch */
	const char *arch;               /* NULL: the name */
	const char *pre;                /* BPE's pre-tokenizer; NULL: llama-bpe */
	const char *norm1, *norm2;      /* before the two parts of a layer; NULL: attn_norm, ffn_norm; "": none */
	int layer_norm, norm_bias, post_norms;
	const char *attn_post_norm;     /* NULL: post_attention_norm */
	enum mkheads heads;
	float heads_mean;               /* of the weights; 0: 1.2; less where scores are not divided by √head_dim */
	int fused_qkv, qkv_bias, out_bias, ff_bias, logits_bias;
	int ungated, fused_gate;        /* no ffn_gate; or its rows in ffn_up */
	int unrotated, positions;       /* no RoPE; a table of positions */
	int multi_head;                 /* as many KV heads as heads, of n_embd / heads elements */
	int whole_queries;              /* of latent attention: from one matrix */
	int low_gates;                  /* of latent attention: from what queries come from */
	uint32_t norm_rank;             /* of gates of norms: of both parts in layers with experts, else of attention's;
					 * 0: none */
	int shared_normed;              /* of latent attention: attn_k_norm, of the part that heads share */
	int unrotated_share;            /* one part of so many of a head is rotated; 0: all of it */
	int sinks, gates;               /* gates: attn_gate, of attention's result, of elements; 2: of heads */
	int images;                     /* layers have further weights, for images */
	int half_values;                /* heads of values have half as many elements as those of keys */
	uint32_t layers;                /* 0: the shape's */
	int uneven;                     /* heads and n_ff differ from layer to layer */
	uint32_t period;                /* all but each period-th layer slide and have heads half as long or, of latent
					 * attention, twice as many and as long; 0: none */
	uint32_t shared_kv;             /* so many last layers read K and V of others */
	int v_from_k;                   /* layers that do not slide have no attn_v */
	uint32_t per_layer;             /* elements of each layer's own input */
	int streams, out_scale;         /* AltUp; layer_output_scale */
	int hyper;                      /* so many streams, with hyper-connections */
	int stream_mean;                /* of which the head reads the mean, and has no tensors for that */
	int stream_matrix;              /* of which each layer has a matrix, too */
	uint32_t stream_rank;           /* or gates of all elements, of this rank */
	int ngrams;                     /* embeddings of n-grams in layer 1 */
	int residuals;                  /* attention residuals; 2: gated, of layers */
	/* attention: matrices for K and V, or one */
	enum { MKLATENT_NONE, MKLATENT_ABSORBED, MKLATENT_EXPANDED } latent;
	int compressed;                 /* compressed attention (mkcompressed.c) */
	int block_indexer;              /* the same, of blocks, in layers with experts */
	int indexer;                    /* of sparse attention */
	int kpool_names;                /* of the tensors of: */
	uint32_t pool;                  /* the indexer chooses groups of so many positions, by gated sums of keys */
	/* of layers in turn: a attention, m Mamba 2, b both, s Mamba, h PLaMo 2's Mamba, r RWKV 7, w the same without a
	 * norm and with an ordinary feed-forward part, x RWKV 6, q the same with fewer keys, no bonus and an ordinary
	 * feed-forward part, c a short convolution, d a gated delta net (attention then has gates), k Kimi delta
	 * attention, l lightning attention, p a product, - none */
	const char *mixers;
	int state_norms;                /* Mamba's step, B and C are normed with weights */
	uint32_t decay_rank;            /* of a delta net: decays of each key, through so many elements */
	int fused_decay;                /* ssm_ba in place of ssm_beta and ssm_alpha */
	int whole_decays;               /* of Kimi delta attention: decays and gates come from one matrix each */
	int whole_gates;                /* of Kimi delta attention: gates come from ssm_g */
	uint32_t blocks;                /* the file has tensors of so many layers; 0: of all */
	int single;                     /* a layer has a mixer or, where it has none, a feed-forward part */
	const char *last_norm;          /* NULL: output_norm; "": none */
	int head_norm_bias;             /* of each head */
	int bare_norm2, bare_post_norms;        /* named without .weight */

	uint32_t experts, used, dense;  /* so many layers come before the mixtures */
	int shared, shared_gate;        /* an expert for all rows; with a gate */
	int with_dense;                 /* a dense part, too; 2: as wide as the model */
	int beside;                     /* experts beside a dense part, with norms of their own */
	int latent_experts;             /* which read half of n_embd elements, made by a product; 2: ffn_routed_* */
	uint32_t adapters;              /* with low-rank deltas of all products; 0: none */
	uint32_t adjugates;             /* so many experts have one in common, which reads what they
					 * made; 0: none */
	uint32_t by_id;                 /* so many first layers choose experts by the id */
	int choice_bias, expert_bias;   /* exp_probs_b (2: named without .bias); biases of the router and the experts */
	const char *keys;               /* further ones: KEY=VALUE ...; a value with a point is a float, with commas
					 * an array */
};

const struct mkfamily *mkfamilies_named(const char *name);      /* or NULL */
const struct mkfamily *mkfamilies_each(size_t i);               /* the one at i, or NULL past the last */

/* Adds the further keys. */
void mkfamilies_keys(const struct mkfamily *f, struct mkgguf *m);

#endif
