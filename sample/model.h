/* model: what sample opens a model file for: the pieces of its vocabulary, and the grammar that the text of the ids has to hold to. A position
 * that is drawn again goes on from where the text before it had come to. */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/base/why.h"

struct grammar_source {
	const char *option;     /* its name, for messages; NULL: none */
	const char *value;      /* a text, or a file's name */
	int is_file, is_schema;
};

struct model;

/* NULL: not to be read. The names are borrowed. */
struct model *model_open(const char *path, struct why *w);
void model_close(struct model *m);

const struct vocab *model_vocab(const struct model *m);

/* The stream must be of this vocabulary; -1 names both sides. */
int model_agrees(const struct model *m, const struct card *card, struct why *w);

/* The bytes of an id; the context is the model. Of control tokens: their names, or nothing. */
const char *model_piece(const void *m, int32_t id, size_t *n);
const char *model_printed(const void *m, int32_t id, size_t *n);

/* 0; -1: no such file; -2: not a grammar, or not a schema that can be one. */
int model_grammar(struct model *m, const struct grammar_source *source, struct why *w);

/* Once there is a grammar. ids end[n] end a text beside the card's, if they print nothing. */
int model_guide(struct model *m, const struct card *card, const int32_t *end, size_t n, struct why *w);

/* Another text begins. */
int model_restart(struct model *m, struct why *w);

/* Sets the logits of what the grammar does not allow at this position to −infinity. -1: it allows nothing, or is too ambiguous. */
int model_mask(struct model *m, uint32_t position, float *row, struct why *w);

/* id stands at the position that was masked last. */
int model_accept(struct model *m, uint32_t position, int32_t id, struct why *w);

/* Whether the text may end here, or has; whether nothing but an end may follow. */
int model_may_end(const struct model *m);
int model_must_end(const struct model *m);

/* Whether there is an id to end it with. */
int model_has_end(const struct model *m);

#endif
