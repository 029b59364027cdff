/* serve: reads frames of ids and writes them again, each followed by a frame of logits (or by frames of the ids that a
 * chain draws). Decides where ids go, what they replace, and which of them the segment holds already and need not be
 * evaluated. */
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
	/* set by the caller, and borrowed */
	struct model *model;
	struct plan *plan;
	struct segment *segment;
	size_t n_ctx;                   /* positions, at most */
	int all;                        /* logits of every row, instead of each frame's last */
	const struct chain *chain;      /* draw ids and write no logits; excludes `all`; or NULL */

	/* for the report */
	size_t reused, evaluated;       /* ids */
	size_t prompt, decode;          /* evaluated ids in frames of several, and of one */
	double prompt_seconds, decode_seconds;
	double first;                   /* clock_now() when the first logits (or chunk) were written; 0: not yet */

	/* private */
	int every;                      /* logits of every row of the current frame */
	int started;                    /* the card has been written: */
	struct card card;
	int32_t *ids;                   /* [n_ctx + 1], of the current frame or chunk */
	float *logits;                  /* [rows][n_vocab] */
	size_t rows;
};

/* A signal handler: cancels the evaluation of the current frame of given ids, in whose place an `end ` frame follows.
 * Complete batches stay valid. Ignored for sampled ids, with `all`, and between frames. */
void serve_interrupt(int signal);

/* Reads to the end of `in` and writes to descriptor 1. 0, or -1 and the reason. Even then the output consists of whole
 * frames, unless a write failed, and every id that was completely evaluated is valid in the segment. */
int serve(struct serve *v, struct frame_in *in, struct why *w);

#endif
