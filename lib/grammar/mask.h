/* mask: which token ids of a vocabulary a grammar allows next. The bytes of an id may end inside a character and
 * span any number of the grammar's elements. An id without bytes (a control token) is allowed only as a token. An
 * end-of-generation id is allowed where the text may end, or would if the grammar names it there.
 *
 *	struct masker *m = masker_open(g, &vocab, &w);
 *	struct mask_text *t = mask_start(m, &w);                // one for each text that is being written
 *	for (;;) {
 *		const uint32_t *mask = mask_find(t, &w);
 *		mask_apply(mask, logits, n_vocab);              // -infinity for what is not allowed
 *		id = ... the sampler's pick ...
 *		mask_accept(t, id, &w);
 *	}
 *
 * A mask is found by walking the vocabulary, a tree of bytes, from the grammar's state. Masks are cached, so most
 * steps only look one up. With 151,936 ids a new mask takes 0.5 to 1 ms where nearly all ids are allowed, much
 * less elsewhere; a step of a JSON text takes 0.03 to 0.08 ms on average. Not thread-safe. */
#ifndef GRAMMAR_MASK_H
#define GRAMMAR_MASK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "grammar.h"

struct masker;                  /* a grammar and a vocabulary */
struct mask_text;               /* a text under the grammar, as far as it has been written */
struct mask_tree;               /* the ids of a vocabulary by their bytes */

struct mask_vocab {
	int32_t n;
	const char *(*bytes)(const void *context, int32_t id, size_t *n);       /* what id prints; it must not move */
	const void *context;
	const int32_t *eog;     /* [n_eog] */
	int32_t n_eog;
	const struct mask_tree *tree;   /* of these ids, borrowed; NULL: one is built */
};

/* Builds the tree for several maskers, whose eog may only differ in ids without bytes: about 30 ms for 150,000 ids. */
struct mask_tree *mask_tree_open(const struct mask_vocab *v, struct why *w);
void mask_tree_close(struct mask_tree *t);

/* Borrows the grammar and the bytes until masker_close(). */
struct masker *masker_open(const struct grammar *g, const struct mask_vocab *v, struct why *w);
void masker_close(struct masker *m);            /* and all its texts */

/* An empty text; a copy of a text, to be continued on its own. NULL: no memory. */
struct mask_text *mask_start(struct masker *m, struct why *w);
struct mask_text *mask_fork(const struct mask_text *t, struct why *w);
void mask_drop(struct mask_text *t);

/* Bit id % 32 of element id / 32 is set if id is allowed next. Valid until the next call for any text of this masker.
 * NULL: no id continues the text and it may not end either, or the grammar is too ambiguous for bounded work. */
const uint32_t *mask_find(struct mask_text *t, struct why *w);

/* Appends id to the text. -1: id is not allowed here, and the text is unchanged. An end-of-generation id ends the
 * text. */
int mask_accept(struct mask_text *t, int32_t id, struct why *w);

/* Appends s[n], whatever tokens it is made of. -1: not allowed here, and the text is unchanged. */
int mask_accept_bytes(struct mask_text *t, const char *s, size_t n, struct why *w);

int mask_may_end(const struct mask_text *t);
int mask_must_end(const struct mask_text *t);   /* it may end, and nothing can follow */

/* Sets logits[n] to -infinity where the mask's bit is clear. */
void mask_apply(const uint32_t *mask, float *logits, int32_t n);

#endif
