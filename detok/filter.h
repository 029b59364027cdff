/* filter: what a sampler writes, as far as a stop string. It stands between the sampler and the FIFO of feed, so that a stop ends the loop like any other
 * end of a generation. */
#ifndef FILTER_H
#define FILTER_H

#include "lib/stream/frame.h"
#include "printer.h"

/* Copies cards, ids, their log-probabilities and ends from `in` to descriptor 1. The id that completes a stop string is the last; then an `end ` frame with
 * the string replaces what the sampler would have gone on with. The sampler owes an answer to that id: the `end ` is written when it has come, so that
 * nothing of a turn comes after the turn. turns: goes on with the next generation; otherwise returns after the first stop. p writes nothing; its
 * vocabulary and its stop strings are used. -1 with a reason. */
int filter_stop(struct printer *p, struct frame_in *in, int turns, struct why *w);

#endif
