/* constraint: the grammar that the text of the drawn ids must follow. It stores the ids accepted so far, so that
 * drawing for a position again continues the text before it. */
#ifndef CONSTRAINT_H
#define CONSTRAINT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/grammar/mask.h"
#include "lib/stream/card.h"
#include "after.h"
#include "pieces.h"

struct grammar_source {
	const char *option;     /* its name, for messages; NULL: none */
	const char *value;      /* a text, or a file's name */
	int is_file;
	struct after after;     /* texts that the grammar waits for; n 0: it binds from the start */
};

struct constraint;

/* Parses the grammar, which may name tokens of p, and adds the texts that it waits for itself to source->after. NULL,
 * and *usage says whether the text is at fault (or the file cannot be read). */
struct constraint *constraint_open(struct grammar_source *source, const struct token_pieces *p, int *usage,
	struct why *w);
void constraint_close(struct constraint *c);

/* The tree of the vocabulary, for constraint_start(). NULL: out of memory. */
struct mask_tree *constraint_tree(const struct token_pieces *p, const struct card *card, struct why *w);

/* Prepares for the stream of this card; the pieces and the tree are borrowed. The stop ids, stop[n], end a text like
 * the card's end-of-generation ids do if they print nothing. Finds the first mask, so a grammar that takes too much
 * work fails here. */
int constraint_start(struct constraint *c, const struct token_pieces *p, const struct card *card,
	const struct mask_tree *tree, const int32_t *stop, size_t n, struct why *w);

/* A copy for another sequence, which continues the text separately. It borrows the grammar and its masks from the
 * constraint that was opened, which must be closed last. NULL: out of memory. */
struct constraint *constraint_fork(const struct constraint *c, struct why *w);

/* Begins another text. */
int constraint_restart(struct constraint *c, struct why *w);

/* Sets the logits of all ids that are not allowed at this position to -infinity: of a grammar that still waits, those
 * that end its wait and continue with what it does not allow. -1: none is allowed, or the grammar is too ambiguous. */
int constraint_apply(struct constraint *c, uint32_t position, float *row, struct why *w);

/* Appends the id, which is at the position that was masked last. */
int constraint_accept(struct constraint *c, uint32_t position, int32_t id, struct why *w);

/* constraint_may_end(): whether the text may end here or has ended; while the grammar waits it may end anywhere.
 * constraint_must_end(): whether nothing but an end may follow. */
int constraint_may_end(const struct constraint *c);
int constraint_must_end(const struct constraint *c);

/* Whether there is an id that ends it. */
int constraint_has_end(const struct constraint *c);

#endif
