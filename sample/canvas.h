/* canvas: the end of a text whose masks are filled in step by step, for models that do so (Nie et al. 2025; Ye et al.
 * 2025). A prompt is answered by a canvas of masks, which goes to fwd as a frame of guesses: a row of logits comes back
 * for each of its ids. At each step an id is drawn for every mask of a block, and the ids of the highest confidence are
 * kept. Blocks are filled from left to right. Ids before the first mask are written as drawn. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stddef.h>
#include <stdint.h>

#include "generation.h"

/* What ids are kept for: CONFIDENCE: their probability; MARGIN: the difference between the two highest probabilities of
 * the row; ENTROPY: its low entropy; RANDOM: a random number of the position. All are of the logits as they came. */
enum canvas_order { CANVAS_CONFIDENCE, CANVAS_MARGIN, CANVAS_ENTROPY, CANVAS_RANDOM };

struct canvas {
	uint32_t pos;           /* of id[0] */
	int32_t before;         /* the id before it */
	size_t n;
	int32_t *id;            /* [n]; the mask where none is kept yet; in one block with: */
	float (*logprob)[2];    /* [n][1 + n_best], as in struct session */
	size_t filled;          /* number of first ids that have been written */
	size_t sent;            /* fwd was last sent id[sent .. n) */
	size_t block, end;      /* the current block is id[block .. end), */
	size_t step, steps;     /* of which so many steps are done */
	struct draw *draw;      /* [n]: scratch */
};

/* Handles a frame of logits, as generation_draw() does: begins a canvas after a prompt, takes a step after a canvas. */
int canvas_step(struct session *s, struct generation *g, const struct frame *f, struct why *w);

void canvas_close(struct canvas *c);

#endif
