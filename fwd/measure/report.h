/* report: what fwd -v prints to stderr. start: when the program began, by clock_now(). */
#ifndef REPORT_H
#define REPORT_H

#include "fwd/serve.h"

/* Once the model is loaded: what it is, and how it is run. */
void report_loaded(const struct serve *v, double start);

/* At the end: how many tokens were evaluated, and how fast. */
void report_done(const struct serve *v, double start);

#endif
