/* report: what is printed about a generation: the progress line, -v and --json. */
#ifndef REPORT_H
#define REPORT_H

#include "lib/base/bytes.h"
#include "gen/loop/loop.h"
#include "request.h"

/* loop->idle(): from one second after the start of the result on, shows on a terminal how much of the prompt is
 * evaluated, and how long the rest will take. */
void report_wait(struct loop *l, int waiting);

/* Tells fwd to report its progress, if a terminal will show it. Call before fwd starts. */
int report_progress(struct request *q, struct why *w);

/* For several texts: from a second later on, shows on a terminal how many are done, the rate, and how long the rest
 * will take, unless the texts themselves are shown there. report_batch_end() clears that. */
void report_batch(const struct request *q, struct loop *l);
void report_batch_end(void);

/* Prints what -v asks for on stderr, about one of l's results, which has ids; on a terminal's conversation only one
 * line of it, the speed. */
void report(const struct request *q, const struct loop *l, const struct result *r);
void report_speed(const struct request *q, const struct result *r);

/* Prints what --json asks for: one line on stdout. card: that of fwd; text: what detok printed. 0, or -1 if it cannot
 * be written. */
int report_json(const struct request *q, const struct card *card, const struct result *r, const struct bytes *text,
	struct why *w);

#endif
