/* deltas: with stream, the lines of JSON that tell what is new of a choice. They are appended to j->out. */
#ifndef REQUEST_DELTAS_H
#define REQUEST_DELTAS_H

#include "gen/requests/choice.h"

/* A line with what is new of a choice, if anything is. `last`: with all that is left, and why it ended. -1: out of
 * memory. */
int deltas_add(struct choice *c, int last, struct why *w);

#endif
