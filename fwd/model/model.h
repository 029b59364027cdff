/* model: a GGUF file as the forward pass sees it: hyperparameters, checked and bounded, and tensors looked up by name
 * with the shape that the caller expects. The family (family.h) decides which tensors there must be: its layers ask for
 * them while the plan is built. model_all_used() then refuses a file with a tensor that nobody asked for, so that no
 * feature is silently ignored. */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gguf/gguf.h"
#include "lib/base/why.h"
#include "fwd/kernels/kernels.h"
#include "rope.h"

struct family;

/* How the router's logits become scores; the values are those of expert_gating_func minus 1. SOFTMAX: over all experts.
 * SIGMOID: of each logit. CHOSEN: the logits, with a softmax over the chosen experts as weights. ROOT: sqrt(softplus)
 * of each logit. */
enum gating { GATING_SOFTMAX, GATING_SIGMOID, GATING_CHOSEN, GATING_ROOT };

enum { EXPERTS_MAX = 1024, RWKV_HEAD_MAX = 256, STREAMS_MAX = 8 };

struct expert_sizes {
	size_t used;                    /* number of experts that each row uses */
	size_t n_ff, n_ff_shared;       /* hidden width of an expert; of the shared expert, or 0 */
};

/* A mixture of experts. A row uses the experts with the largest score (+ bias). Their weights are the scores, divided
 * by their sum if `normalise`, times scale. Adjugate experts (Inclusion AI 2025) are chosen by the same scores. */
struct experts {
	size_t n;                       /* number of experts; 0: none */
	struct expert_sizes most;       /* the largest of all layers */
	size_t n_latent;                /* width of the routed experts' inputs and results; 0: n_embd */
	enum gating gating;
	int normalise;
	float scale, scale_shared;      /* scale_shared: factor of the shared expert's result */
	size_t groups, groups_used;     /* groups of consecutive experts; only experts of the best groups_used can be
					 * chosen */
	int weighted;                   /* weights multiply the experts' inputs, not their results */
	size_t by_id;                   /* the first by_id layers choose experts by token id, from a table */
	size_t stand_for;               /* adjugates: number of consecutive experts that share one adjugate */
};

/* Multi-head latent attention (DeepSeek-AI 2024): keys and values of all heads are computed from one latent row of
 * `rank` elements, plus a rotated part of the key that the heads share. `absorbed`: the key and value matrices are
 * applied to queries and results instead, so that the cache holds latent rows only. */
struct latent {
	size_t rank, rank_q;            /* rank 0: no latent attention; rank_q 0: queries are not low-rank */
	size_t dim_nope, dim_rope, dim_v;       /* elements of a head: unrotated, rotated, of its value */
	int absorbed;
	int shared_normed;              /* the shared part of keys is normed before the rotation */
	int gates_low;                  /* gates are computed from the low-rank queries before their norm */
};

/* The indexer of sparse attention (DeepSeek-AI 2025): if a row can see more than `top` positions (or groups of
 * positions, or compressed rows), the indexer's heads choose which of them it attends to. */
struct indexer {
	size_t heads, dim, top;         /* top 0: no indexer */
	size_t rope_at;                 /* the first element of a head that rotates */
	enum rope_pairs pairs;
	float eps;                      /* of the layer norm of the indexer's keys */
	int groups;                     /* chooses groups of layer->ratio positions; */
	int split;                      /* or only part of the last group, so that `top` positions are chosen */
	size_t local;                   /* each head chooses `top` groups for one KV head, always including the last
					 * `local` groups; 0: the heads choose together */
};

/* Compressed attention (DeepSeek-AI 2026): besides its window, a row sees compressed rows, each computed from a group
 * of layer->ratio positions. In layers with ratio INDEXED_RATIO, groups overlap and an indexer chooses among them. */
struct compressed {
	size_t rank_q;                  /* elements of low-rank queries; 0: no compressed attention */
	size_t groups, rank_out;        /* groups of heads: each has an output matrix of rank_out rows */
};

enum {
	INDEXED_RATIO = 4,
	INDEXED_CTX_MAX = 1 << 20       /* positions: each thread has scratch memory for the scores of all */
};

/* Embeddings of n-grams (Qwen 2026): for each length from 2 to `longest`, several heads look up a row by a hash of the
 * last ids, each in its own part of a table. One layer adds them to the residual streams, through gates and a
 * convolution. */
enum { NGRAM_MAX = 8, NGRAM_HEADS_MAX = 64 };

struct ngrams {
	size_t layer;
	size_t longest;                 /* 0: no n-gram embeddings */
	size_t heads, n;                /* heads for each length; elements of a row of the table */
	size_t rows;
	size_t taps;                    /* of the convolution; taps are `longest` positions apart */
	size_t end;                     /* an id that ends a text: n-grams do not reach back beyond it */
	uint64_t multiplier[NGRAM_MAX];
	uint64_t first[NGRAM_HEADS_MAX], count[NGRAM_HEADS_MAX];        /* the rows of each head in the table */
};

/* Adapters (IBM 2026): low-rank deltas of the products of all layers. Some ids switch an adapter on. A row uses the
 * adapter whose number is the rounded mean of those that the ids up to it switched on. Adapters count from 1; the
 * deltas numbered 0 are for rows without an adapter. */
enum { ADAPTERS_MAX = 255 };

struct adapters {
	size_t n, rank;                 /* n 0: there are none */
	double other;                   /* weight in the mean of an id that switches none on; the others have weight
					 * 1 */
	uint64_t id[ADAPTERS_MAX];      /* the id that switches each adapter on */
	uint64_t substitute[ADAPTERS_MAX];      /* the id to embed in its place */
};

/* An encoder before the decoder (Raffel et al. 2020). The ids up to the first `end` are the encoder's text; each of its
 * rows sees all of it. The decoder's first row is at the text's last position, where it reads `start` in place of
 * `end`; its cross-attention sees the encoder's result. Scores get biases by distance in both stacks, one for each
 * range of distances (a bucket). */
enum { BUCKETS_MAX = 128 };

struct encoder {
	size_t n_layer;                 /* 0: no encoder */
	size_t start, end;              /* ids */
	size_t buckets;
};

/* Queries at position p are multiplied by 1 + scale · ln(1 + floor((p + offset) / length)). */
struct temperature {
	float scale;                    /* 0: none */
	size_t offset, length;
};

/* What mixes the positions of a layer. A layer may have none, or several side by side. */
enum mixer {
	MIXER_ATTENTION = 1, MIXER_CONVOLUTION = 2, MIXER_DELTA = 4, MIXER_KDA = 8, MIXER_MAMBA = 16, MIXER_MAMBA2 = 32,
	MIXER_RWKV7 = 64,
	MIXER_PRODUCT = 128,            /* no mixing: a product in place of attention */
	MIXER_RWKV6 = 256,
	MIXER_PLAMO2 = 512,             /* Mamba 2, with time steps, keys and queries computed as in Mamba */
	MIXER_LIGHTNING = 1024,
	MIXER_COMPRESSED = 2048         /* together with ATTENTION, which then also sees compressed rows */
};

/* Sizes of the mixers other than attention, named as their keys are. mixers.c has a table of what each means. */
struct ssm {
	size_t taps;                    /* of the convolution of each channel */
	size_t inner, state, groups, rank;
	size_t rank_w, rank_a, rank_v, rank_g;  /* of RWKV's low-rank products (RWKV 6: w of decays, a of the shift) */
	float lower_bound;              /* KDA: lower bound of the logarithm of decays, negative; 0: none */
	float eps;                      /* epsilon of the lengths of q and k in delta nets and KDA; 0: that of the
					 * norms */
	int negative;                   /* if there is a lower bound: ssm_a is negative */
	size_t halved;                  /* RWKV 6: x is halved after every this many layers; 0: never */
	int sigmoid_gates;              /* delta net: gates are sigmoids, not SiLU */
	size_t decay_rank;              /* delta net: rank of the decays of each key element; 0: one decay for each
					 * head */
	int tiled;                      /* delta net: value head j reads key head j mod groups; else consecutive value
					 * heads share one */
	enum { SSM_NORMS_NONE, SSM_NORMS_BARE, SSM_NORMS_WEIGHTED } norms;     /* of Mamba's dt, B and C */
};

/* Gates multiply attention's result, by their sigmoid or another function that the family names. attn_gate computes
 * them, or attn_q beside q: one for each element, or one for each head. */
enum gates { GATES_NONE, GATES_ELEMENTS, GATES_HEADS };

/* Limits of SwiGLU's factors: f(gate) is clamped to [-act, act] and up to [-up, up]; 0: not clamped. Soft limits
 * replace x by limit · tanh(x / limit): in the gate where it multiplies its sigmoid, and in up. */
struct glu_limit {
	float act, up;
	float soft_gate, soft_up;       /* 0: none */
};

/* What may differ from layer to layer, as read from the file. If a new family varies something else, add a field
 * here. */
struct layer {
	size_t block;                   /* its tensors are blk.N of the file; usually N is the layer's number */
	unsigned mixers;                /* a set of enum mixer */
	size_t n_head, n_head_kv;       /* 0: no attention */
	size_t dim_k, dim_v;            /* elements of a head: of queries and keys, of values */
	size_t n_ff;                    /* 0 and no experts: no feed-forward part */
	const struct rope_spec *rope;   /* NULL: no RoPE */
	float scale;                    /* factor of scores, usually 1 / sqrt(dim_k) */
	size_t window, chunk;           /* see struct attend; 0: all positions are seen */
	enum gates gates;               /* of attention's result */
	int head_norms_bare;            /* q and k: RMS norm of each head without weights, after the rotation */
	int q_gains;                    /* attn_q_norm has one factor for each head, applied after that norm */
	int head_norms_layer;           /* norms of the heads of q and k are layer norms with epsilon 1e-5 */
	int v_norms_bare;               /* v: RMS norm of each head without weights */
	const struct layer *kv;         /* the layer whose K and V this one reads; NULL: its own */
	struct temperature temperature;
	struct xielu xielu;             /* parameters, if the activation is xIELU */
	const float *slope;             /* ALiBi's, [n_head]; NULL: no ALiBi */
	const struct experts *experts;  /* NULL: a dense layer */
	struct expert_sizes expert_sizes;
	int v_in_k;                     /* see struct attend */
	struct latent latent;
	float sparsity;                 /* gates up to mean + sparsity × standard deviation become 0; 0: none (see
					 * sparsify()) */
	size_t rope_at;                 /* the first element of a head that rotates */
	size_t ratio;                   /* positions per compressed row or group; 0: none */
	enum { SEES_ALL, SEES_CHOSEN, CHOOSES } sparse; /* SEES_CHOSEN: the positions that an earlier layer chose */
	struct glu_limit limit, limit_experts;  /* of dense layers and the shared expert; of the routed experts */
};

struct model {
	/* the file */
	struct gguf *gguf;
	const struct family *family;
	char arch[32];                  /* general.architecture; the prefix of the keys */
	uint64_t fingerprint, vocab;    /* hashes of the weights and of the vocabulary */
	uint64_t settings;              /* hash of the values set in place of the file's; 0: none set */
	size_t bytes;                   /* of all tensors */
	int quantised;                  /* some matrix is quantised */

	/* sizes */
	size_t n_vocab, n_embd, n_layer;
	size_t n_block;                 /* layers in the file; those from n_layer on predict further tokens and are not
					 * run */
	size_t n_ctx_train;             /* context length of the training */
	size_t n_ctx_max;               /* context limit: rows of the table of learned positions, or what sparse
					 * attention supports; SIZE_MAX: none */
	int sparse;                     /* some layer has sparse attention */

	/* layers */
	struct layer *layer;            /* [n_layer] */
	struct experts experts;
	struct experts adjugates;       /* they read the experts' result; n 0: none */
	struct compressed compressed;
	struct indexer indexer;
	struct ngrams ngrams;
	struct adapters adapters;
	struct encoder encoder;
	int diffusion;                  /* a diffusion model: fills in mask tokens */
	int shifted;                    /* as in struct card */
	int32_t mask_id;                /* as in struct card */
	struct ssm ssm;
	int parallel;                   /* attention and the feed-forward part both read x */
	int loops_normed;               /* x is normed before the layers are run again */
	struct passes {
		size_t layers;          /* of a stack */
		size_t cycle;           /* runs of the low stack, plus one of the high stack */
	} passes;                       /* HRM */

	/* norms and attention */
	enum norm_kind norm;            /* usually the family's */
	float eps;                      /* of the norms */
	size_t norm_rank;               /* rank of the gates that multiply a layer's norms; 0: no gates */
	float post_eps;                 /* epsilon of the norms of branches; 0: eps */
	enum rope_pairs pairs;          /* usually the family's */
	float qkv_clamp;                /* q, k and v are clamped to ±this; 0: not clamped */
	float attn_cap;                 /* cap of scores; 0: none */
	float attn_out_scale;           /* factor of attention's branch, usually 1 */

	/* the residual stream */
	float embedding_scale, residual_scale;  /* factors of embeddings and of branches, usually 1 */
	int embedding_normed;           /* rows are normed after the embedding, without weights */
	int embedding_carried;          /* layers add a multiple of the embedding, or of what replaces it */
	int branches_normed;            /* Chameleon: norms are applied to branches, not to their inputs */
	float normed_scale;             /* MiniMax-Text-01: factor of the normed rows that branches are added to */
	size_t n_per_layer;             /* elements of each layer's own input (Gemma 3n and 4); 0: none */
	size_t n_streams;               /* number of residual streams, usually 1: see family->streams */
	struct hyper {
		float eps, magnitude;
		size_t rounds;          /* times that the mixing matrix of the streams is normalised; 0: there is no
					 * matrix */
		size_t rank;            /* of the gates of each element; 0: each stream has one weight */
		int averaged;           /* the head reads the mean of the streams */
	} hyper;                        /* of hyper-connections */
	size_t block_layers;            /* attention residuals: layers of a block */

	/* logits */
	float logit_scale, logit_cap;   /* logit_scale: usually 1; logit_cap 0: not capped */
	struct id_range {
		size_t from, to;
	} ruled_out;                    /* ids that are not text: their logits become -FLT_MAX */

	const struct faults *notes;     /* as in struct model_setup */
	int ignores_unknown;            /* likewise */

	/* Of model_survey(): where faults are reported. Zeros replace a faulty tensor, a default replaces a faulty
	 * key. */
	const struct faults *faults;
	int ready;              /* the plan can be built, which finds the faults of tensors */
	int unsure;             /* faults of shapes are not reported, because a key that decides them is faulty */

	/* private */
	struct rope_spec rope, rope_sliding;    /* of the layers without and with a window */
	unsigned features;      /* see keys.c */
	unsigned char *used;    /* [gguf->n_tensors]: see tensors.c */
	struct vector *vectors; /* a list of what model_vector() returned */
};

/* Floats of a row of q, k and v. */
static inline size_t layer_qkv(const struct layer *l)
{
	return l->n_head * l->dim_k + l->n_head_kv * (l->dim_k + l->dim_v);
}

/* The most positions that a row of this layer sees; 0: all. */
static inline size_t layer_window(const struct layer *l)
{
	return l->window ? l->window : l->chunk;
}

struct model_setup {
	const char *const *set;         /* values that replace the file's (see gguf_set()), up to NULL; or NULL */
	int ignores_unknown;            /* tensors that the architecture does not have are ignored */
	const struct faults *notes;     /* where it is reported what stands in for something missing; NULL: nowhere */
};

/* Opens a model and checks it. Reads the metadata and a few pages of each tensor, not the weights. Returns NULL with a
 * one-line reason if the file is damaged or the model is not supported. setup NULL: all zeros. */
struct model *model_open(const char *path, const struct model_setup *setup, struct why *w);

/* Opens as much of a faulty model as possible and reports each fault. The model cannot be run. Also reports to `notes`
 * keys that the architecture does not use. Returns NULL with a reason if the file cannot be read at all. */
struct model *model_survey(const char *path, const struct faults *faults, const struct faults *notes, struct why *w);

void model_close(struct model *m);

/* Reports something unusual, if anybody wants to know. */
void model_note(const struct model *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the file has a tensor of this name that is not ignored. */
int model_has(const struct model *m, const char *name);

/* Ignores a tensor, if it exists: it is not reported as unknown, and from here on model_has() is false for it. */
void model_ignore(struct model *m, const char *name);

/* *out = the n elements of a tensor, or its rows × cols, converted to floats from whatever type it has. The model owns
 * them. */
int model_vector(struct model *m, const char *name, size_t n, const float **out, struct why *w);
int model_table(struct model *m, const char *name, size_t rows, size_t cols, const float **out, struct why *w);

/* Gives a tensor that was stored in fewer dimensions than it has, with the elements in the same order, the shape
 * n x rows x cols. Other tensors stay as they are. */
void model_unfold(struct model *m, const char *name, size_t n, size_t rows, size_t cols);

/* Returns -1 with the tensor's name if there are no kernels for its type. */
int model_check_type(const struct gguf_tensor *t, struct why *w);

/* *out = the first of n consecutive matrices [rows × cols], in the mapping. Their type must be one that kernels
 * support. */
int model_matrices(struct model *m, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out,
	struct why *w);

/* *out = the rows × cols integers of a tensor, in the mapping. All must be in [0, end). */
int model_integers(struct model *m, const char *name, size_t rows, size_t cols, int32_t end, const int32_t **out,
	struct why *w);

/* Allocates n zeros, owned by the model. NULL if memory is short. */
float *model_floats(struct model *m, size_t n);

/* Returns -1 with the name of a tensor that nobody asked for, among those of layers [first, last) and, if these are all
 * layers, those of no layer; 0 if such tensors are to be ignored. */
int model_all_used(const struct model *m, size_t first, size_t last, struct why *w);

#endif
