/* answers: the frames of logits, or of scores, that answer texts. The rows of a frame are written as batches evaluate
 * them; its header, with the first. So are the ids that a frame of logits answers, if the text `echoes`: the next stage
 * then wakes up once for a token. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "fwd/plan/plan.h"
#include "batch_rows.h"
#include "scores.h"

struct answers {
	/* set by the caller: */
	int out;                        /* descriptor to which fwd writes all frames */
	int every;                      /* logits of every row, instead of each frame's last */
	int lens;                       /* also logits after each layer */
	int score;                      /* with `every`: scores of the ids instead of logits */
	int embeds;                     /* embeddings of whole texts instead (embeddings.h); not with the others */
	int chained;                    /* none: a chain draws ids instead (chain.h); not with the others */

	/* private */
	struct plan *plan;              /* borrowed */
	float *logits;                  /* [rows][n_vocab], computed at once */
	size_t rows;
	struct scores scores;           /* of up to `rows` rows */
	struct bytes before;            /* what is written before the next row */
};

/* Returns 0, or -1 if memory is short. Call answers_close() in either case. */
int answers_open(struct answers *a, struct plan *p, struct why *w);
void answers_close(struct answers *a);

/* Computes and writes the answers of all wanted rows of the batch that was just evaluated. Returns -1 if a write
 * failed. */
int answers_write(struct answers *a, const struct batch_rows *r, struct why *w);

#endif
