/* question: a frame of ids or a canvas: where its ids go, what they replace, and which of them are in the state already
 * and need no evaluation. A text asks one question at a time, and waits in the batch's queue for the answer. */
#ifndef QUESTION_H
#define QUESTION_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "batch.h"
#include "texts.h"

struct question {
	struct frame frame;
	const int32_t *ids;             /* [frame.rows] */
	size_t pos;                     /* where they go */
	size_t known;                   /* the first ids, which need no evaluation */
	size_t changed;                 /* the first row that other adapters change; SIZE_MAX: none */
	size_t first;                   /* the first row to be evaluated */
};

/* Before the ids are read: sets q->pos. -1: the frame does not fit the text, the model or the options. */
int question_place(const struct batch *b, const struct text *t, struct question *q, struct why *w);

/* Once they are read: checks them, sets q->known, and prepares the state, so that nothing can fail afterwards. */
int question_prepare(const struct batch *b, struct text *t, struct question *q, struct why *w);

/* Stores the ids in the state and, if there are any, appends the text to the queue (with hidden states: once those have
 * been read). */
void question_ask(struct batch *b, struct text *t, const struct question *q);

/* For bench, which has no input: asks for the logits of the last of n ids, to be appended to the text. Returns -1 if
 * there is no room for them. */
int question_append(struct batch *b, struct text *t, const int32_t *ids, size_t n, struct why *w);

#endif
