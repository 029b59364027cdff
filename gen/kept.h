/* kept: the state that --kv kept of a conversation, when gen starts: its ids, and which turns they are. A state of
 * another conversation is never written over. */
#ifndef KEPT_H
#define KEPT_H

#include "conversation.h"

/* Reads the state into v->kept and v->history, if there is one, and finds the first message that it holds: turns before
 * it were dropped by an earlier conversation. 0, or -1 with a reason. */
int kept_load(struct conversation *v, struct why *w);

/* For a state that differs from the conversation's text[n], which is terminated. A --history prevails over the state:
 * what both begin with stays in v->history. -1 with a reason if that is less than the first turn that is laid out, or
 * there is no history: then the state is another conversation's. */
int kept_salvage(struct conversation *v, const char *text, size_t n, struct why *w);

#endif
