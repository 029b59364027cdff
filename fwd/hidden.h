/* hidden: pipelines of fwd stages, each of which runs some of the layers (--layers). A stage that does not begin with
 * layer 0 reads frames of hidden states, which the stage before has written; a stage that does not end with the last
 * layer writes them in place of logits. Frames of ids pass through all stages, ahead of their hidden states: each stage
 * keeps the ids in its state, and drops rows by the same rule. The first stage decides where the hidden states of a
 * frame begin: it leaves out rows that its state still holds, and adds earlier ones that its recurrent layers have to
 * evaluate again. A later stage that lacks rows that were left out fails, and reports the position that it needs. */
#ifndef HIDDEN_H
#define HIDDEN_H

#include <stddef.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "fwd/plan/plan.h"

struct serve;
struct served;

struct hidden {
	float *in, *out;                /* [batch][width]; in NULL: ids are read; out NULL: logits are written */
	size_t in_width, out_width;
	size_t n_in;                    /* rows of the next batch that were read */
	const struct served *open;      /* whose logits are one frame, with rows that were not read yet; or NULL */
	size_t parts;                   /* stages of this one's size that make up the model */
	size_t together;                /* sequences in the last batch */
};

/* -1: out of memory. What is opened is closed even then. */
int hidden_open(struct hidden *h, const struct plan *p, struct why *w);
void hidden_close(struct hidden *h);

/* -1 if hidden states of q are missing at this point of the stream, where another frame of it has come. */
int hidden_check_order(const struct serve *v, const struct served *q, struct why *w);

/* -1 unless the card comes from the stage before, with the same model and context. */
int hidden_check_card(const struct serve *v, const struct card *card, struct why *w);

/* Reads the rows of a frame of hidden states into the next batch; evaluates a batch that is full. -1: the stream is no
 * longer valid, or a write failed. 1: the sequence has failed, with a reason. */
int hidden_take(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w);

/* Writes the rows of the batch that was evaluated. */
int hidden_write(struct serve *v, struct why *w);

/* At the end of the input: -1 if hidden states of some ids are missing. */
int hidden_check_end(const struct serve *v, struct why *w);

/* The most sequences to decode in one batch, so that all stages are busy at once. */
size_t hidden_sequences(const struct serve *v);

#endif
