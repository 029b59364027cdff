/* serve: frames of ids in, the same frames and frames of logits out (or of ids that a chain picks). Here the rules of the stream meet the plan: where ids go, what is cut back,
 * what a segment knows already and need not be evaluated again. */
#ifndef SERVE_H
#define SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/base/why.h"
#include "chain.h"
#include "fwd/plan/plan.h"
#include "fwd/state/segment.h"

struct serve {
	struct model *model;            /* these are borrowed and set by the caller, as is all */
	struct plan *plan;
	struct segment *segment;
	size_t n_ctx;                   /* positions, at most */
	int all;                        /* logits of every row, not of a frame's last alone */
	const struct chain *chain;      /* ids are picked, no logits written; not with all; or NULL */

	size_t reused, evaluated;       /* ids */
	size_t prompt, decode;          /* of them, in frames of several ids and of one */
	double prompt_seconds, decode_seconds;
	double first;                   /* when the first logits (or the first chunk) were written, on clock_now()'s clock; 0: not yet */

	/* private */
	int every;                      /* of the frame under way: logits of every row */
	int started;                    /* the card is out: */
	struct card card;
	int32_t *ids;                   /* [n_ctx + 1] of the current frame; of a chunk */
	float *logits;                  /* [rows][n_vocab] */
	size_t rows;
};

/* For a signal handler: the ids that were given and are under evaluation are given up, and an `end ` frame says so. Those of the batches before count. It
 * is nothing to ids that a sampler made, to those whose logits are all asked for, nor between frames. */
void serve_interrupt(int signal);

/* Reads to the end of `in`; writes to descriptor 1. 0, or -1 and the reason; then what was written is whole frames but for a failed write, and the
 * segment counts every id whose evaluation was finished. */
int serve(struct serve *v, struct frame_in *in, struct why *w);

#endif
