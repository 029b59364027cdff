/* conversation: gen --chat and gen -i. The stages of the loop keep running from turn to turn. For each turn, `chat`
 * lays out the whole conversation and `tok` turns what is new into ids; fwd gets the ids that it has not evaluated yet,
 * with their position. When the context is full, the oldest turns are dropped so that half of it is free, and what
 * moved is evaluated again. */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include "lib/base/arena.h"
#include "gen/loop/loop.h"
#include "gen/request.h"
#include "messages.h"
#include "parser.h"
#include "spans.h"

struct conversation {
	struct request *q;
	struct loop *l;
	struct messages messages;
	size_t before;          /* number of messages before the current turn */
	struct spans spans;
	int resumed;            /* --history had messages */
	struct parser parser;
	struct bytes again;     /* a turn that a command asks for */
	struct arena set;       /* options that /set passes to sample, which is restarted with them */
	struct bytes think_open, think_close;   /* values of sample's options */
	int refused;            /* a turn had no answer */
	int full;               /* the current answer ended because the context is full */
	int cut;                /* an answer was stopped by that, by too many calls or, with ask, by -n; or is empty */
};

/* Starts the stages and answers turns until stdin ends. l->r is the result of the current turn. Returns 0, or -1 with a
 * reason; if the conversation is not interactive, 1 if turns were refused, or 3 if answers were stopped early or that
 * of ask is empty, which the user was told. */
int conversation(struct request *q, struct loop *l, struct why *w);

#endif
