/* engine: a model on a number of threads, as fwd runs it: model, pool, plan and segment, without streams; and one test of it, in turns with the
 * machine's limits. */
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

struct test {
	int decode;             /* n ids one after the other, each with its logits; or a prompt of n, with the last id's */
	size_t n, depth;        /* depth: ids that are there before */
};

struct result {
	double rate, low, high; /* ids/s: median, least, greatest */
	double limit;           /* ids/s, at the limit */
	enum bound bound;       /* what the limit is of */
	struct limit of;        /* the medians between the runs */
};

/* n_ctx: what the tests need at most. kv_type of enum kv_type, -1: as fwd does by itself. 0, or -1 and why not, with nothing left open. */
int engine_open(struct engine *e, struct model *m, const struct kernels *k, size_t threads, size_t batch, size_t n_ctx, int kv_type, struct why *w);
void engine_close(struct engine *e);

/* Runs the test this often. */
struct result engine_test(struct engine *e, const struct test *t, size_t repetitions);

#endif
