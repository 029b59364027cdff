/* report: what fwd says on stderr when asked (-v, --profile). */
#ifndef REPORT_H
#define REPORT_H

#include "plan.h"
#include "serve.h"

/* start: when the program began, on serve_now()'s clock. */
void report_loaded(const struct serve *v, double start);
void report_done(const struct serve *v, double start);

/* Time, weights read and their rate: for each kind of op, and for each layer with its ops. The plan was timed. */
void report_profile(const struct plan *p);

#endif
