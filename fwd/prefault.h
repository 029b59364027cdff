/* prefault: maps the pages of the weights beside the work instead of within it. A thread touches the plan's matrices
 * in the order in which they will be read, while fwd waits for its first ids and evaluates them, so that the first
 * token does not pay for the mapping (some 25 ms of faults for 600 MB in the page cache), and overlaps with reading
 * the disk where they are not cached. At the end all threads of the pool release the pages, which takes one thread
 * more than half as long again. */
#ifndef PREFAULT_H
#define PREFAULT_H

#include "fwd/plan/plan.h"

struct prefault;

/* NULL where no thread can be started or the model would fill half the memory; then only time is lost. */
struct prefault *prefault_start(const struct plan *p);

/* After the last use of the weights, and before the plan, its pool and the model are closed. NULL is allowed. */
void prefault_close(struct prefault *f);

#endif
