/* filter: copies what a sampler writes, up to a stop string. It runs between the sampler and the FIFO of feed, so that
 * a stop string ends the loop like any other end of a generation. */
#ifndef FILTER_H
#define FILTER_H

#include "lib/stream/frame.h"
#include "printer.h"
#include "settings.h"

/* Copies cards, ids, their log-probabilities, forks and ends from `in` to descriptor 1. The id that completes a stop
 * string is the last; an `end ` frame with the string replaces what follows. The sampler still answers that id, and the
 * `end ` frame is written after its answer, so that nothing of a turn arrives after its end. Each sequence ends
 * separately. set->turns: continues with the next generation of sequence 0; otherwise returns after its first stop if
 * there are no other sequences. set->generated: looks only at ids that a sampler drew, and copies the others. Uses the
 * vocabulary and stop strings of p, which prints nothing; a sequence may have options of its own. Returns -1 with a
 * reason on failure. */
int filter_stop(const struct printer *p, const struct settings *set, struct frame_in *in, struct why *w);

#endif
