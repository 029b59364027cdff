/* parallel: the loop for several sequences at once. It reads prompts and drawn ids as they arrive, and writes whatever
 * a pipe accepts, so that a full pipe does not block the others.
 *
 * At most l->jobs sequences are active at a time; the next prompt waits until one ends. A sequence without ids yet does
 * not count, and ends with the prompts; an `end ` frame without a reason after its ids only completes its prompt. With
 * l->texts, the prompt is that of sequence 0, and sequences 1 to l->texts - 1 start as forks of it, so that it is
 * evaluated only once. A sequence ends with its `end ` frame, with an id that ends a generation, after l->n ids, or
 * when the context is full; an `end ` frame then tells fwd, and passes through the stages to the reader of the copy. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include "loop.h"

/* Runs from the first prompt to the last end. Then closes l->out and, if there is a copy, drains l->back into it, so
 * that its writer does not die of SIGPIPE. Uses these members of *l: in, back, out, copy, n, jobs, texts, r ([texts] or
 * NULL), idle, card and gone. Returns 0, or -1 with a reason. */
int parallel_run(struct loop *l, struct why *w);

#endif
