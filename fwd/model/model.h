/* model: a GGUF file as the forward pass sees it: hyperparameters, checked and bounded, and tensors looked up by name with the shape that the
 * caller expects. Which tensors there must be is the family's business (families.h): it asks for them while it builds the plan, and
 * model_all_used() then refuses a file that holds one nobody asked for, so that no feature is left out in silence. */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gguf/gguf.h"
#include "lib/base/why.h"
#include "fwd/kernels/kernels.h"
#include "rope.h"

struct family;

struct model {
	struct gguf *gguf;
	const struct family *family;
	char arch[32];          /* general.architecture; the prefix of the keys */
	uint64_t fingerprint, vocab;    /* of the weights and of the vocabulary */

	size_t n_vocab, n_embd, n_layer, n_ff;
	size_t n_head, n_head_kv;
	size_t dim_k, dim_v;    /* of one head's queries and keys, and of its values */
	size_t n_ctx_train;     /* what the model was trained for */
	size_t n_ctx_max;       /* positions that can be told apart: rows of a table of learned positions; SIZE_MAX without */
	float eps;              /* of the norms */
	struct rope_spec rope;  /* n_rot 0 where the family has none */
	int quantised;          /* some matrix is not of floats */
	size_t bytes;           /* of all tensors */

	/* private */
	unsigned char *used;    /* [gguf->n_tensors] */
	float **vector;         /* the vectors given out */
	size_t n_vectors, room;
};

/* Opens and checks; touches the metadata and a few pages of each tensor, not the weights. NULL and one line why not for a file that is damaged or that
 * needs something not supported here. */
struct model *model_open(const char *path, struct why *w);
void model_close(struct model *m);

int model_has(const struct model *m, const char *name);

/* W[rows × cols] in the mapping, of a type that we compute with. */
int model_matrix(struct model *m, const char *name, size_t rows, size_t cols, struct matrix *out, struct why *w);

/* v[n] as floats, whatever the file holds; owned by the model. */
int model_vector(struct model *m, const char *name, size_t n, const float **out, struct why *w);

/* -1 and its name if some tensor of the file was not asked for. */
int model_all_used(const struct model *m, struct why *w);

#endif
