/* learn: what a reader of answers needs to know of a conversation: how the model marks the parts of an answer, and what
 * the prompt already has of the one to come: <think>, open or closed, or the start of a channel. */
#ifndef LEARN_H
#define LEARN_H

#include "format.h"

/* Derives the format, whose text lies in the arena, from the template text[n], and appends to *prompt the end of the
 * rendered conversation: from where a template without add_generation_prompt ends, or else from the last message on. A
 * conversation without messages is taken to have one of a user. A template that fails with the tools is used without
 * them. */
int learn_format(struct chat *c, const char *text, size_t n, const struct jinja_options *o, struct format *f,
	struct arena *a, struct bytes *prompt, struct why *w);

/* Appends that end of the prompt alone. t is the parsed template, and `with` the rendered conversation. */
int learn_prompt(struct chat *c, const struct jinja *t, const struct jinja_options *o, const struct bytes *with,
	struct bytes *prompt, struct why *w);

/* How many calls the conversation has: the number of the first call that an answer may have. */
size_t learn_calls(const struct chat *c);

#endif
