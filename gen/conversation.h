/* conversation: gen --chat and gen -i. The stages of the loop run on from turn to turn. For each turn `chat` lays
 * out the whole conversation and `tok` turns what is new in it into ids; fwd is sent those that it has not
 * evaluated yet, at their position. Where the context is full the oldest turns are dropped, so that half of it is
 * free, and what moved is evaluated again. */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include "lib/base/arena.h"
#include "gen.h"
#include "history.h"
#include "loop.h"
#include "messages.h"
#include "sections.h"

struct conversation {
	struct request *q;
	struct loop *l;
	struct messages messages;
	size_t before;          /* how many of them there were before the current turn */
	struct history history;
	struct ids kept;        /* what --kv held before the first turn; none after it */
	int resumed;            /* --history held messages */
	struct opened opened;   /* by the prompt: a thought, or a header */
	struct bytes again;     /* a turn that a command asks for */
	struct arena set;       /* the options and values that /set gave sample, which it is started with again */
	struct frame_in ends;   /* on a terminal: how detok says that it has printed an answer */
	int begun;              /* some of the answer was shown */
	int full;               /* the context has ended the current answer */
};

/* Starts the stages and answers turns until stdin ends. l->r is the result of the current turn. 0, or -1 with
 * a reason. */
int conversation(struct request *q, struct loop *l, struct why *w);

#endif
