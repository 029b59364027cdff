/* batch: what is evaluated at once: rows of the frames being answered, of one sequence or of several. Rows that answer
 * a sampler come first, then those of prompts, in the order in which they came. */
#ifndef BATCH_H
#define BATCH_H

#include <stddef.h>

#include "lib/base/why.h"

struct serve;
struct served;

/* A signal handler: cancels the evaluation of given ids: an `end ` frame follows instead. Complete batches stay valid.
 * Ignored for sampled ids, with --all, and between frames. */
void batch_interrupt(int signal);

/* Appends a sequence whose frame is to be answered: it has rows left. */
void batch_add(struct serve *v, struct served *q);

/* The first position of its frame whose logits are asked for. */
size_t batch_wanted(const struct serve *v, const struct served *q);

/* Evaluates one batch, and writes what it answers. There is something to answer. 0, or -1 if a write failed. */
int batch_run(struct serve *v, struct why *w);

#endif
