/* embeddings: with --pool, the ids of a text are collected until it ends. Then it is evaluated as a whole, and a frame
 * of embeddings answers it. */
#ifndef EMBEDDINGS_H
#define EMBEDDINGS_H

#include "lib/base/why.h"
#include "batch_rows.h"
#include "texts.h"

struct plan;
struct question;

/* Adds the ids of a frame to its text, in place of those that the text has from there on. */
void embeddings_collect(struct text *t, const struct question *q);

/* Makes the rows of a text ready to be evaluated, those that its embedding needs being wanted. Returns 0 if it has no
 * ids. */
int embeddings_ready(const struct plan *p, struct text *t);

/* Writes the embeddings of the texts of the batch that was just evaluated. Returns -1 if a write failed. */
int embeddings_write(struct plan *p, int out, const struct batch_rows *r, struct why *w);

/* Forgets the ids of a text that was answered. */
void embeddings_reset(struct text *t);

#endif
