/* report: what is printed about a generation: the line of a long wait, -v and --json. */
#ifndef REPORT_H
#define REPORT_H

#include "lib/base/bytes.h"
#include "gen.h"
#include "loop.h"

/* A loop's idle(): from a second after the begin of the result on, a terminal shows how far the prompt is, and how long
 * the rest will take. */
void report_wait(struct loop *l, int waiting);

/* Lets fwd say how far it is, where a terminal will show it; before it starts. */
int report_progress(struct request *q, struct why *w);

/* What -v prints, on stderr, of one of l's results. */
void report(const struct request *q, const struct loop *l, const struct result *r);

/* What --json prints: one line on stdout. text: what detok has printed. */
void report_json(const struct request *q, const struct result *r, const struct bytes *text);

#endif
