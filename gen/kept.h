/* kept: the state that --kv kept of a conversation when gen starts: its ids, and which turns they are. The state of
 * another conversation is never overwritten. */
#ifndef KEPT_H
#define KEPT_H

#include "conversation.h"

/* Reads the state, if there is one, into v->kept and v->history, and finds the first message in it: turns before that
 * were dropped by an earlier conversation. Returns 0, or -1 with a reason. */
int kept_load(struct conversation *v, struct why *w);

/* Call if the state differs from the conversation's text[n], which is NUL-terminated. With --history, the part that
 * both begin with stays in v->history. Returns -1 with a reason if that is less than the first turn that is laid out
 * (unless the template lays out one turn alone, and the state has the turn before), or without --history: the state
 * then belongs to another conversation. */
int kept_salvage(struct conversation *v, const char *text, size_t n, struct why *w);

#endif
