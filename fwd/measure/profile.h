/* profile: prints the time that the ops of a plan took to stderr (fwd --profile). */
#ifndef PROFILE_H
#define PROFILE_H

#include "fwd/plan/plan.h"

/* Prints, for prompts and for decoding, the time, bytes, bytes/s and the share of the machine's limit, by name of op
 * and by layer. The plan must have been timed. Measures the limits now, which takes about 60 ms. */
void profile_print(const struct plan *p);

#endif
