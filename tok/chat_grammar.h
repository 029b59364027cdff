/* chat_grammar: the grammar of an answer, on standard output. */
#ifndef CHAT_GRAMMAR_H
#define CHAT_GRAMMAR_H

#include "lib/chat/answer/rules.h"
#include "lib/chat/chat.h"

/* The conversation is that of the prompt. */
int chat_grammar(struct chat *c, const char *template, size_t n, const struct jinja_options *o, const struct vocab *v,
	const struct rules_wish *wish, struct why *w);

#endif
