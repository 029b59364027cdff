/* layout: a conversation as ids: what chat and tok make of its messages, and which of these ids fwd has evaluated,
 * perhaps in an earlier process, whose state --kv has kept. The functions return -1 with a reason on failure. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "conversation.h"

struct layout {                 /* starts as zeros; layout_free() at the end */
	struct bytes text;      /* the template's text, for the head and the messages from number `first` on */
	size_t first;
	struct same same;       /* what the spans have of it already */
	struct ids rest;        /* the ids of the rest */
	size_t n;               /* all its ids */
};

/* Reads the state of --kv, if there is one, into v->spans, and finds the first message in it: turns before that were
 * dropped by an earlier conversation. Returns 0. */
int layout_load(struct conversation *v, struct why *w);

/* Lays out the messages from number `first` on; the conversation does not change. Returns 0. */
int layout_make(struct conversation *v, size_t first, struct layout *l, struct why *w);

/* Call before the first turn. Returns -1 if what --kv has kept is the state of another conversation, which must not be
 * overwritten: without --history, if the conversation does not begin with all of it; with --history, if less is the
 * same than the first turn that is laid out (unless the template lays out one turn alone, and the state has the turn
 * before). */
int layout_check(struct conversation *v, const struct layout *l, struct why *w);

/* Makes *l the layout that drops the fewest of the oldest turns so that half of the context is free after `said` ids of
 * an answer, or all but the current turn if that is not enough. Returns 1; 0, with *l unchanged, if even that does not
 * fit or there is no older turn. */
int layout_drop(struct conversation *v, size_t said, struct layout *l, struct why *w);

/* Makes *l the conversation's layout. v->spans.ids from *keep on must be evaluated, from that position on. Returns
 * 0. */
int layout_take(struct conversation *v, const struct layout *l, size_t *keep, struct why *w);

void layout_free(struct layout *l);

#endif
