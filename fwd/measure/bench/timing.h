/* timing: how long an engine takes for prompts or for decoding, of one sequence or of several together, in the batches
 * that fwd would make of them (batch.h), measured in turn with the machine's limits. The answers go to /dev/null. */
#ifndef TIMING_H
#define TIMING_H

#include "fwd/engine.h"
#include "fwd/serve.h"
#include "fwd/measure/limits.h"

struct timing {
	struct engine engine;
	struct limits limits;
	/* private */
	struct all_served served;
	struct serve serve;
	int32_t *ids;                   /* [n_ctx] */
	struct served **of;             /* [room], the sequences of a test */
	size_t room;
	struct run *run;                /* [batch] */
};

struct bench_test {
	int decode;             /* n tokens one by one, with all their logits; or a prompt of n, with the last's */
	size_t n, depth;        /* depth: tokens in the context before */
	size_t sequences;       /* that do it together */
	int shared;             /* these tokens before are the same, forks of one sequence */
};

struct bench_result {
	double rate, low, high; /* tokens/s of all sequences: median, least, greatest */
	double limit;           /* tokens/s, at the limit */
	enum bound bound;       /* what the limit is due to */
	struct limit of;        /* the medians between the runs */
};

/* The context has the most positions that a test needs. 0, or -1 and why not, with nothing left open. */
int timing_open(struct timing *t, struct model *m, const struct engine_setup *s, struct why *w);
void timing_close(struct timing *t);

/* Runs the test `repetitions` times. 0, or -1 with a reason. */
int timing_test(struct timing *t, const struct bench_test *test, size_t repetitions, struct bench_result *r,
	struct why *w);

#endif
