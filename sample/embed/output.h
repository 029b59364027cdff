/* output: writes embeddings to standard output: lines of JSON, alone or as answers to requests, raw floats, or a .npy
 * file. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/gguf/gguf.h"
#include "embeddings.h"

enum output_kind { OUTPUT_JSON, OUTPUT_ANSWERS, OUTPUT_RAW, OUTPUT_NPY };

struct output {
	enum output_kind kind;

	/* private */
	size_t rows, cols;      /* written; cols 0: not known yet */
	size_t missing;         /* rows of texts without one, until cols is known */
	int spool;              /* OUTPUT_NPY: a file of the rows so far */
};

int output_open(struct output *o, enum output_kind kind, struct why *w);

/* Whether it is lines of JSON. */
int output_is_text(enum output_kind kind);

/* Writes an embedding with these members before it (or NULL). In JSON, a pooled row is "embedding", an array of
 * numbers, and rows that are not pooled an array of arrays; POOLING_RANK: "score", or "scores" if there are several.
 * An answer has "usage", too: the tokens of the text. */
int output_put(struct output *o, const struct bytes *members, const struct embedding *e, struct why *w);

/* A text without an embedding: "error" in JSON, in answers an object. Otherwise a row of NaN stands for it, if the file
 * has other rows, so that row k is of text k. */
int output_fail(struct output *o, const struct bytes *members, const char *error, struct why *w);

/* An answer that says what the model is, whose stream has this card. */
int output_model(const struct bytes *members, const struct gguf *g, const struct card *card, struct why *w);

/* Completes the output. */
int output_end(struct output *o, struct why *w);

#endif
