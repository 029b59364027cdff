/* embedder: what is particular to a model that makes embeddings of texts, or that ranks pairs of texts. */
#ifndef EMBEDDER_H
#define EMBEDDER_H

#include "lib/stream/frame.h"
#include "model.h"

struct embedder {
	enum pooling pooling;           /* that the file asks for */
	int whole;                      /* each row sees its whole text */
	size_t types;                   /* rows of token_types; 0: the file has none */
	size_t labels;                  /* scores of a pair of texts; 0: the file has no rank head */
};

struct embedder *embedder_of(struct model *m);

/* Reads the keys of all families. Call when the layers are known. */
int embedder_read(struct model *m, struct why *w);

/* For families: reads the number of rows of token_types. */
int embedder_read_types(struct model *m, struct why *w);

#endif
