/* pair: a query and a document as one text, as a reranker takes it. */
#ifndef PAIR_H
#define PAIR_H

#include "encode.h"
#include "lib/base/arena.h"

struct pairing {
	struct vocab_pair around;       /* without a template */
	struct gguf_string template;    /* of the model: with {query} and {document}; n 0: it has none */
};

/* Reads what the model says about pairs. -1 with a reason. */
int pairing_open(struct pairing *p, const struct gguf *g, const struct vocab *v, struct why *w);

/* Replaces ids by those of the pair in the line, whose escapes are replaced in place. A line of JSON uses the arena.
 * Returns 0; 1 if the line is null: the stage before has said what is wrong with it; -1 with a reason. */
int pair_encode(struct tok *t, struct source *line, struct arena *a, struct ids *ids, struct why *w);

#endif
