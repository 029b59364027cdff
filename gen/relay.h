/* relay: gen itself between fwd and sample, row by row. So several ids can be evaluated at once and sample be shown their rows one after the other, as
 * long as it draws what was evaluated: what it draws depends on the row, the ids before and the position alone, so that the ids are the very same as
 * without, whatever its options. And several samplers can go on from one prompt. */
#ifndef RELAY_H
#define RELAY_H

#include "lib/stream/frame.h"
#include "lib/base/why.h"
#include "loop.h"

struct draft;

struct relay {
	struct loop *l;
	struct frame_in in;     /* what comes from fwd */
	struct card card;       /* fwd's */
	float *row;             /* [n_vocab] the row read last */
	float *first;           /* [n_vocab] that of the prompt */
	struct ids seq;         /* the prompt and what was generated */
};

/* Sends the prompt to fwd and takes its last row. */
int relay_open(struct relay *y, struct loop *l, const struct ids *prompt, struct why *w);
void relay_close(struct relay *y);

/* From behind the prompt to the end, with loop_turn()'s results. d: proposes ids, or NULL. What fwd holds at the end is cut back to what counts. May be
 * called again, with another sampler. */
int relay_turn(struct relay *y, struct result *r, struct draft *d, struct why *w);

#endif
