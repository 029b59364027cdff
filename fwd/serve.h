/* serve: reads frames of ids and writes them again, each followed by a frame of logits (or by frames of the ids that a
 * chain draws). Decides where ids go, what they replace, and which of them a state holds already and need not be
 * evaluated. Frames of several sequences are answered together (batch.h), each sequence's in their order. */
#ifndef SERVE_H
#define SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/base/why.h"
#include "chain.h"
#include "scores.h"
#include "hidden.h"
#include "fwd/plan/plan.h"
#include "served.h"

struct serve {
	/* set by the caller, and borrowed */
	struct model *model;
	struct plan *plan;
	struct all_served *served;
	int out;                        /* descriptor that frames are written to */
	size_t n_ctx;                   /* positions of a sequence, at most */
	int all;                        /* logits of every row, instead of each frame's last */
	int lens;                       /* logits after each layer, too */
	int score;                      /* with `all`: no logits, but scores of the ids */
	int progress;                   /* descriptor of a file that says how far long frames are; or -1 */
	const struct chain *chain;      /* draw ids and write no logits; excludes `all`; or NULL */
	void (*warn)(const char *why);  /* called when one of several sequences has failed */

	struct hidden hidden;

	/* for the report */
	size_t failed;                  /* sequences */
	size_t reused, evaluated;       /* ids */
	size_t prompt, decode;          /* evaluated ids in frames of several, and of one */
	double prompt_seconds, decode_seconds;
	double first;                   /* clock_now() when the first logits (or chunk) were written; 0: not yet */

	/* private */
	int started;                    /* the card has been written: */
	struct card card;
	int32_t *ids;                   /* [n_ctx + 1], of a frame, chunk or batch */
	float *logits;                  /* [rows][n_vocab], made at once */
	size_t rows;
	struct scores scores;           /* of up to `rows` rows */
	int32_t *following;             /* [batch]: the id that a row's logits are about */

	/* what comes */
	struct frame frame;
	uint32_t source;                /* of a `fork` frame */
	size_t bound;                   /* where an `end ` frame says that the chain's text ends; 0: nowhere */
	int held;                       /* the frame waits until its sequence is answered */
	int ending, over;               /* no more sequences start; no more frames come, or are of interest */
	size_t awaited;                 /* sequences */
	double patience;                /* seconds to wait for them after the first of a batch, */
	double until;                   /* until this time */

	/* frames that are being answered, and the batch of them that is evaluated (batch.c) */
	struct served *queue, *last;
	size_t queued;
	struct run *run;                /* [batch], of the sequences of[batch] */
	struct served **of;
	size_t n_runs, n_rows;
};

/* 0, or -1: out of memory. serve_close() is due in either case. */
int serve_open(struct serve *v, struct why *w);
void serve_close(struct serve *v);

/* Reads to the end of `in`, or until no more sequences start and all are over, and writes frames. 0, or -1 and the
 * reason. Even then the output consists of whole frames, unless a write failed, or hidden states ended inside a frame
 * all of whose logits are wanted; and every id that was completely evaluated is valid in its state. */
int serve(struct serve *v, struct frame_in *in, struct why *w);

/* For callers that run batches without input (batch_run()): n ids go to the end of a sequence and wait to be evaluated,
 * like those of a frame that asks for the last one's logits. -1 if there is no room for them. */
int serve_append(struct serve *v, struct served *q, const int32_t *ids, size_t n, struct why *w);

/* For batch_run(): ends a sequence whose `end ` frame came before its last answer, and writes that frame. -1: as of
 * served_end(), or the write failed. */
int serve_ended(struct serve *v, struct served *q, struct why *w);

#endif
