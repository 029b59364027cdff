/* Opening as fwd does, and the loops of the tests. */
#include "engine.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/sampler/rng.h"
#include "lib/base/size.h"

enum { WARM = 32 };             /* tokens of a prompt that runs before anything is measured */
static const double SAMPLE = 0.02;      /* seconds of each sample of a limit */

/* Arbitrary valid K and V at every position, so that any depth can be measured without evaluating it. */
static int fill(struct engine *e, struct why *w)
{
	const struct segment_shape *p = &e->segment.shape;
	size_t dims = p->dim_k + p->dim_v;
	float *x = malloc(dims * sizeof *x);

	if (!x)
		return why(w, "out of memory");
	for (size_t layer = 0; layer < p->n_layer; layer++)
		for (size_t h = 0; h < p->n_head_kv; h++) {
			struct kv_head kv = segment_head(&e->segment, layer, h);

			for (size_t pos = 0; pos < e->segment.n_ctx; pos++) {
				struct kv_block block = kv_block_at(p->kv_type, p->dim_k, p->dim_v,
					kv.extent[pos / KV_EXTENT] + kv.offset);

				for (size_t i = 0; i < dims; i++)
					x[i] = 2 * rng_unit(layer << 16 | h, pos, i) - 1;
				e->plan->setup.kernels->kv_store(p->kv_type, &block, p->dim_k, p->dim_v,
					pos % KV_EXTENT, x, x + p->dim_k);
			}
		}
	free(x);
	return 0;
}

static int32_t any_id(const struct engine *e, size_t pos)
{
	return (int32_t)(rng_bits(1, pos, 0) % e->model->n_vocab);
}

/* The test, in batches as large as allowed. */
static void run(struct engine *e, const struct bench_test *t)
{
	struct segment *s = &e->segment;
	size_t batch = t->decode ? 1 : e->plan->setup.batch;
	struct run r = { .state = s };

	segment_set_length(s, t->depth);
	for (size_t i = 0; i < t->n; i += r.n) {
		r.n = size_min(t->n - i, batch);
		r.wanted = t->decode || i + r.n == t->n;
		for (size_t j = 0; j < r.n; j++)
			e->ids[j] = any_id(e, s->length + j);
		plan_step(e->plan, e->ids, &r, 1);
		if (r.wanted)
			plan_logits(e->plan, 0, 1, e->logits);
	}
}

/* How long the test takes at the limit; bound: that of most of its tokens. */
static double run_at_limit(struct engine *e, const struct bench_test *t, const struct limit *limit, enum bound *bound)
{
	size_t batch = t->decode ? 1 : e->plan->setup.batch, votes[BOUND_FLOATS + 1] = { 0 };
	struct run r = { .state = &e->segment };
	double seconds = 0;
	struct work w;

	for (size_t i = 0; i < t->n; i += r.n) {
		r.n = size_min(t->n - i, batch);
		r.pos = t->depth + i;
		r.wanted = t->decode || i + r.n == t->n;
		w = plan_work(e->plan, &r);
		seconds += limit_seconds(limit, &w, bound);
		votes[*bound] += r.n;
	}
	for (enum bound b = BOUND_NONE; b <= BOUND_FLOATS; b++)
		*bound = votes[b] > votes[*bound] ? b : *bound;
	return seconds;
}

static int open_all(struct engine *e, const struct engine_setup *s, struct why *w)
{
	struct model *m = e->model;
	enum kv_type type = s->kv_type >= 0 ? (enum kv_type)s->kv_type : m->quantised ? KV_F16 : KV_F32;
	struct plan_setup setup = { .kernels = s->kernels, .batch = s->batch, .last = m->n_layer };
	struct segment_shape shape;
	size_t n_ctx = s->n_ctx;

	if (n_ctx > m->n_ctx_max)
		return why(w, "%s: %zu positions, but the model has learned %zu", m->gguf->path, n_ctx, m->n_ctx_max);
	e->ids = malloc(s->batch * sizeof *e->ids);
	e->logits = malloc(m->n_vocab * sizeof *e->logits);
	if (!e->ids || !e->logits)
		return why(w, "out of memory");
	e->pool = setup.pool = pool_open(s->threads, w);
	e->plan = e->pool ? plan_open(m, &setup, w) : NULL;
	if (!e->plan)
		return -1;
	shape = plan_shape(e->plan, type);
	if (segment_open(&e->segment, NULL, &shape, n_ctx, w) < 0 || segment_reserve(&e->segment, n_ctx, w) < 0)
		return -1;
	return plan_bind(e->plan, n_ctx, w) < 0 || fill(e, w) < 0 ? -1 : limits_open(&e->limits, e->plan, w);
}

int engine_open(struct engine *e, struct model *m, const struct engine_setup *s, struct why *w)
{
	struct bench_test prompt = { .n = size_min(WARM, s->n_ctx) }, decode = { .decode = 1, .n = 1 };

	*e = (struct engine){ .model = m };
	if (open_all(e, s, w) < 0) {
		engine_close(e);
		return -1;
	}
	run(e, &prompt);
	run(e, &decode);
	return 0;
}

void engine_close(struct engine *e)
{
	limits_close(&e->limits);
	plan_close(e->plan);
	segment_close(&e->segment);
	pool_close(e->pool);
	free(e->ids);
	free(e->logits);
}

struct bench_result engine_test(struct engine *e, const struct bench_test *t, size_t repetitions)
{
	struct meter rates = { .n = 0 };
	struct bench_result r;
	double start;

	limits_forget(&e->limits);
	limits_sample(&e->limits, SAMPLE);
	for (size_t i = 0; i < repetitions; i++) {
		start = clock_now();
		run(e, t);
		meter_add(&rates, (double)t->n / (clock_now() - start));
		limits_sample(&e->limits, SAMPLE);
	}
	r = (struct bench_result){ .rate = meter_quantile(&rates, 0.5), .low = meter_quantile(&rates, 0),
		.high = meter_quantile(&rates, 1), .of = limits_now(&e->limits) };
	r.limit = (double)t->n / run_at_limit(e, t, &r.of, &r.bound);
	return r;
}
