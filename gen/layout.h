/* layout: a conversation as ids: what chat and tok make of its messages, from the first that is laid out on, and which
 * of these ids fwd has evaluated. The functions return -1 with a reason if they fail. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "conversation.h"

/* Lays out the messages in v->history. Its ids from *keep on are to be evaluated, from that position on. 0. */
int layout(struct conversation *v, size_t *keep, struct why *w);

/* How many ids the conversation is from message `first` on. 0. */
int layout_count(struct conversation *v, size_t first, size_t *n, struct why *w);

/* Drops as few of the oldest turns as leave half of the context free, where `said` ids of an answer follow; all but the
 * turn under way if no fewer do. 1; 0: even that does not fit, and nothing has changed. */
int layout_drop(struct conversation *v, size_t said, struct why *w);

#endif
