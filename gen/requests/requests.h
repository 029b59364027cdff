/* requests: gen --requests: a request on each line of a file, an answer on each line of standard output. Requests start
 * as sequences have ended, and are answered as they end. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "gen/loop/loop.h"
#include "gen/request.h"

/* Starts the stages and answers requests until their end. Returns 0, also if a stage has ended before that, or the
 * reader is gone; -1 with a reason. */
int requests(struct request *q, struct loop *l, struct why *w);

/* Call when all stages have ended: answers the requests that are still open with an error of this reason. */
void requests_end(const char *reason);

#endif
