/* report: what fwd -v prints on stderr. start: when the program began, on clock_now()'s clock. */
#ifndef REPORT_H
#define REPORT_H

#include "serve.h"

/* The model, and how it runs: once it is loaded. */
void report_loaded(const struct serve *v, double start);

/* How much was evaluated, and how fast: at the end. */
void report_done(const struct serve *v, double start);

#endif
