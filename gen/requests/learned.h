/* learned: what was derived from the model's template with certain tools and settings: the format of answers, and the
 * grammars that they must follow. Deriving it takes milliseconds, and the same tools come with each turn of a
 * conversation, so it is kept for later requests. */
#ifndef LEARNED_H
#define LEARNED_H

#include "lib/base/memo.h"
#include "lib/chat/answer/format.h"
#include "lib/chat/answer/rules.h"

struct learned {
	struct jinja *template;         /* parsed */
	struct format format;
	struct arena memory;    /* private: the format's */
	uint64_t number;        /* unique among all that were ever learned */
};

struct lessons {                /* all that were learned; private */
	struct memo learned;    /* struct learned, by the template and the variables */
	struct memo grammars;   /* struct bytes, by the number of a struct learned and what else they depend on */
	uint64_t last;          /* the number given last */
};

/* lessons_close() when everything has been released. */
void lessons_open(struct lessons *l);
void lessons_close(struct lessons *l);

/* What is known of the template text[n] with the variables of c; parsed and derived here if it is new. NULL with a
 * reason. The caller releases it after use; learned_release() allows NULL. */
struct learned *learned_find(struct lessons *l, const struct chat *c, const char *text, size_t n, struct why *w);
void learned_release(struct lessons *l, struct learned *k);

/* Appends the grammar to out as rules_write() does, or a kept copy if the same was asked before. A wish has left_out
 * if and only if it has no schema; nothing is added to left_out when the grammar is a kept copy. -1 with a reason. */
int learned_grammar(struct lessons *l, const struct learned *k, const struct json *variables,
	const struct bytes *prompt, const struct vocab *v, const struct rules_wish *wish, struct bytes *out,
	struct why *w);

#endif
