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
#include "lib/stream/card.h"
#include "fwd/plan/plan.h"
#include "batch_rows.h"

struct texts;

struct hidden {
	const struct plan *plan;        /* borrowed */
	float *in, *out;                /* [batch][width]; in NULL: reads ids; out NULL: writes logits */
	size_t in_width, out_width;
	size_t n_in;                    /* rows read for the next batch */
	const struct text *open;        /* the text that is in the middle of a frame of logits; or NULL */
	size_t stages;                  /* number of stages, if all have this stage's size */
	size_t together;                /* texts in the last batch */
};

/* Returns -1 if memory is short; hidden_close() is safe even then. */
int hidden_open(struct hidden *h, const struct plan *p, struct why *w);
void hidden_close(struct hidden *h);

/* The fingerprint in the card of a stream with hidden states: of the model with the values that were set, and with what
 * is added to it. */
uint64_t hidden_model(const struct model *m);

/* Returns -1 unless the card is that of a stage before with the same model, values and context. */
int hidden_check_card(const struct hidden *h, size_t n_ctx, const struct card *card, struct why *w);

/* Returns -1 if another frame of t arrives while hidden states of t are missing. */
int hidden_check_order(const struct hidden *h, const struct text *t, struct why *w);

/* ---- a frame of hidden states, f, of text t ----
 *
 * Begun once, then read in parts, each before a batch. */

/* Checks the frame and goes back to its position. t may be NULL. Returns -1 if the stream is invalid, 1 with a reason
 * if only this text failed. */
int hidden_begin(struct hidden *h, struct text *t, const struct frame *f, struct why *w);

/* Whether a batch must be run before the next of the `left` rows is read. queue: that of the batch. */
int hidden_must_wait(const struct hidden *h, const struct text *queue, const struct text *t, size_t left);

/* Reads as many of the `left` rows into the next batch as it has room for. Returns their number, or -1. */
long hidden_read(struct hidden *h, struct text *t, struct frame_in *in, const struct frame *f, size_t left,
	struct why *w);

/* After the last part. */
void hidden_end(struct hidden *h, const struct text *t);

/* ---- */

/* Writes the rows of the batch that was just evaluated. */
int hidden_write(const struct hidden *h, int out, const struct batch_rows *r, struct why *w);

/* Returns -1 if, at the end of the input, hidden states of some ids are missing. */
int hidden_check_end(const struct hidden *h, const struct texts *all, struct why *w);

/* The most texts to decode in one batch, of n_live ones, so that all stages stay busy. */
size_t hidden_texts(const struct hidden *h, size_t n_live);

#endif
