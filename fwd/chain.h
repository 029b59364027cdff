/* chain: generation inside fwd (--chain) instead of in a loop over pipes: draw an id, evaluate it, draw the next. Ids
 * are written in chunks, and only then is each chunk searched for an id that ends the generation. The ids are those of
 * `sample --greedy`, or of `sample --gumbel` with the same temperature and seed. They do not depend on the chunk
 * size. */
#ifndef CHAIN_H
#define CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

struct serve;
struct served;

struct chain {
	size_t chunk;           /* ids per frame, at least 1 */
	int64_t n;              /* maximum number of ids after each frame of the input; -1: no limit */
	float temp;             /* 0: take the largest logit; otherwise draw as gumbel_pick() does, */
	uint64_t seed;          /* with this seed */
	int ignore_eos;         /* never draw an id that ends a generation */
};

/* Continues the sequence from its last position, whose row must be the last one evaluated, as v->chain says. Writes
 * frames of sampled ids, then an `end ` frame. Afterwards exactly the written ids are valid in the segment, except one
 * at position v->n_ctx, for which there is no room. Returns -1 if a write failed, the segment cannot grow, or no logit
 * is finite; the ids before that are written. Overwrites v->ids and v->logits. */
int chain_run(struct serve *v, struct served *q, struct why *w);

#endif
