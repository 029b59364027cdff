/* input: the main loop of fwd. Reads frames of ids and copies them to the output, each followed by a frame of logits or
 * by frames of the ids that a chain draws. Decides what each kind of frame does, and when to read the next: frames of
 * several texts are answered together (batch.h), those of one text in order. */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "batch.h"
#include "chain.h"

struct input {
	/* set by the caller, and borrowed: */
	struct batch *batch;            /* open */
	struct chain *chain;            /* open: draws ids instead of writing logits; or NULL */
	void (*warn)(const char *why);  /* called when one of several texts fails or, once, when the context is longer
					 * than what the model was trained for */

	int truncate;                   /* for embeddings: texts that are too long are cut */
	int own_kv;                     /* sequences may have named segments of their own */

	size_t failed;                  /* texts */

	/* private */
	struct frame_in in;
	int started;                    /* the card has been written: */
	struct card card;
	int32_t *ids;                   /* [n_ctx], of a frame */
	char *opts;                     /* [opts_room]: options of a sequence */
	size_t opts_room;
	int no_more, finished;          /* no more texts will start; no more frames will come or matter */
	int untrained;                  /* it has been warned of the context */

	struct frame frame;             /* the current frame */
	uint32_t source;                /* of a fork */
	int held;                       /* it waits, or has rows left, until a batch has been run */
	struct text *partial;           /* the text whose hidden states the current frame has; or NULL */
	size_t left;                    /* rows of that frame still to be read */
};

/* Returns 0, or -1 if memory is short. Call input_close() in either case. The caller keeps fd. */
int input_open(struct input *in, int fd, const char *name, struct why *w);
void input_close(struct input *in);

/* Reads until the end of the input, or until no more texts start and all have ended, and writes frames. Returns 0, or
 * -1 with a reason. Even then the output consists of whole frames, unless a write failed or hidden states ended within
 * a frame all of whose logits are wanted, and every id that was completely evaluated is valid in its state. */
int input_answer(struct input *in, struct why *w);

#endif
