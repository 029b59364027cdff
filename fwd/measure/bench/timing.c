/* The loops of the tests. */
#include "timing.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/sampler/rng.h"
#include "lib/base/size.h"

enum { WARM = 32 };             /* tokens of a prompt that runs before anything is measured */
static const double SAMPLE = 0.02;      /* seconds of each sample of a limit */

/* Arbitrary valid K and V at every position, so that any depth can be measured without evaluating it: bytes that make
 * small numbers of any type. */
static void fill(struct engine *e)
{
	const struct segment *s = &e->segment;

	for (size_t x = 0; x * KV_EXTENT < s->n_ctx; x++) {
		unsigned char *data;
		size_t n = segment_data(s, x, &data);

		for (size_t i = 0; i < n; i += 16) {
			uint64_t bits = rng_bits(x, i, 0);

			for (size_t k = 0; k < 16; k++, bits >>= 4)
				data[i + k] = 0x28 + (bits & 15);
		}
	}
}

static int32_t any_id(const struct engine *e, size_t pos)
{
	return (int32_t)(rng_bits(1, pos, 0) % e->model->n_vocab);
}

/* The next batch of a test, the largest allowed, at `done` of its tokens. */
static struct run next_run(struct engine *e, const struct bench_test *test, size_t done)
{
	struct run r = { .state = &e->segment, .pos = test->depth + done };

	r.n = size_min(test->n - done, test->decode ? 1 : e->plan->setup.batch);
	r.wanted = test->decode || done + r.n == test->n;
	return r;
}

static void run(struct timing *t, const struct bench_test *test)
{
	struct engine *e = &t->engine;
	struct run r;

	segment_set_length(&e->segment, 0);
	if (test->depth)
		segment_commit(&e->segment, 0, test->depth);
	for (size_t i = 0; i < test->n; i += r.n) {
		r = next_run(e, test, i);
		for (size_t j = 0; j < r.n; j++)
			t->ids[j] = any_id(e, r.pos + j);
		plan_step(e->plan, t->ids, &r, 1);
		if (r.wanted)
			plan_logits(e->plan, 0, 1, t->logits);
	}
}

/* How long the test takes at the limit; bound: that of most of its tokens. */
static double run_at_limit(struct engine *e, const struct bench_test *test, const struct limit *limit,
	enum bound *bound)
{
	size_t votes[BOUND_FLOATS + 1] = { 0 };
	double seconds = 0;
	struct work w;
	struct run r;

	for (size_t i = 0; i < test->n; i += r.n) {
		r = next_run(e, test, i);
		w = plan_work(e->plan, &r);
		seconds += limit_seconds(limit, &w, bound);
		votes[*bound] += r.n;
	}
	for (enum bound b = BOUND_NONE; b <= BOUND_FLOATS; b++)
		*bound = votes[b] > votes[*bound] ? b : *bound;
	return seconds;
}

static int open_rest(struct timing *t, struct why *w)
{
	struct engine *e = &t->engine;

	t->ids = malloc(e->plan->setup.batch * sizeof *t->ids);
	t->logits = malloc(e->model->n_vocab * sizeof *t->logits);
	if (!t->ids || !t->logits)
		return why(w, "out of memory");
	if (segment_reserve(&e->segment, e->segment.n_ctx, w) < 0)
		return -1;
	fill(e);
	return limits_open(&t->limits, e->plan, w);
}

int timing_open(struct timing *t, struct model *m, const struct engine_setup *s, struct why *w)
{
	struct bench_test prompt = { .n = size_min(WARM, s->n_ctx) }, decode = { .decode = 1, .n = 1 };

	*t = (struct timing){ .ids = NULL };
	if (engine_open(&t->engine, m, s, w) < 0)
		return -1;
	if (open_rest(t, w) < 0) {
		timing_close(t);
		return -1;
	}
	run(t, &prompt);
	run(t, &decode);
	return 0;
}

void timing_close(struct timing *t)
{
	limits_close(&t->limits);
	engine_close(&t->engine);
	free(t->ids);
	free(t->logits);
}

struct bench_result timing_test(struct timing *t, const struct bench_test *test, size_t repetitions)
{
	struct meter rates = { .n = 0 };
	struct bench_result r;
	double start;

	limits_forget(&t->limits);
	limits_sample(&t->limits, SAMPLE);
	for (size_t i = 0; i < repetitions; i++) {
		start = clock_now();
		run(t, test);
		meter_add(&rates, (double)test->n / (clock_now() - start));
		limits_sample(&t->limits, SAMPLE);
	}
	r = (struct bench_result){ .rate = meter_quantile(&rates, 0.5), .low = meter_quantile(&rates, 0),
		.high = meter_quantile(&rates, 1), .of = limits_now(&t->limits) };
	r.limit = (double)test->n / run_at_limit(&t->engine, test, &r.of, &r.bound);
	return r;
}
