/* report: what fwd says on stderr when asked (-v, --profile). */
#ifndef REPORT_H
#define REPORT_H

#include "fwd/plan/plan.h"
#include "fwd/serve.h"

/* start: when the program began, on clock_now()'s clock. */
void report_loaded(const struct serve *v, double start);
void report_done(const struct serve *v, double start);

/* Time, bytes, their rate and the share of the machine's limit, which is measured now, in some 60 ms: as a table of the kinds of op and as a tree of the
 * layers with their ops; for prompts, and for decoding. The plan was timed. */
void report_profile(const struct plan *p);

#endif
