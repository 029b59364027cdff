/* list: the answers of ask -N: the lines of detok --lines become the answers alone (reply.h), each on a line. */
#ifndef LIST_H
#define LIST_H

#include "lib/base/why.h"
#include "loop.h"
#include "request.h"

/* Before the pipeline starts: lets the loop show the lines as they come. Returns the descriptor for detok's output, or
 * -1 with a reason. */
int list_start(struct request *q, struct loop *l, struct why *w);

/* Once the loop is over: shows what is left. Returns 0, or -1 with a reason. */
int list_finish(struct loop *l, struct why *w);

#endif
