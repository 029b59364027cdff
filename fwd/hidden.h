/* hidden: pipelines of fwd stages, each of which runs some of the layers (--layers). A stage without layer 0 reads
 * frames of hidden states from the stage before; a stage without the last layer writes them instead of logits. Frames
 * of ids pass through all stages, ahead of their hidden states; each stage keeps the ids in its state, and drops rows
 * by the same rule. The first stage decides where the hidden states of a frame begin: it leaves out rows that its state
 * still has, and adds earlier ones that its recurrent layers must evaluate again. If a later stage lacks rows that were
 * left out, it fails and reports the position that it needs. */
#ifndef HIDDEN_H
#define HIDDEN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "fwd/plan/plan.h"

struct serve;
struct served;

struct hidden {
	float *in, *out;                /* [batch][width]; in NULL: reads ids; out NULL: writes logits */
	size_t in_width, out_width;
	size_t n_in;                    /* rows read for the next batch */
	const struct served *open;      /* the sequence that is in the middle of a frame of logits; or NULL */
	size_t stages;                  /* number of stages, if all have this stage's size */
	size_t together;                /* sequences in the last batch */
};

/* Returns -1 if memory is short; hidden_close() is safe even then. */
int hidden_open(struct hidden *h, const struct plan *p, struct why *w);
void hidden_close(struct hidden *h);

/* Returns -1 if another frame of q arrives while hidden states of q are missing. */
int hidden_check_order(const struct serve *v, const struct served *q, struct why *w);

/* The fingerprint in the card of a stream with hidden states: of the model with the values that were set. */
uint64_t hidden_model(const struct model *m);

/* Returns -1 unless the card is that of a stage before with the same model, values and context. */
int hidden_check_card(const struct serve *v, const struct card *card, struct why *w);

/* Reads the rows of a frame of hidden states into the next batch, and evaluates full batches. Returns -1 if the stream
 * is invalid or a write failed, 1 with a reason if only this sequence failed. */
int hidden_take(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w);

/* Writes the rows of the batch just evaluated. */
int hidden_write(struct serve *v, struct why *w);

/* Returns -1 if, at the end of the input, hidden states of some ids are missing. */
int hidden_check_end(const struct serve *v, struct why *w);

/* The most sequences to decode in one batch so that all stages stay busy. */
size_t hidden_sequences(const struct serve *v);

#endif
