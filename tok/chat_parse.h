/* chat_parse: the text of an answer on standard input, as a message on standard output. */
#ifndef CHAT_PARSE_H
#define CHAT_PARSE_H

#include "lib/chat/chat.h"

enum chat_parse {
	PARSE_MESSAGE,
	PARSE_STREAM,           /* deltas, as they become certain */
	PARSE_SHOW              /* the table by which answers are read; reads none */
};

/* The conversation is that of the prompt. */
int chat_parse(struct chat *c, const char *template, size_t n, const struct jinja_options *o, enum chat_parse what,
	struct why *w);

#endif
