/* chain: picks inside fwd (--chain), in place of the loop over pipes: pick an id, evaluate it, pick the next. Ids leave by the chunk, and what ends a
 * generation is looked for once a chunk. The ids are those of `sample --greedy`, or of `sample --gumbel` with the same temperature and seed, bit for bit,
 * and do not depend on the chunk. */
#ifndef CHAIN_H
#define CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"

struct serve;

struct chain {
	size_t chunk;           /* ids of a frame, from 1 on */
	int64_t n;              /* ids after each frame of the input, at most; -1: no limit */
	float temp;             /* 0: the largest logit; otherwise gumbel.h's pick, */
	uint64_t seed;          /* with this seed */
	int ignore_eos;         /* ids that end a generation are never picked */
};

/* Goes on from the row wanted last, the segment's last position, as v->chain says: frames of ids that a sampler made, then an `end `
 * frame. Every id written then counts in the segment and nothing else does, but for one at position v->n_ctx, which has no place there. -1: a failed write,
 * or logits of which none can be picked; the ids before are written. Uses v->ids and v->logits. */
int chain_run(struct serve *v, struct why *w);

#endif
