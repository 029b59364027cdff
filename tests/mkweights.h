/* mkweights: the metadata and the tensors of a random model, for mkmodel and the bench: any of our families, any
 * tensor type, any shape, the same bytes on every machine. Weights have the variances that keep activations near 1 and
 * give logits a standard deviation of about 3. What fails ends the program, as in mkgguf.h. */
#ifndef MKWEIGHTS_H
#define MKWEIGHTS_H

#include <stdint.h>

#include "mkfamilies.h"
#include "mkgguf.h"

struct mkshape {
	const char *name;
	const char *arch, *pre; /* a family of mkfamilies; BPE's pre-tokenizer */
	uint32_t n_embd, n_layer, n_head, n_head_kv, head_dim, n_ff, n_vocab, n_ctx;
	float rope_base;
	int tied;
};

/* tiny, tiny256, smol-135m, qwen3-0.6b, llama-1b; or NULL. */
const struct mkshape *mkweights_shape(const char *name);

/* A tensor type that we read, or a mix: Q4_K_M, Q5_K_M, Q3_K_M as files have them; mix, one of each in turn. */
int mkweights_type_known(const char *type);

struct mkweights {
	struct mkgguf *m;
	struct mkshape s;
	const char *type;       /* of the matrices */
	const char *rope;       /* linear, yarn or freqs; "": as it is */
	uint64_t seed;
	/* private */
	const struct mkfamily *family;
	uint32_t n_tensors;
	struct mkpool *pools;
};

/* Declares the tensors and keys of a model, except its vocabulary. mkgguf_write() generates the weights; k must exist
 * until then, and is then freed. */
void mkweights_values(struct mkweights *k);
void mkweights_tensors(struct mkweights *k);
void mkweights_free(struct mkweights *k);

#endif
