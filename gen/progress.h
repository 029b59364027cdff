/* progress: a line on a terminal about work that takes longer than a second. For one text: how much of its prompt is
 * evaluated, and how long the rest will take. For several: how many are done, the rate, and how long the rest will
 * take, unless the texts themselves are shown there. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "gen/loop/loop.h"
#include "request.h"

/* Sets l->idle and l->tick, and tells fwd to report its progress. Call this before fwd starts, and progress_end() when
 * the loop is over. Returns 0, or -1 with a reason. */
int progress_start(struct request *q, struct loop *l, struct why *w);
void progress_end(void);

/* loop->idle() of one text. A conversation calls it from its own. */
void progress_wait(struct loop *l, int waiting);

#endif
