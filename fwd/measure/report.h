/* report: what fwd says on stderr when asked (-v, --profile). */
#ifndef REPORT_H
#define REPORT_H

#include "fwd/plan/plan.h"
#include "fwd/serve.h"

/* start: when the program began, on clock_now()'s clock. */
void report_loaded(const struct serve *v, double start);
void report_done(const struct serve *v, double start);

/* For prompts and for decoding: time, bytes, their rate and the share of the machine's limit, as a table by name of op
 * and as a tree of the layers and their ops. Measures the limits now, in some 60 ms. The plan was timed. */
void report_profile(const struct plan *p);

#endif
