/* model: a GGUF file as the forward pass sees it: hyperparameters, checked and bounded, and tensors looked up by name
 * with the shape that the caller expects. Which tensors there must be is up to the family (family.h): its layers ask
 * for them while the plan is built. model_all_used() then refuses a file with a tensor that nobody asked for, so that
 * no feature is left out in silence. */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gguf/gguf.h"
#include "lib/base/why.h"
#include "fwd/kernels/kernels.h"
#include "rope.h"

struct family;

/* Scores of experts, by the numbers of expert_gating_func less 1: softmax of all logits; sigmoid of each; the logits,
 * with a softmax of those chosen as weights; the root of softplus of each. */
enum gating { GATING_SOFTMAX, GATING_SIGMOID, GATING_CHOSEN, GATING_ROOT };

enum { EXPERTS_MAX = 1024, RWKV_HEAD_MAX = 256, STREAMS_MAX = 8 };

/* The mixture of experts of a model. Those with the largest score (+ bias) are chosen; their weights are the scores,
 * divided by their sum if `normalise`, times scale. Adjugate experts (Inclusion AI 2025) are chosen by the same
 * scores. */
struct experts {
	size_t n, used;                 /* experts; of each row. n 0: none */
	size_t n_ff, n_ff_shared;       /* of one; of the shared expert, or 0 */
	size_t n_latent;                /* elements that the routed experts read and make; 0: n_embd */
	enum gating gating;
	int normalise;
	float scale, scale_shared;      /* scale_shared: of the shared expert's result */
	size_t groups, groups_used;     /* consecutive experts; only those of the best groups can be chosen */
	int weighted;                   /* weights multiply the experts' inputs, not their results */
	size_t by_id;                   /* number of first layers that take experts from a table by id */
	size_t stand_for;               /* adjugates: consecutive experts that each stands for */
};

/* Multi-head latent attention (DeepSeek-AI 2024): keys and values of all heads from one row of `rank` elements, and a
 * rotated part of the key that the heads share. `absorbed`: the matrices of keys and values are applied to queries and
 * results, so that the state holds those rows alone. */
struct latent {
	size_t rank, rank_q;            /* rank 0: no latent attention; rank_q 0: queries from one matrix */
	size_t dim_nope, dim_rope, dim_v;       /* of a head: not rotated, rotated, of values */
	int absorbed;
	int shared_normed;              /* the part of keys that all heads share is normed before it is rotated */
	int gates_low;                  /* gates are made of the low-rank queries, before the norm of these */
};

/* The indexer of sparse attention (DeepSeek-AI 2025): where a row could see more than `top` positions, groups of
 * them, or compressed rows, the indexer's heads choose those it attends to. */
struct indexer {
	size_t heads, dim, top;         /* top 0: there is none */
	size_t rope_at;                 /* the first element of a head that rotates */
	enum rope_pairs pairs;
	float eps;                      /* of the layer norm of its keys */
	int groups;                     /* it chooses groups of layer->ratio positions; */
	int split;                      /* or some of a group, so that all are `top` positions */
	size_t local;                   /* each head chooses for one KV head: `top` groups, the last ones always; 0: all
					 * choose together */
};

/* Compressed attention (DeepSeek-AI 2026): besides its window, a row sees compressed rows, each made of the rows of a
 * group of layer->ratio positions. Where the ratio is INDEXED_RATIO, groups overlap, and the indexer chooses. */
struct compressed {
	size_t rank_q;                  /* elements that queries are made of; 0: no compressed attention */
	size_t groups, rank_out;        /* of heads: each has a matrix for its results, of rank_out rows */
};

enum {
	INDEXED_RATIO = 4,
	INDEXED_CTX_MAX = 1 << 20       /* positions: each thread has scratch memory for all their scores */
};

/* Embeddings of n-grams (Qwen 2026): for each length from 2 to `longest`, some heads take a row from their part of a
 * table, by a hash of the last ids. A layer adds them to the residual streams, through gates and a convolution. */
enum { NGRAM_MAX = 8, NGRAM_HEADS_MAX = 64 };

struct ngrams {
	size_t layer;
	size_t longest;                 /* 0: there are none */
	size_t heads, n;                /* of each length; elements of a row of the table */
	size_t rows;
	size_t taps;                    /* of the convolution, `longest` positions apart */
	size_t end;                     /* an id: what is before it does not count */
	uint64_t multiplier[NGRAM_MAX];
	uint64_t first[NGRAM_HEADS_MAX], count[NGRAM_HEADS_MAX];        /* a head's rows */
};

/* Adapters (IBM 2026), each with low-rank deltas of the products of all layers. Some ids switch one on: a row takes the
 * adapter whose number is the rounded mean of those that the ids up to it have switched on. They count from 1; deltas
 * with the number 0 are for rows without one. */
enum { ADAPTERS_MAX = 255 };

struct adapters {
	size_t n, rank;                 /* n 0: there are none */
	double other;                   /* the weight in the mean of an id that switches none on; others weigh 1 */
	uint64_t id[ADAPTERS_MAX];      /* that switches each on; */
	uint64_t substitute[ADAPTERS_MAX];      /* the id that is embedded in its place */
};

/* Queries at position p are multiplied by 1 + scale · ln(1 + floor((p + offset) / length)). */
struct temperature {
	float scale;                    /* 0: none */
	size_t offset, length;
};

/* What mixes the positions of a layer: attention, short convolutions, gated delta nets, state spaces, ... A layer may
 * have several side by side, or none. */
enum mixer {
	MIXER_ATTENTION = 1, MIXER_CONVOLUTION = 2, MIXER_DELTA = 4, MIXER_KDA = 8, MIXER_MAMBA = 16, MIXER_MAMBA2 = 32,
	MIXER_RWKV7 = 64,
	MIXER_PRODUCT = 128,            /* none, but a product all the same */
	MIXER_RWKV6 = 256,
	MIXER_PLAMO2 = 512,             /* Mamba 2 with time steps, keys and queries made as Mamba makes them */
	MIXER_LIGHTNING = 1024,
	MIXER_COMPRESSED = 2048         /* with attention, which sees compressed rows, too */
};

/* Sizes of mixers other than attention, as their keys name them. What each means there: mixers.c. */
struct ssm {
	size_t taps;                    /* of each channel's convolution */
	size_t inner, state, groups, rank;
	size_t rank_w, rank_a, rank_v, rank_g;  /* of RWKV's products of two matrices (6: of decays, and of shifts) */
	float lower_bound;              /* KDA: of the logarithms of decays, below 0; 0: none */
	float eps;                      /* of the lengths of q and k in delta nets and KDA; 0: that of the norms */
	int negative;                   /* with a lower bound: ssm_a is less than 0 */
	size_t halved;                  /* RWKV 6: x is halved after each group of this many layers; 0: never */
	int sigmoid_gates;              /* delta net: gates are sigmoids, not SiLU */
	size_t decay_rank;              /* delta net: elements that decays of each key are made of; 0: of each head */
	int tiled;                      /* delta net: value head j reads key head j mod groups; else they follow */
	enum { SSM_NORMS_NONE, SSM_NORMS_BARE, SSM_NORMS_WEIGHTED } norms;     /* of Mamba's dt, B and C */
};

/* Attention's result is multiplied by sigmoids (or the family's function) of gates, which attn_gate makes, or attn_q
 * beside q: one for each element, or one for each head. */
enum gates { GATES_NONE, GATES_ELEMENTS, GATES_HEADS };

/* Limits of SwiGLU's factors. f(gate) is clamped to [-act, act] and up to [-up, up]; 0: neither is. Soft limits are of
 * the gate that multiplies its sigmoid, and of up: x becomes limit · tanh(x / limit). */
struct glu_limit {
	float act, up;
	float soft_gate, soft_up;       /* 0: none */
};

/* What may differ from layer to layer, as read from the file. What a new family varies is one more field here. */
struct layer {
	size_t block;                   /* its tensors are blk.N of the file: usually its own number */
	unsigned mixers;                /* of enum mixer */
	size_t n_head, n_head_kv;       /* 0: no attention */
	size_t dim_k, dim_v;            /* of one head's queries and keys, and of its values */
	size_t n_ff;                    /* 0, and no experts: no feed-forward part */
	const struct rope_spec *rope;   /* NULL: q and k are not rotated */
	float scale;                    /* of scores: usually 1 / sqrt(dim_k) */
	size_t window, chunk;           /* see struct attend; 0: all positions are seen */
	enum gates gates;               /* of attention's result */
	int head_norms_bare;            /* RMS norms of q and k heads without weights, after the rotation */
	int q_gains;                    /* attn_q_norm has one number for each head, after that norm */
	int head_norms_layer;           /* norms of q and k heads are layer norms, with an epsilon of 1e-5 */
	int v_norms_bare;               /* RMS norms of v heads without weights */
	const struct layer *kv;         /* whose K and V this layer reads; NULL: it has its own */
	struct temperature temperature;
	struct xielu xielu;             /* the activation, where that is xIELU */
	const float *slope;             /* [n_head], of ALiBi; or NULL */
	const struct experts *experts;  /* NULL: a dense layer */
	int v_in_k;                     /* see struct attend */
	struct latent latent;
	float sparsity;                 /* gates up to this many deviations above their mean become 0 (sparsify()) */
	size_t rope_at;                 /* the first element of a head that rotates */
	size_t ratio;                   /* positions of a compressed row; 0: the layer has none */
	enum { SEES_ALL, SEES_CHOSEN, CHOOSES } sparse; /* CHOSEN: what an earlier layer chose */
	struct glu_limit limit, limit_experts;  /* of dense layers and the shared expert; of the other experts */
};

struct model {
	/* the file */
	struct gguf *gguf;
	const struct family *family;
	char arch[32];                  /* general.architecture; the prefix of the keys */
	uint64_t fingerprint, vocab;    /* of the weights and of the vocabulary */
	uint64_t settings;              /* of the values set in place of the file's; 0: none */
	size_t bytes;                   /* of all tensors */
	int quantised;                  /* some matrix is not of floats */

	/* sizes */
	size_t n_vocab, n_embd, n_layer;
	size_t n_block;                 /* layers in the file; those from n_layer on predict further tokens: not run */
	size_t n_ctx_train;             /* what the model was trained for */
	size_t n_ctx_max;               /* rows of the table of learned positions, or the limit of sparse attention;
					 * SIZE_MAX: no limit */
	int sparse;                     /* attention is */

	/* layers */
	struct layer *layer;            /* [n_layer] */
	struct experts experts;
	struct experts adjugates;       /* read what the experts made; n 0: none */
	struct compressed compressed;
	struct indexer indexer;
	struct ngrams ngrams;
	struct adapters adapters;
	struct ssm ssm;
	int parallel;                   /* attention and feed-forward part both read x */
	int loops_normed;               /* x is normed before layers are run again */
	struct passes {
		size_t layers;          /* of a stack */
		size_t cycle;           /* runs of the low stack, and one of the high one */
	} passes;                       /* HRM */

	/* norms and attention */
	enum norm_kind norm;            /* usually the family's */
	float eps;                      /* of the norms */
	size_t norm_rank;               /* of the gates that multiply the norms before a layer's parts; 0: none */
	float post_eps;                 /* of the norms of branches; 0: eps */
	enum rope_pairs pairs;          /* usually the family's */
	float qkv_clamp;                /* of q, k and v; 0: none */
	float attn_cap;                 /* of scores; 0: none */
	float attn_out_scale;           /* of attention's branch: usually 1 */

	/* the residual stream */
	float embedding_scale, residual_scale;  /* of embeddings, of branches: usually 1 */
	int embedding_normed;           /* rows are normed after the embedding, without weights */
	int embedding_carried;          /* layers add some of x as it was after the embedding, or of what replaces it */
	int branches_normed;            /* Chameleon: norms are of branches, not of what they read */
	float normed_scale;             /* MiniMax-Text-01: of normed rows, to which branches are added */
	size_t n_per_layer;             /* elements of each layer's own input (Gemma 3n and 4); 0: none */
	size_t n_streams;               /* residual streams, usually 1: see family->streams */
	struct hyper {
		float eps, magnitude;
		size_t rounds;          /* of normalising the matrix of the streams; 0: there is none */
		size_t rank;            /* of gates of all elements; 0: each stream has one weight */
		int averaged;           /* the head reads the mean of the streams */
	} hyper;                        /* of hyper-connections */
	size_t block_layers;            /* of attention residuals: layers of a block */

	/* logits */
	float logit_scale, logit_cap;   /* usually 1; 0: not capped */
	struct id_range {
		size_t from, to;
	} ruled_out;                    /* ids that are not text: their logits become the least */

	/* Of model_survey(): who is told of faults. Zeroes take the place of a faulty tensor, a default that of a
	 * faulty key. */
	const struct faults *faults;
	int ready;              /* the plan can be opened, which tells what is wrong with tensors */
	int unsure;             /* shapes are not told, since a key that decides them is faulty */

	/* private */
	struct rope_spec rope, rope_sliding;    /* of the layers, and of those with a window */
	unsigned features;      /* see keys.c */
	unsigned char *used;    /* [gguf->n_tensors] */
	struct vector *vectors; /* a list of those given out */
};

/* Elements of a row of q, k and v. */
static inline size_t layer_qkv(const struct layer *l)
{
	return l->n_head * l->dim_k + l->n_head_kv * (l->dim_k + l->dim_v);
}

/* Positions that one sees, at most; 0: all. */
static inline size_t layer_window(const struct layer *l)
{
	return l->window ? l->window : l->chunk;
}

/* Opens and checks; touches the metadata and a few pages of each tensor, not the weights. NULL and one line why not if
 * the file is damaged or the model is not supported. set: values in place of the file's (gguf_set()), up to NULL; or
 * NULL. */
struct model *model_open(const char *path, const char *const *set, struct why *w);

/* Opens what can be opened of a faulty model, not to be run, and tells each fault. NULL and a reason if the file cannot
 * be read at all. */
struct model *model_survey(const char *path, const struct faults *faults, struct why *w);

void model_close(struct model *m);

/* Whether the file has a tensor of this name. */
int model_has(const struct model *m, const char *name);

/* A tensor that may be there and is not used. */
void model_ignore(struct model *m, const char *name);

/* v[n] as floats, of whatever type in the file; owned by the model. */
int model_vector(struct model *m, const char *name, size_t n, const float **out, struct why *w);

/* -1 and its name if the tensor is of a type that we cannot compute with. */
int model_check_type(const struct gguf_tensor *t, struct why *w);

/* W[n][rows × cols] in the mapping, one matrix after the other, of a type that kernels support; out is the first. */
int model_matrices(struct model *m, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out,
	struct why *w);

/* The rows × cols integers of a tensor in the mapping, all from 0 to below `end`. */
int model_integers(struct model *m, const char *name, size_t rows, size_t cols, int32_t end, const int32_t **out,
	struct why *w);

/* n floats of 0, the model's; NULL if memory is short. */
float *model_floats(struct model *m, size_t n);

/* -1 and its name if some tensor was not asked for that belongs to layers [first, last) or, where these are all, to
 * none. */
int model_all_used(const struct model *m, size_t first, size_t last, struct why *w);

#endif
