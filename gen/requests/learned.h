/* learned: what is known of the model's template with certain tools and settings: how answers to messages are written,
 * and the grammars that they follow. Finding it out takes milliseconds, so it is kept for later requests: the same
 * tools come with each turn of a conversation. */
#ifndef LEARNED_H
#define LEARNED_H

#include "lib/base/memo.h"
#include "lib/chat/answer/format.h"
#include "lib/chat/answer/rules.h"

struct learned {
	struct jinja *template;         /* parsed */
	struct format format;
	struct arena memory;    /* private: of the format; */
	uint64_t number;        /* no other has it */
};

struct lessons {                /* all of them; lessons_open(); lessons_close() at the end */
	struct memo learned;    /* by the template and the variables */
	struct memo grammars;   /* by a struct learned, and what else a grammar depends on */
	uint64_t last;          /* number */
};

void lessons_open(struct lessons *l);
void lessons_close(struct lessons *l);

/* Parses the template text[n] and derives the format of answers to c, unless both are known. NULL with a reason;
 * learned_release() when it is not used any more. */
struct learned *learned_find(struct lessons *l, const struct chat *c, const char *text, size_t n, struct why *w);
void learned_release(struct lessons *l, struct learned *k);

/* rules_write(), once for each prompt's end and wish. A wish has left_out if it has no schema, and only then; it gets
 * nothing of a grammar that was kept. */
int learned_grammar(struct lessons *l, const struct learned *k, const struct json *variables,
	const struct bytes *prompt, const struct vocab *v, const struct rules_wish *wish, struct bytes *out,
	struct why *w);

#endif
