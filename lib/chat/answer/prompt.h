/* prompt: what a prompt already has of the answer: <think>, open or closed, or the start of a channel. */
#ifndef PROMPT_H
#define PROMPT_H

#include "lib/chat/chat.h"

/* Appends the end of the rendered conversation, from where a template without add_generation_prompt ends, or else from
 * the last message on. A conversation without messages is taken to have one of a user. */
int prompt_end(struct chat *c, const char *template, size_t n, const struct jinja_options *o, struct bytes *out,
	struct why *w);

#endif
