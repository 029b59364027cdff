/* prompts: what a request gives the model to continue: texts, ids, or messages in the model's chat template. */
#ifndef REQUEST_PROMPTS_H
#define REQUEST_PROMPTS_H

#include "job.h"

/* Makes j->prompt and, of messages, what reading the answer needs. Appends to j->opts the grammar that the answer must
 * follow. Returns -1 with a reason on failure. */
int prompts_make(struct job *j, const struct model *m, struct why *w);

/* Appends the template's text for the messages. */
int prompts_render(struct job *j, const struct model *m, struct bytes *text, struct why *w);

enum prompts_part {
	PROMPTS_PART,           /* part of a text */
	PROMPTS_WHOLE,          /* a text: with BOS and EOS as the model asks for them */
	PROMPTS_REST            /* what follows another part */
};

/* Appends the ids of text[n]. */
int prompts_encode(const struct model *m, const char *text, size_t n, enum prompts_part part, struct ids *to,
	struct why *w);

#endif
