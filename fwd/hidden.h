/* hidden: stages that run some of the layers each (--layers). One that does not begin with layer 0 reads frames of
 * hidden states, which the stage before wrote; one that does not end with the last layer writes them in place of
 * logits. Frames of ids pass all stages, ahead of their hidden states: each keeps the ids with its state, and drops
 * rows by the same rule. From where the hidden states of a frame begin is up to the stage that embeds: rows that its
 * state still holds are left out, and those that its recurrent layers have to evaluate again come before. A later stage
 * that does not hold what is left out cannot make it, and says which position it needs. */
#ifndef HIDDEN_H
#define HIDDEN_H

#include <stddef.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "fwd/plan/plan.h"

struct serve;
struct served;

struct hidden {
	float *in, *out;                /* [batch][width], or NULL: ids are read; logits are written */
	size_t in_width, out_width;
	size_t n_in;                    /* rows of the next batch that have come */
	const struct served *open;      /* whose logits are to be one frame, of which rows have not come yet; or NULL */
	size_t parts;                   /* stages of as many layers as this one has that make the model */
	size_t together;                /* runs of the last batch */
	double patience;                /* seconds to wait for as many */
};

/* -1: out of memory. What is opened is closed even then. */
int hidden_open(struct hidden *h, const struct plan *p, struct why *w);
void hidden_close(struct hidden *h);

/* -1 unless a sequence that has sent something else than hidden states may have done so. */
int hidden_check_order(const struct serve *v, const struct served *q, struct why *w);

/* -1 unless the card comes from the stage before, with the same model and context. */
int hidden_check_card(const struct serve *v, const struct card *card, struct why *w);

/* A frame of hidden states: reads its rows, for the next batch. A batch that is full is evaluated. -1: the stream is no
 * longer valid, or a write failed. 1: the sequence has failed, and w says why. */
int hidden_take(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w);

/* Writes the rows of the batch that was evaluated. */
int hidden_write(struct serve *v, struct why *w);

/* -1 if there are ids whose hidden states have not come: the input has ended. */
int hidden_check_end(const struct serve *v, struct why *w);

/* Sequences that decode in one batch, at most: so that all stages are busy, each with some of them. */
size_t hidden_sequences(const struct serve *v);

#endif
