/* prefault: the pages of the weights, brought and taken away beside the work instead of within it. A thread touches the plan's matrices in the order
 * in which they will be read, while fwd waits for its first ids and evaluates them, so that the first token does not pay for the mapping (some 25 ms of
 * faults for 600 MB that lie in the cache page by page), or not alone for the disk where they do not lie there. At the end all threads of the pool
 * let go of the pages, which would cost one of them more than half as much again. */
#ifndef PREFAULT_H
#define PREFAULT_H

#include "fwd/plan/plan.h"

struct prefault;

/* pool: of prefault_close(). NULL where there is no thread to spare, or the model would fill half the memory: nothing is lost then but time. */
struct prefault *prefault_start(const struct plan *p, struct pool *pool);

/* After the last use of the weights, and before the plan, the pool and the model are closed. NULL is allowed. */
void prefault_close(struct prefault *f);

#endif
