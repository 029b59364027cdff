/* prefault: while fwd waits for its first ids, the pages of the weights are mapped in the order in which they will be read, so that the first token does
 * not pay for it (some 30 ms of faults for 600 MB in the page cache). Reads ahead too where the file is not in the cache. */
#ifndef PREFAULT_H
#define PREFAULT_H

#include "plan.h"

struct prefault;

/* NULL where the system has no way to, or no thread to spare, or the model would fill half the memory: nothing is lost then but time. */
struct prefault *prefault_start(const struct plan *p);

/* There is work to do now: it ends at the next few megabytes. NULL is allowed in both. */
void prefault_enough(struct prefault *f);
void prefault_close(struct prefault *f);        /* before the plan and the model */

#endif
