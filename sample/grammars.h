/* grammars: those of sequences, each started once and kept for later sequences with the same text: a client asks with
 * the same tools again and again, and starting a grammar takes milliseconds. Its masks stay, too. */
#ifndef GRAMMARS_H
#define GRAMMARS_H

#include "lib/base/memo.h"
#include "constraint.h"

struct grammars {               /* starts as zeros */
	const struct token_pieces *pieces;      /* borrowed, set by the caller, as is */
	struct card card;                       /* the stream's */
	struct mask_tree *tree;                 /* private: of the vocabulary; NULL before there is a grammar */
	struct memo memo;
};

struct started {                /* a grammar; each generation has a copy of the constraint */
	struct constraint *constraint;
	struct grammar_source source;   /* private: with what it waits for, but without its text */
};

/* Starts a constraint of the caller's for the stream, with the stop ids, stop[n]. */
int grammars_start(struct grammars *g, struct constraint *c, const int32_t *stop, size_t n, struct why *w);

/* The grammar of a text, started with these stop ids. NULL with a reason. grammars_release() when it is not used any
 * more; NULL is allowed. */
struct started *grammars_find(struct grammars *g, const struct grammar_source *source, const int32_t *stop, size_t n,
	struct why *w);
void grammars_release(struct grammars *g, struct started *s);

void grammars_close(struct grammars *g);

#endif
