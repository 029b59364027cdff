/* budget: --think-budget, the most tokens of a text that are reasoning. Reasoning begins after a text that opens it,
 * which may end the prompt, and ends with the text that closes it. Once the tokens are used up, that text is drawn,
 * whatever the logits are, after a message if there is one. */
#ifndef BUDGET_H
#define BUDGET_H

#include "lib/base/why.h"
#include "lib/stream/ids.h"
#include "lib/vocab/vocab.h"
#include "after.h"

struct budget_options {         /* starts as zeros */
	int given;
	int32_t most;
	struct after open;      /* the texts that open reasoning; none: <think> */
	const char *close;      /* the text that closes it; NULL: </think> on a line of its own */
	const char *message;    /* what is drawn before that; NULL: nothing. In both, \n is a new line */
};

struct budget;

/* The vocabulary, which can encode, is borrowed. NULL with a reason. */
struct budget *budget_open(const struct budget_options *o, struct vocab *v, struct why *w);
void budget_close(struct budget *b);

struct thought {                /* of one text; starts as zeros */
	int begun;              /* the prompt ends in reasoning */
	int open;               /* the text is in reasoning, and */
	int32_t spent;          /* has had so many tokens of it */
	size_t forced;          /* how many of the closing ids were drawn */
	struct tail tail;
	struct ids drawn;
};

/* thought_start(): another text. thought_prompt(): an id of its prompt. -1: out of memory. */
void thought_start(struct thought *t);
int thought_prompt(const struct budget *b, struct thought *t, int32_t id, struct why *w);

/* The id that must be drawn next, or -1. */
int32_t thought_due(const struct budget *b, const struct thought *t);

/* An id was drawn. -1: out of memory. */
int thought_accept(const struct budget *b, struct thought *t, int32_t id, struct why *w);

/* Makes *t, which is zeros, a copy of `from` before the last n ids that were drawn. -1: out of memory. */
int thought_fork(const struct budget *b, struct thought *t, const struct thought *from, size_t n, struct why *w);
void thought_free(struct thought *t);

#endif
