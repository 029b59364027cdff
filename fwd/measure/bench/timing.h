/* timing: how long an engine takes for a prompt or for decoding, without streams, measured in turn with the machine's
 * limits. */
#ifndef TIMING_H
#define TIMING_H

#include "fwd/engine.h"
#include "fwd/measure/limits.h"

struct timing {
	struct engine engine;
	struct limits limits;
	/* private */
	int32_t *ids;                   /* [batch] */
	float *logits;                  /* [n_vocab] */
};

struct bench_test {
	int decode;             /* n tokens one by one, with all their logits; or a prompt of n, with the last's */
	size_t n, depth;        /* depth: tokens in the context before */
};

struct bench_result {
	double rate, low, high; /* tokens/s: median, least, greatest */
	double limit;           /* tokens/s, at the limit */
	enum bound bound;       /* what the limit is due to */
	struct limit of;        /* the medians between the runs */
};

/* The context has the most positions that a test needs. 0, or -1 and why not, with nothing left open. */
int timing_open(struct timing *t, struct model *m, const struct engine_setup *s, struct why *w);
void timing_close(struct timing *t);

/* Runs the test so many times. */
struct bench_result timing_test(struct timing *t, const struct bench_test *test, size_t repetitions);

#endif
