/* grammars: the grammars of sequences. Each is started once and kept, with its masks, for later sequences with the same
 * text, because a client sends the same tools again and again, and starting a grammar takes milliseconds. */
#ifndef GRAMMARS_H
#define GRAMMARS_H

#include "lib/base/memo.h"
#include "constraint.h"

struct grammars {               /* private; zeros before grammars_open() can be closed, too */
	const struct token_pieces *pieces;
	struct card card;
	struct mask_tree *tree;         /* of the vocabulary; NULL before there is a grammar */
	struct memo memo;
};

struct started {                /* a grammar; each generation has a copy of the constraint */
	struct constraint *constraint;
	struct grammar_source source;   /* private: has what it waits for, but not its text */
};

/* None yet. pieces is borrowed; card is that of the stream. */
void grammars_open(struct grammars *g, const struct token_pieces *pieces, struct card card);

/* Starts a constraint that the caller owns, with the stop ids stop[n]. 0, or -1 with a reason. */
int grammars_start(struct grammars *g, struct constraint *c, const int32_t *stop, size_t n, struct why *w);

/* The grammar of a source, started with the stop ids stop[n]. NULL with a reason. The caller releases it after use;
 * grammars_release() allows NULL. */
struct started *grammars_find(struct grammars *g, const struct grammar_source *source, const int32_t *stop, size_t n,
	struct why *w);
void grammars_release(struct grammars *g, struct started *s);

void grammars_close(struct grammars *g);

#endif
