/* parallel: the loop for several sequences at a time. It reads prompts, and what a sampler has drawn, as they come, and
 * writes whatever can be written, so that no pipe that is full can stop the others.
 *
 * At most l->jobs sequences go on at a time: the next prompt waits until one is over. With l->texts, the prompt is that
 * of sequence 0, and sequences 1 to l->texts - 1 start as forks of it, so that it is evaluated once. A sequence is over
 * with its `end `, with an id that ends a generation, after l->n ids or where the context is full; fwd is told of it by
 * an `end ` frame, which also comes round to whoever reads the copy. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include "loop.h"

/* From the first prompt to the last end: then closes l->out and, where there is a copy, copies what still comes:
 * whoever writes it is not to die of SIGPIPE. Of *l it uses in, back, out, copy, n, jobs, texts, r ([texts] or NULL),
 * idle, card and gone. 0, or -1 with a reason. */
int parallel_run(struct loop *l, struct why *w);

#endif
