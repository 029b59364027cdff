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
#include "control.h"
#include "lora.h"
#include "rope.h"

struct family;
struct latent;
struct mixer;

/* How the router's logits become scores; the values are those of expert_gating_func minus 1. SOFTMAX: over all experts.
 * SIGMOID: of each logit. CHOSEN: the logits, with a softmax over the chosen experts as weights. ROOT: sqrt(softplus)
 * of each logit. */
enum gating { GATING_SOFTMAX, GATING_SIGMOID, GATING_CHOSEN, GATING_ROOT };

enum { EXPERTS_MAX = 1024, STREAMS_MAX = 8 };

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

/* Queries at position p are multiplied by 1 + scale · ln(1 + floor((p + offset) / length)). */
struct temperature {
	float scale;                    /* 0: none */
	size_t offset, length;
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
	const struct mixer *mixer;      /* besides attention; NULL: none */
	int attends;                    /* has attention */
	size_t n_head, n_head_kv;       /* 0: no attention */
	size_t dim_k, dim_v;            /* elements of a head: of queries and keys, of values */
	size_t dim_out;                 /* elements of a head's result; 0: dim_v */
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
	const struct latent *latent;    /* fwd/builder/latent.h; NULL: no latent attention */
	float sparsity;                 /* gates up to mean + sparsity × standard deviation become 0; 0: none (see
					 * sparsify()) */
	size_t rope_at;                 /* the first element of a head that rotates */
	size_t ratio;                   /* positions per compressed row or group; 0: none */
	enum { SEES_ALL, SEES_CHOSEN, CHOOSES } sparse; /* SEES_CHOSEN: the positions that an earlier layer chose */
	struct glu_limit limit, limit_experts;  /* of dense layers and the shared expert; of the routed experts */
};

enum { OWNERS = 16, OWNED_BYTES = 1 << 13 };     /* more than any family needs */

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
	int parallel;                   /* attention and the feed-forward part both read x */

	/* norms and attention */
	enum norm_kind norm;            /* usually the family's */
	float eps;                      /* of the norms */
	float post_eps;                 /* epsilon of the norms of branches; 0: eps */
	enum rope_pairs pairs;          /* usually the family's */
	float qkv_clamp;                /* q, k and v are clamped to ±this; 0: not clamped */
	float attn_cap;                 /* cap of scores; 0: none */
	float attn_out_scale;           /* factor of attention's branch, usually 1 */

	/* the residual stream */
	float embedding_scale, residual_scale;  /* factors of embeddings and of branches, usually 1 */
	int embedding_normed;           /* rows are normed after the embedding, without weights */
	int embedding_carried;          /* layers add a multiple of the embedding, or of what replaces it */
	size_t n_streams;               /* number of residual streams, usually 1: see family->streams */

	/* logits */
	float logit_scale, logit_cap;   /* logit_scale: usually 1; logit_cap 0: not capped */
	struct id_range {
		size_t from, to;
	} ruled_out;                    /* ids that are not text: their logits become -FLT_MAX */

	struct lora *lora;              /* [n_lora]: the adapters */
	size_t n_lora;
	float **control;                /* [n_layer]: [n_embd], added to the residual stream after the layer; NULL:
					 * nothing is */
	uint64_t controlled;            /* hash of all of these; 0: none */

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
	struct owned {
		const void *owner;
		void *at;
	} owned[OWNERS];        /* of model_own() */
	size_t n_owned;
	max_align_t room[OWNED_BYTES / sizeof(max_align_t)];
	size_t room_used;
};

/* The most positions that a row of this layer sees; 0: all. */
static inline size_t layer_window(const struct layer *l)
{
	return l->window ? l->window : l->chunk;
}

/* The elements of the result of one of this layer's heads. */
static inline size_t layer_dim_out(const struct layer *l)
{
	return l->dim_out ? l->dim_out : l->dim_v;
}

struct model_setup {
	const char *const *set;         /* values that replace the file's (see gguf_set()), up to NULL; or NULL */
	int ignores_unknown;            /* tensors that the architecture does not have are ignored */
	const struct faults *notes;     /* where it is reported what stands in for something missing; NULL: nowhere */
	const struct scaled_file *lora; /* [n_lora]: adapters */
	size_t n_lora;
	struct control_setup control;
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

/* Hyperparameters that only some families have are a struct of the file that they belong to, and that gives a
 * function to reach them. It calls this with an address of its own and the struct's size: returns the model's
 * struct, zero at first. */
void *model_own(struct model *m, const void *owner, size_t size);

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
