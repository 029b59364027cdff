/* report: what fwd -v prints to stderr, and what is counted for it. */
#ifndef REPORT_H
#define REPORT_H

#include <stddef.h>

#include "fwd/plan/plan.h"

struct report {                         /* starts as zeroes but for: */
	double start;                   /* when the program began, by clock_now() */
	double first;                   /* when the first answer was written; 0: not yet */
	size_t reused, evaluated;       /* ids */
	size_t prompt, decode;          /* ids evaluated in frames of several ids; in frames of one */
	double prompt_seconds, decode_seconds;
};

/* Counts n ids that were evaluated; decodes: their frame has one. */
void report_evaluated(struct report *r, int decodes, size_t n, double seconds);

/* Notes when the first answer was written. */
void report_answered(struct report *r);

/* Prints what was loaded, and how it is run. */
void report_loaded(const struct report *r, const struct plan *p, const struct segment *s);

/* Prints how many tokens were evaluated, and how fast. answers: "tokens", "logits" or "embeddings". */
void report_done(const struct report *r, const char *answers);

#endif
