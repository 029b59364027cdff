/* batch: the rows that are evaluated at once: of the frames being answered, of one sequence or several. Rows that
 * answer a sampler come first, then those of prompts, each in the order of arrival. */
#ifndef BATCH_H
#define BATCH_H

#include <stddef.h>

#include "lib/base/why.h"

struct serve;
struct served;

/* A signal handler: cancels the evaluation of given ids: an `end ` frame follows instead. Complete batches stay valid.
 * Ignored for sampled ids, with --all, and between frames. */
void batch_interrupt(int signal);

/* Appends to the queue a sequence that has rows left in its frame. */
void batch_add(struct serve *v, struct served *q);

/* The first position of its frame whose logits are asked for. */
size_t batch_wanted(const struct serve *v, const struct served *q);

/* Evaluates one batch and writes its answers; the queue is not empty. 0, or -1 if a write failed. */
int batch_run(struct serve *v, struct why *w);

#endif
