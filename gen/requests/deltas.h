/* deltas: the lines of JSON that, with "stream", tell what is new of a choice. They are appended to c->job->out. */
#ifndef REQUEST_DELTAS_H
#define REQUEST_DELTAS_H

#include "choice.h"

/* Adds lines for what is new of a choice, if anything is. `last`: for all that is left, and why it ended. 0, or -1 with
 * a reason. */
int deltas_add(struct choice *c, int last, struct why *w);

#endif
