/* engine: a model as fwd runs it, without streams: model, pool, plan and segment. Its tests are measured in turn with
 * the machine's limits. */
#ifndef ENGINE_H
#define ENGINE_H

#include "fwd/measure/limits.h"
#include "fwd/model/model.h"
#include "fwd/plan/plan.h"
#include "fwd/run/pool.h"
#include "fwd/state/segment.h"

struct engine {
	struct model *model;            /* borrowed */
	struct pool *pool;
	struct plan *plan;
	struct segment segment;
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

struct engine_setup {
	const struct kernels *kernels;
	size_t threads, batch;
	size_t n_ctx;           /* the most that a test needs */
	int kv_type;            /* enum kv_type; -1: fwd's default */
};

/* 0, or -1 and why not, with nothing left open. */
int engine_open(struct engine *e, struct model *m, const struct engine_setup *s, struct why *w);
void engine_close(struct engine *e);

/* Runs the test so many times. */
struct bench_result engine_test(struct engine *e, const struct bench_test *t, size_t repetitions);

#endif
