/* layout: a conversation as ids: what chat and tok make of its messages, starting with the first that is laid out, and
 * which of these ids fwd has evaluated. The functions return -1 with a reason on failure. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "conversation.h"

/* Lays out the messages in v->history. The ids from *keep on must be evaluated, from that position on. Returns 0. */
int layout(struct conversation *v, size_t *keep, struct why *w);

/* *n = the number of ids of the conversation from message `first` on. Returns 0. */
int layout_count(struct conversation *v, size_t first, size_t *n, struct why *w);

/* Drops as few of the oldest turns as possible so that half of the context is free after `said` ids of an answer; all
 * but the current turn if that is not enough. Returns 1, or 0 if even that does not fit, and then nothing has
 * changed. */
int layout_drop(struct conversation *v, size_t said, struct why *w);

#endif
