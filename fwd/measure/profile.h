/* profile: what the ops of a plan took, on stderr (fwd --profile). */
#ifndef PROFILE_H
#define PROFILE_H

#include "fwd/plan/plan.h"

/* For prompts and for decoding: time, bytes, their rate and the share of the machine's limit, as a table by name of op
 * and as a tree of the layers and their ops. Measures the limits now, in some 60 ms. The plan was timed. */
void profile_print(const struct plan *p);

#endif
