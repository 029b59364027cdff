/* batch: the rows that are evaluated together, from the frames being answered, of one sequence or several. Rows that
 * answer a sampler come first, then those of prompts, each in order of arrival. */
#ifndef BATCH_H
#define BATCH_H

#include <stddef.h>

#include "lib/base/why.h"

struct serve;
struct served;

/* For a signal handler: cancels the evaluation of given ids; an `end ` frame follows instead of logits. Complete
 * batches remain valid. Ignored for sampled ids, with --all, and between frames. */
void batch_interrupt(int signal);

/* Appends a sequence, whose frame must have rows left, to the queue. */
void batch_add(struct serve *v, struct served *q);

/* The first position of its frame whose logits are wanted. */
size_t batch_wanted(const struct serve *v, const struct served *q);

/* Evaluates one batch and writes its answers. The queue must not be empty. Returns 0, or -1 if a write failed. */
int batch_run(struct serve *v, struct why *w);

#endif
