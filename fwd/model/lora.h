/* lora: adapter files. For a matrix W of the model, an adapter (LoRA; Hu et al. 2021) has factors A[rank × inputs] and
 * B[outputs × rank]: y = W·x becomes y + s·B·(A·x), where s = scale · alpha / rank, or scale if alpha is 0. W itself
 * stays as it is. For experts there are as many factors as matrices. For token_embd, A has a row for each id: the
 * embedding of an id becomes x + s·B·A[id].
 *
 * An adapter may have invocation tokens (aLoRA; Greenewald et al. 2025): it applies from the last place in the prompt
 * where they stand, in this order. */
#ifndef LORA_H
#define LORA_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/kernels/kernels.h"
#include "lib/base/why.h"
#include "lib/gguf/gguf.h"

struct model;

/* A file and its factor, as options give them. The path is borrowed. */
struct scaled_file {
	const char *path;
	float scale;
};

struct lora {
	struct scaled_file file;
	struct gguf *gguf;
	float alpha;
	const struct gguf_value *invocation;    /* ids; NULL: the adapter applies everywhere */
	uint64_t hash;                          /* of all that it does */
	unsigned char *used;                    /* [gguf->n_tensors] */
};

/* The factors for one or several matrices, in the mapping. */
struct lora_pair {
	const struct lora_pair *next;           /* of the next adapter */
	size_t adapter;
	float factor;                           /* alpha / rank */
	struct matrix a, b;                     /* the first of n, as model_matrices() */
};

/* Opens a file and checks it by itself: the factors are finite and complete. On failure, call lora_close() all the
 * same. */
int lora_open(struct lora *l, struct scaled_file file, struct why *w);
void lora_close(struct lora *l);

/* Whether an open adapter suits the model's architecture and vocabulary. Its shapes are checked by lora_find(). */
int lora_check(const struct lora *l, const struct model *m, struct why *w);

/* *out = adapter number i's factors for the tensor of this name, which has n matrices [rows × cols]. Returns 1; 0 if it
 * has none; -1 with a reason if they do not suit the tensor. */
int lora_find(const struct model *m, size_t i, const char *name, size_t n, size_t rows, size_t cols,
	struct lora_pair *out, struct why *w);

/* Returns -1 with the name of a tensor of an adapter that no product asked for. */
int lora_all_used(const struct model *m, struct why *w);

#endif
