/* conversation: gen --chat and gen -i. The stages of the loop run on from turn to turn. For each turn `chat` lays
 * out the whole conversation and `tok` turns what is new in it into ids; fwd is sent those that it has not
 * evaluated yet, at their position. */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include "gen.h"
#include "loop.h"

/* Starts the stages and answers turns until stdin ends. l->r is the result of the turn under way. 0, or -1 with
 * a reason. */
int conversation(struct request *q, struct loop *l, struct why *w);

#endif
