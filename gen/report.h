/* report: what is said about a generation: the line of a long wait, -v and --json. */
#ifndef REPORT_H
#define REPORT_H

#include "lib/base/bytes.h"
#include "gen.h"
#include "loop.h"

/* A loop's idle(): from a second after the begin of the result on, a terminal shows how long the prompt takes. */
void report_wait(struct loop *l, int waiting);

/* What -v prints, on stderr, of one of l's results. */
void report(const struct request *q, const struct loop *l, const struct result *r);

/* What --json prints: one line on stdout. text: what detok has printed. */
void report_json(const struct request *q, const struct result *r, const struct bytes *text);

#endif
