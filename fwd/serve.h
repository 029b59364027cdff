/* serve: reads frames of ids and copies them to the output, each followed by a frame of logits (or by frames of the ids
 * that a chain draws). Decides where ids go, what they replace, and which of them are in the state already and need no
 * evaluation. Frames of several sequences are answered together (batch.h), those of one sequence in order. */
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
	/* set by the caller, and borrowed: */
	struct model *model;
	struct plan *plan;
	struct all_served *served;
	int out;                        /* descriptor that frames are written to */
	size_t n_ctx;                   /* maximum positions of a sequence */
	int all;                        /* logits of every row, instead of each frame's last */
	int lens;                       /* also logits after each layer */
	int score;                      /* with `all`: scores of the ids instead of logits */
	int progress;                   /* descriptor of the file for progress on long frames; or -1 */
	const struct chain *chain;      /* draw ids instead of writing logits; not with `all`; or NULL */
	void (*warn)(const char *why);  /* called when one of several sequences fails; and by serve_reaches() */

	struct hidden hidden;

	/* for the report: */
	size_t failed;                  /* sequences */
	size_t reused, evaluated;       /* ids */
	size_t prompt, decode;          /* ids evaluated in frames of several ids; in frames of one */
	double prompt_seconds, decode_seconds;
	double first;                   /* clock_now() when the first logits (or chunk) were written; 0: not yet */

	/* private */
	int started;                    /* the card has been written: */
	struct card card;
	int32_t *ids;                   /* [n_ctx + 1], of a frame, a chunk or a batch */
	float *logits;                  /* [rows][n_vocab], computed at once */
	size_t rows;
	struct scores scores;           /* of up to `rows` rows */
	int32_t *following;             /* [batch]: for each wanted row, the id that its logits predict */

	/* the input */
	struct frame frame;
	uint32_t source;                /* of a `fork` frame */
	size_t bound;                   /* position where an `end ` frame says that the chain must stop; 0: none */
	int frame_held;                 /* the frame waits until its sequence has been answered */
	int no_more, finished;          /* no more sequences will start; no more frames will come or matter */
	int untrained;                  /* the context has been longer than what the model was trained for */
	size_t n_awaited;               /* number of sequences to wait for */
	double patience;                /* seconds to wait for them after the first frame of a batch, */
	double until;                   /* until this time */

	/* frames being answered, and the current batch of them (batch.c) */
	struct served *queue, *last;
	size_t queued;
	struct run *run;                /* [batch], of the sequences run_of[batch] */
	struct served **run_of;
	size_t n_runs, n_rows, n_wanted;
};

/* Returns 0, or -1 if memory is short. Call serve_close() in either case. */
int serve_open(struct serve *v, struct why *w);
void serve_close(struct serve *v);

/* Reads until the end of `in`, or until no more sequences start and all have ended, and writes frames. Returns 0, or -1
 * with a reason. Even then the output consists of whole frames, unless a write failed or hidden states ended within a
 * frame all of whose logits are wanted, and every id that was completely evaluated is valid in its state. */
int serve(struct serve *v, struct frame_in *in, struct why *w);

/* Warns, once, if the model was trained for fewer positions than the `end` that a sequence has. */
void serve_reaches(struct serve *v, size_t end);

/* For callers that run batches without input (batch_run()): appends n ids to a sequence, to be evaluated like a frame
 * that asks for the logits of its last id. Returns -1 if there is no room for them. */
int serve_append(struct serve *v, struct served *q, const int32_t *ids, size_t n, struct why *w);

/* For batch_run(): ends a sequence whose `end ` frame came before its last answer, and writes that frame. Returns -1 if
 * served_end() or the write failed. */
int serve_ended(struct serve *v, struct served *q, struct why *w);

#endif
