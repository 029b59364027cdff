/* run: a request from the first stage's start to the last one's end. */
#ifndef RUN_H
#define RUN_H

#include "request.h"

/* Returns the exit status of gen. If it is not 0, the reason is on stderr: the error line of the stage to blame, or one
 * of ours. */
int run(struct request *q);

#endif
