/* prefault: maps the pages of the weights in the background. While fwd waits for its first ids and evaluates them, a
 * thread touches the plan's matrices in the order in which they will be read. So the first token does not pay for the
 * page faults (about 25 ms for 600 MB in the page cache), and if the file is not cached, evaluation overlaps with
 * reading the disk. At the end, all threads of the pool release the pages together, because one thread would take half
 * as long again. */
#ifndef PREFAULT_H
#define PREFAULT_H

#include "plan.h"

struct prefault;

/* Returns NULL if no thread can be started or the model would fill half of the memory. That is not an error. */
struct prefault *prefault_start(const struct plan *p);

/* Call after the last use of the weights, and before the plan, its pool and the model are closed. f may be NULL. */
void prefault_close(struct prefault *f);

#endif
