/* The loops of the tests. */
#include "timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwd/question.h"
#include "fwd/state/fork.h"
#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/size.h"
#include "lib/sampler/rng.h"

enum { WARM = 32 };             /* tokens of a prompt that is run before anything is measured */
static const double SAMPLE = 0.02;      /* seconds of each sample of a limit */

/* ---- sequences ---- */

/* Fills these positions with arbitrary valid K and V, so that any depth can be measured without evaluating it. The
 * bytes give small numbers in any type. */
static int fill(struct segment *s, size_t positions, struct why *w)
{
	if (segment_reserve(s, positions, w) < 0)
		return -1;
	for (size_t x = 0; x * KV_EXTENT < positions; x++) {
		unsigned char *data;
		size_t n = segment_data(s, x, &data);
		uint64_t key = rng_key(x, 0);

		for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
			uint64_t eight = 0x2828282828282828u + (rng_at(key, i) & 0x0f0f0f0f0f0f0f0fu);

			memcpy(data + i, &eight, sizeof eight);
		}
	}
	return 0;
}

/* Cuts the state back to the context that precedes the test. */
static void rewind_to(struct segment *s, size_t depth)
{
	segment_set_length(s, 0);
	if (depth)
		segment_commit(s, 0, depth);
}

/* Ends all sequences but sequence 0. */
static int end_sequences(struct timing *t, size_t n, struct why *w)
{
	int status = 0;

	while (n-- > 1)
		status = texts_end(&t->texts, t->of[n], w) < 0 ? -1 : status;
	return status;
}

/* Starts sequence i of the test, with its context. */
static int begin_sequence(struct timing *t, const struct bench_test *test, size_t i, struct why *w)
{
	struct segment *first = t->texts.first, *s;

	t->of[i] = i ? texts_add(&t->texts, (uint32_t)i, NULL, w) : texts_find(&t->texts, 0);
	if (!t->of[i])
		return -1;
	s = t->of[i]->state;
	if (i && test->shared)
		return segment_fork(s, first, test->depth, w);
	if (fill(s, test->depth + test->n, w) < 0)
		return -1;
	rewind_to(s, test->depth);
	return 0;
}

static int begin_sequences(struct timing *t, const struct bench_test *test, struct why *w)
{
	while (t->room < test->sequences)
		if (grow(&t->of, &t->room, sizeof *t->of, 16))
			return why(w, "out of memory for %zu sequences", test->sequences);
	for (size_t i = 0; i < test->sequences; i++)
		if (begin_sequence(t, test, i, w) < 0) {
			struct why ignored;

			end_sequences(t, i + (t->of[i] != NULL), &ignored);
			return -1;
		}
	return 0;
}

/* ---- runs ---- */

/* Tokens of a sequence that are known, and can be evaluated, at once. */
static size_t at_once(const struct bench_test *test)
{
	return test->decode ? 1 : test->n;
}

/* Runs batches until at most `most` sequences wait. */
static int run_batches(struct timing *t, size_t most, struct why *w)
{
	struct text *answered;

	while (t->batch.queued > most)
		if (batch_run(&t->batch, &answered, w) < 0)
			return -1;
	return 0;
}

/* Queues tokens so that no more sequences wait than a batch has rows, as fwd does. */
static int run(struct timing *t, const struct bench_test *test, struct why *w)
{
	const struct model *m = t->engine.model;
	size_t n = at_once(test), most = t->engine.plan->setup.batch - 1;

	for (size_t i = 0; i < test->sequences; i++)
		rewind_to(t->of[i]->state, test->depth);
	for (size_t done = 0; done < test->n; done += n) {
		for (size_t i = 0; i < test->sequences; i++) {
			for (size_t j = 0; j < n; j++)
				t->ids[j] = (int32_t)(rng_bits(1 + i, done + j, 0) % m->n_vocab);
			if (question_append(&t->batch, t->of[i], t->ids, n, w) < 0 || run_batches(t, most, w) < 0)
				return -1;
		}
		if (run_batches(t, 0, w) < 0)
			return -1;
	}
	return 0;
}

/* Fills t->run with the rows of the next batch. Each sequence has n rows from pos on; those of one sequence come before
 * those of the next, and `done` rows are done. Logits of each sequence's last row are wanted. Returns the number of
 * rows; *n_runs: the number of runs. */
static size_t next_runs(struct timing *t, size_t pos, size_t n, size_t done, size_t sequences, size_t *n_runs)
{
	size_t left = size_min(n * sequences - done, t->engine.plan->setup.batch), all = left;

	for (*n_runs = 0; left; ++*n_runs) {
		size_t from = done % n, rows = size_min(n - from, left);

		t->run[*n_runs] = (struct run){ .state = t->of[done / n]->state, .pos = pos + from, .n = rows,
			.wanted = from + rows == n };
		done += rows;
		left -= rows;
	}
	return all;
}

/* The time that the test takes at the limit. *bound: what limits most of its tokens. */
static double run_at_limit(struct timing *t, const struct bench_test *test, const struct limit *limit,
	enum bound *bound)
{
	size_t votes[BOUND_FLOATS + 1] = { 0 }, n = at_once(test), rows, n_runs;
	double seconds = 0;

	for (size_t pos = 0; pos < test->n; pos += n)
		for (size_t done = 0; done < n * test->sequences; done += rows) {
			struct work w;

			rows = next_runs(t, test->depth + pos, n, done, test->sequences, &n_runs);
			w = plan_work(t->engine.plan, t->run, n_runs);
			seconds += limit_seconds(limit, &w, bound);
			votes[*bound] += rows;
		}
	for (enum bound b = BOUND_NONE; b <= BOUND_FLOATS; b++)
		*bound = votes[b] > votes[*bound] ? b : *bound;
	return seconds;
}

static int measure(struct timing *t, const struct bench_test *test, size_t repetitions, struct bench_result *r,
	struct why *w)
{
	double tokens = (double)test->n * (double)test->sequences, start;
	struct meter rates = { .n = 0 };

	limits_forget(&t->limits);
	limits_sample(&t->limits, SAMPLE);
	for (size_t i = 0; i < repetitions; i++) {
		start = clock_now();
		if (run(t, test, w) < 0)
			return -1;
		meter_add(&rates, tokens / (clock_now() - start));
		limits_sample(&t->limits, SAMPLE);
	}
	*r = (struct bench_result){ .rate = meter_quantile(&rates, 0.5), .low = meter_quantile(&rates, 0),
		.high = meter_quantile(&rates, 1), .of = limits_now(&t->limits) };
	r->limit = tokens / run_at_limit(t, test, &r->of, &r->bound);
	return 0;
}

int timing_test(struct timing *t, const struct bench_test *test, size_t repetitions, struct bench_result *r,
	struct why *w)
{
	struct why ignored;
	int status;

	if (begin_sequences(t, test, w) < 0)
		return -1;
	status = measure(t, test, repetitions, r, w);
	end_sequences(t, test->sequences, &ignored);
	return status;
}

/* ---- opening ---- */

/* Runs a prompt and a token so that nothing measured is run for the first time. */
static int warm(struct timing *t, struct why *w)
{
	struct bench_test prompt = { .n = size_min(WARM, t->engine.segment.n_ctx), .sequences = 1 };
	struct bench_test decode = { .decode = 1, .n = 1, .sequences = 1 };

	return begin_sequences(t, &prompt, w) < 0 || run(t, &prompt, w) < 0 || run(t, &decode, w) < 0 ? -1 : 0;
}

static int open_rest(struct timing *t, struct why *w)
{
	struct engine *e = &t->engine;

	t->ids = malloc(e->segment.n_ctx * sizeof *t->ids);
	t->run = malloc(e->plan->setup.batch * sizeof *t->run);
	if (!t->ids || !t->run)
		return why(w, "out of memory");
	if (texts_open(&t->texts, &e->segment, e->choices, e->model, &e->weights, w) < 0)
		return -1;
	t->batch = (struct batch){ .plan = e->plan, .texts = &t->texts, .report = &t->report, .progress = -1,
		.answers = { .out = open("/dev/null", O_WRONLY | O_CLOEXEC) } };
	if (t->batch.answers.out < 0)
		return why(w, "/dev/null: %s", strerror(errno));
	return batch_open(&t->batch, w) < 0 || limits_open(&t->limits, e->plan, w) < 0 ? -1 : warm(t, w);
}

int timing_open(struct timing *t, struct model *m, const struct engine_setup *s, struct why *w)
{
	*t = (struct timing){ .batch = { .answers = { .out = -1 } } };
	if (engine_open(&t->engine, m, s, w) < 0)
		return -1;
	if (open_rest(t, w) == 0)
		return 0;
	timing_close(t);
	return -1;
}

void timing_close(struct timing *t)
{
	struct why ignored;

	limits_close(&t->limits);
	batch_close(&t->batch);
	if (t->batch.answers.out >= 0)
		close(t->batch.answers.out);
	texts_close(&t->texts, &ignored);
	engine_close(&t->engine);
	free(t->ids);
	free(t->of);
	free(t->run);
}
