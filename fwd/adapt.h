/* adapt: which adapters a sequence has, and from where on. */
#ifndef ADAPT_H
#define ADAPT_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/model/model.h"
#include "fwd/state/segment.h"
#include "question.h"

/* The adapters of a sequence that asks for nothing else: all of the model, with the scales of the options. Those with
 * invocation tokens do not apply before these come. */
void adapt_default(const struct model *m, struct lora_use use[LORA_MAX]);

/* Splits "NAME=SCALE" or "NAME": sets *n to the length of the name and *scale, which is 1 without one. A name may have
 * `=`, too, if no number follows the last one. -1, with a reason, if the scale is too large or not finite. */
int adapt_split(const char *text, size_t *n, float *scale, struct why *w);

/* Sets the scale that text gives, "NAME=SCALE", where NAME is the file of an adapter of the model, with or without its
 * folder. -1, with a reason, if there is no such adapter. */
int adapt_scale(const struct model *m, const char *text, struct lora_use use[LORA_MAX], struct why *w);

/* shape.choices of a segment whose rows have these adapters; `choices` are those without. */
uint64_t adapt_choices(const struct model *m, const struct lora_use use[LORA_MAX], uint64_t choices);

/* The fingerprint in the card of a stream: of the model, its control vectors, and the adapters that sequences have
 * by default. */
uint64_t adapt_fingerprint(const struct model *m);

/* Finds the invocation tokens in a segment's ids [0, end), all of which are a prompt: after a named segment was opened,
 * or when a text for an embedding has ended. */
void adapt_find(const struct model *m, struct segment *s, size_t end);

/* Where adapters with invocation tokens apply once a question has been asked: from the last place where these stand, up
 * to the end of the last frame that is a prompt. Sets use[] and returns the first position whose row this changes;
 * SIZE_MAX: none. */
size_t adapt_move(const struct model *m, const struct segment *s, const struct question *q,
	struct lora_use use[LORA_MAX]);

#endif
