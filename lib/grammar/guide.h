/* guide: which ids of a vocabulary a grammar allows next. A piece is any bytes: it may end inside a character and span any number of the grammar's
 * elements. An end-of-generation id is allowed exactly where the text may end; a piece without bytes (a control token) never is.
 *
 *	struct guide *u = guide_open(g, &pieces, &w);
 *	struct guide_place *p = guide_start(u, &w);             // one for each text that is being written
 *	for (;;) {
 *		const uint32_t *mask = guide_mask(p, &w);
 *		guide_apply(mask, logits, n_vocab);             // what is not allowed is now -infinity
 *		id = ... the sampler's pick ...
 *		guide_accept(p, id, &w);
 *	}
 *
 * A mask is found by trying the vocabulary as a tree of bytes from the grammar's state, and kept, so that most steps only look one up: with 151,936
 * pieces a new one takes 0.5 to 1 ms where nearly all is allowed, much less elsewhere, and a step of a JSON text 0.03 to 0.08 ms on average. Not for
 * several threads at once. */
#ifndef GUIDE_H
#define GUIDE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "grammar.h"

struct guide;
struct guide_place;

struct guide_pieces {
	int32_t n_vocab;
	const char *(*piece)(const void *context, int32_t id, size_t *n);       /* the bytes that id prints, *n of them; they stay where they are */
	const void *context;
	const int32_t *eog;     /* [n_eog] */
	int32_t n_eog;
};

/* The grammar and the pieces' bytes are borrowed until guide_close(). Builds the tree: some 30 ms for 150,000 pieces. */
struct guide *guide_open(const struct grammar *g, const struct guide_pieces *pieces, struct why *w);
void guide_close(struct guide *u);              /* all places with it */

/* Places that texts have come to: the beginning; a copy, which goes its own way. NULL: no memory. */
struct guide_place *guide_start(struct guide *u, struct why *w);
struct guide_place *guide_fork(const struct guide_place *p, struct why *w);
void guide_drop(struct guide_place *p);

/* Bit id % 32 of word id / 32 is set where id is allowed next, for ids below n_vocab. Borrowed until the next call for any place of the guide.
 * NULL: no piece of the vocabulary goes on from here and the text may not end either, or the grammar is too ambiguous for bounded work. */
const uint32_t *guide_mask(struct guide_place *p, struct why *w);

/* The text goes on with id. -1: that id is not allowed here (the place stays as it was). After an end-of-generation id nothing is allowed any more. */
int guide_accept(struct guide_place *p, int32_t id, struct why *w);

int guide_may_end(const struct guide_place *p);
int guide_must_end(const struct guide_place *p);        /* it may, and nothing can follow */

/* logits[n] := -infinity where the mask's bit is not set. */
void guide_apply(const uint32_t *mask, float *logits, int32_t n);

#endif
