/* list: the answers of ask -N. It reads the lines of detok --lines, each the whole text of an answer, and prints the
 * answer alone (alone.h), also on a line. */
#ifndef LIST_H
#define LIST_H

#include "lib/base/why.h"
#include "gen/loop/loop.h"
#include "gen/request.h"

/* Call this before the pipeline starts: the loop then shows the lines as they come. Returns the descriptor for detok's
 * output, or -1 with a reason. */
int list_start(struct request *q, struct loop *l, struct why *w);

/* Call this when the loop is over: shows what is left. Returns 0, or -1 with a reason. */
int list_finish(struct loop *l, struct why *w);

#endif
