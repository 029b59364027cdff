/* timing: measures the speed of an engine for prompts or for decoding, for one sequence or several at once, in the same
 * batches that fwd would make (batch.h). Runs alternate with measurements of the machine's limits. Output goes to
 * /dev/null. */
#ifndef TIMING_H
#define TIMING_H

#include "fwd/batch.h"
#include "fwd/engine.h"
#include "fwd/measure/limits.h"

struct timing {
	struct engine engine;
	struct limits limits;
	/* private */
	struct texts texts;
	struct report report;           /* not printed */
	struct batch batch;
	int32_t *ids;                   /* [n_ctx] */
	struct text **of;               /* [room], the texts of a test */
	size_t room;
	struct run *run;                /* [batch] */
};

struct bench_test {
	int decode;             /* 1: n tokens one by one, with logits of each; 0: a prompt of n, with logits of its
				 * last token */
	size_t n, depth;        /* depth: tokens already in the context */
	size_t sequences;       /* number of sequences evaluated together */
	int shared;             /* sequences share those tokens, as forks of one sequence */
};

struct bench_result {
	double rate, low, high; /* tokens/s of all sequences together: median, lowest, highest */
	double limit;           /* tokens/s at the limit */
	enum bound bound;       /* what sets the limit */
	struct limit of;        /* medians of the limits measured between the runs */
};

/* Opens an engine with the context that the longest test needs. Returns 0, or -1 with a reason and nothing left
 * open. */
int timing_open(struct timing *t, struct model *m, const struct engine_setup *s, struct why *w);
void timing_close(struct timing *t);

/* Runs the test `repetitions` times. 0, or -1 with a reason. */
int timing_test(struct timing *t, const struct bench_test *test, size_t repetitions, struct bench_result *r,
	struct why *w);

#endif
