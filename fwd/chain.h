/* chain: generation inside fwd (--chain) instead of in a loop over pipes: draw an id, evaluate it, draw the next. Ids
 * are written in chunks, and only then is each chunk searched for an id that ends the generation. The ids are those of
 * `sample --greedy`, or of `sample --gumbel` with the same temperature and seed. They do not depend on the chunk
 * size. */
#ifndef CHAIN_H
#define CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "fwd/measure/report.h"
#include "fwd/plan/plan.h"

struct chain_setup {
	size_t chunk;           /* ids per frame, at least 1 */
	int64_t n;              /* maximum number of ids after each frame of the input; -1: no limit */
	float temp;             /* 0: take the largest logit; otherwise draw as gumbel_pick() does, */
	uint64_t seed;          /* with this seed; sequence k with seed + k */
	int ignore_eos;         /* never draw an id that ends a generation */
};

struct chain {
	/* set by the caller, and borrowed: */
	const struct chain_setup *setup;
	struct plan *plan;
	struct report *report;
	int out;                /* descriptor that frames are written to */

	uint32_t seq;           /* the sequence that is continued */
	size_t next;            /* position after the last id that was written */

	/* private */
	size_t left;            /* ids that may still be written */
	int32_t *ids;           /* [chunk] */
	float *logits;          /* [n_vocab] */
};

/* Returns 0, or -1 if memory is short. Call chain_close() in either case. */
int chain_open(struct chain *c, size_t n_ctx, struct why *w);
void chain_close(struct chain *c);

/* Begins to continue a text from its last position, whose row must be the last one evaluated, with at most `most` ids.
 * Returns 0 or, if there are to be none, FRAME_END_LENGTH. */
int chain_begin(struct chain *c, const struct segment *s, uint32_t seq, size_t most);

/* Draws, writes and evaluates a chunk. Afterwards exactly the written ids are valid in the segment, except one at
 * position n_ctx, for which there is no room. Returns 0; why it was the last chunk, of enum frame_reason; or -1 if a
 * write failed, the segment cannot grow, or no logit is finite: the ids before that are written. */
int chain_chunk(struct chain *c, struct segment *s, const struct card *card, struct why *w);

#endif
