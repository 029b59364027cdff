/* arguments: the command of each stage of a request. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "request.h"

#define ARGUMENTS_JOBS "16"     /* of feed with --lines, unless -j is given */

/* Sets q->fwd and all of q->stage[] but the commands of --stage, from the rest of q. argv0: that of gen; programs are
 * looked for beside it. -1: out of memory. */
int arguments(struct request *q, const char *argv0, struct why *w);

#endif
