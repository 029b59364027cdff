/* arguments: the stages of a request, and the command of each. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "request.h"

#define ARGUMENTS_JOBS "16"     /* of feed with --lines, unless -j is given */

/* The settings that ask templates for no reasoning, by the names that they have for it; then NULL. */
extern const char *const arguments_no_thinking[];

/* Sets what follows from the rest of q. argv0: that of gen; programs are looked for beside it. -1: out of memory. */
int arguments(struct request *q, const char *argv0, struct why *w);

#endif
