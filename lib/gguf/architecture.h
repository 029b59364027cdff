/* architecture: the values of general.architecture. A program that uses only a file's vocabulary knows a damaged name
 * by them; what fwd can run is for fwd to say. */
#ifndef ARCHITECTURE_H
#define ARCHITECTURE_H

#include "gguf.h"

int architecture_known(struct gguf_string name);

/* The integer of the key ARCHITECTURE.name, as gguf_integer() has it; absent if the file names no architecture. */
int architecture_integer(const struct gguf *g, const char *name, int64_t low, int64_t high, int64_t *out,
	struct why *w);

/* Whether the file says that an embedding is made of a text's rows (the key ARCHITECTURE.pooling_type), so that the
 * model is one for embeddings, or a reranker. */
int architecture_pools(const struct gguf *g);

#endif
