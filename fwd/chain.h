/* chain: generation inside fwd (--chain) instead of a loop over pipes: draw an id, evaluate it, draw the next. Ids are
 * written in chunks, and each chunk is then searched for an id that ends the generation. The ids are those of `sample
 * --greedy`, or of `sample --gumbel` with the same temperature and seed; they do not depend on the size of the
 * chunks. */
#ifndef CHAIN_H
#define CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

struct serve;
struct served;

struct chain {
	size_t chunk;           /* ids in a frame, at least 1 */
	int64_t n;              /* ids after each frame of the input, at most; -1: no limit */
	float temp;             /* 0: take the largest logit; otherwise draw as gumbel_pick() does, */
	uint64_t seed;          /* with this seed */
	int ignore_eos;         /* never draw an id that ends a generation */
};

/* Continues from the sequence's last position, whose row was the last one wanted, as v->chain says: writes frames of
 * sampled ids, then an `end ` frame. Then exactly the written ids are valid in the segment, except one at position
 * v->n_ctx, for which there is no room. -1: a write failed, there is no room to grow, or no logit is finite; earlier
 * ids are written. Uses v->ids and v->logits. */
int chain_run(struct serve *v, struct served *q, struct why *w);

#endif
