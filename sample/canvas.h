/* canvas: how a diffusion model's text is made (Nie et al. 2025; Ye et al. 2025). A prompt is answered by a canvas of
 * mask tokens, which the loop sends to fwd; a row of logits comes back for each of its ids. At each step an id is drawn
 * for every mask of a block, and the most certain of them are kept; then the canvas goes to fwd again. Blocks are
 * filled in from left to right. Ids before the first mask are written as drawn. */
#ifndef CANVAS_H
#define CANVAS_H

#include "generation.h"

/* How certain a drawn id is. CONFIDENCE: its probability; MARGIN: how much more probable the most likely id is than the
 * second; ENTROPY: the negated entropy of the row; RANDOM: a random number for its position. All are of the raw logits,
 * before the chain of samplers. The order is that of the choices of --diffusion-algorithm. */
enum certainty { CERTAINTY_CONFIDENCE, CERTAINTY_MARGIN, CERTAINTY_ENTROPY, CERTAINTY_RANDOM };

struct canvas;

/* Handles a frame of logits: begins a canvas after a prompt, otherwise takes a step. Returns as generation_draw(). */
int canvas_step(struct session *s, struct generation *g, const struct frame *f, struct why *w);

/* Whether fwd has answered the canvas at least once. */
int canvas_answered(const struct canvas *c);

void canvas_close(struct canvas *c);

#endif
