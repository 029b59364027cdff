/* gen: what the parts of gen share: what was asked for, and what came of it. */
#ifndef GEN_H
#define GEN_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/vocab.h"
#include "../lib/why.h"
#include "stages.h"

enum { TOK, FWD, SAMPLE, DETOK, FEED, STAGES };        /* FEED: the child that writes a prompt given as an argument */

struct request {
	const char *model;
	const char *prompt;     /* NULL: tok reads gen's own stdin */
	const char *seed;
	struct stage stage[STAGES];     /* with their arguments; nothing running */
	int verbose, print;
};

struct result {
	struct ids prompt;      /* what tok made of it */
	struct ids ids;         /* what was generated */
	float *logprob;         /* [ids.n] of each pick, NaN where the sampler does not say */
	double *time;           /* [ids.n] seconds from the start to each id */
	size_t room;            /* of both arrays */
	uint32_t reason;        /* enum frame_reason; 0: none was given */
	int32_t eog[4], n_eog;  /* the first ends of generation of the card */
};

/* Seconds on a clock that only goes forward. */
double now(void);

/* Runs the pipeline once: prompt in, ids back to fwd, text out by detok, until the sampler's `end ` frame or a full context.
 * Returns 0, or -1 with a reason of its own; either way the stages were told to end but still have to be waited for. */
int loop(struct request *q, struct result *r, struct why *w);
void result_free(struct result *r);

/* What -v prints, on stderr. */
void report(const struct request *q, const struct result *r);

/* Prints the shell commands that do the same, for `gen --print-pipeline | sh`. */
void print_pipeline(const struct request *q);

#endif
