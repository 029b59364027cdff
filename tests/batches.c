#include "batches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "lib/sampler/rng.h"

enum { THREADS = 8, ROWS = BATCHES_ROWS };

void *batches_memory(size_t n)
{
	void *p = calloc(n, 1);

	return p ? p : (exit(1), NULL);
}

float batches_draw(size_t i)
{
	return (float)(int32_t)rng_bits(3, 0, i) * 0x1p-31f;
}

static void open_state(struct segment *s, const struct batches *b)
{
	struct segment_shape shape = { .n_layer = 1, .bytes = 64, .extent = KV_EXTENT, .row_bytes = b->row_bytes,
		.state_bytes = (b->state_floats * sizeof(float) + 63) / 64 * 64,
		.keeps_current = (uint32_t)b->keeps_current };
	struct why w;

	if (segment_open(s, NULL, &shape, 2 * KV_EXTENT, &w) < 0 || segment_reserve(s, ROWS, &w) < 0) {
		printf("%s: %s\n", b->name, w.text);
		exit(1);
	}
}

static void run_op(const struct op_kind *kind, const struct op *op, const struct step *s)
{
	size_t n = kind->items(op, s);

	for (size_t item = n; item-- > 0;)
		kind->item(op, s, item, item % s->threads);
}

/* Evaluates rows of n_runs sequences in one batch, each from its segment's `next` on. out: [n_runs][ROWS][n_out]. */
static void evaluate_runs(const struct batches *b, const struct kernels *k, struct run *run, size_t n_runs,
	size_t threads, float *out)
{
	struct step s = { .run = run, .n_runs = n_runs, .k = k, .threads = threads,
		.scratch_bytes = (b->scratch + 63) / 64 * 64 };
	struct op op;
	float *rows;

	for (size_t i = 0; i < n_runs; s.n += run[i++].n) {
		run[i].pos = run[i].state->next;
		run[i].first = s.n;
		segment_begin(run[i].state, run[i].pos, run[i].n);
	}
	rows = batches_memory(s.n * b->stride * sizeof *rows);
	s.scratch = batches_memory(threads * s.scratch_bytes + 1);
	for (struct run *r = run; r < run + n_runs; r++)
		memcpy(rows + r->first * b->stride, b->input + r->pos * b->stride, r->n * b->stride * sizeof *rows);
	op = (struct op){ .bound = b->bind(b, rows) };
	for (size_t i = 0; i < BATCHES_OPS && b->kinds[i]; i++)
		run_op(b->kinds[i], &op, &s);
	for (struct run *r = run; r < run + n_runs; r++, out += ROWS * b->n_out) {
		segment_commit(r->state, r->pos, r->n);
		for (size_t i = 0; i < r->n; i++)
			memcpy(out + (r->pos + i) * b->n_out, rows + (r->first + i) * b->stride + b->out,
				b->n_out * sizeof *out);
	}
	free(rows);
	free(s.scratch);
}

/* Evaluates rows [next, end) of the segment. out: [ROWS][n_out]. */
static void evaluate(const struct batches *b, const struct kernels *k, struct segment *state, size_t end,
	size_t threads, float *out)
{
	struct run run = { .state = state, .n = end - state->next };

	evaluate_runs(b, k, &run, 1, threads, out);
}

static float *in_batches(const struct batches *b, const struct kernels *k, size_t each, size_t threads)
{
	float *out = batches_memory(ROWS * b->n_out * sizeof *out);
	struct segment s;

	open_state(&s, b);
	while (s.next < ROWS)
		evaluate(b, k, &s, size_min(s.next + each, ROWS), threads, out);
	segment_close(&s);
	return out;
}

static int near(const float *got, const double *want, size_t n)
{
	double worst = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		worst = fmax(worst, fabs(got[i] - want[i]));
		most = fmax(most, fabs(want[i]));
	}
	return worst < 3e-5 * most;
}

/* Evaluates rows again after the length was set back; what the segment kept decides from where. */
static void cuts(const struct batches *b, const struct kernels *k, const float *want,
	void checked(int ok, const char *name, const char *what))
{
	static const size_t lengths[] = { 149, 130, 128, 127, 97, 65, 64, 40, 32, 31, 1 };
	size_t bytes = ROWS * b->n_out * sizeof(float);
	float *out = batches_memory(bytes);
	struct segment s;
	char what[64];

	open_state(&s, b);
	evaluate(b, k, &s, ROWS, 2, out);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		segment_set_length(&s, lengths[i]);
		memset(out + s.next * b->n_out, 0, bytes - s.next * b->n_out * sizeof *out);
		evaluate(b, k, &s, s.next + (ROWS - s.next) / 2, 2, out);
		evaluate(b, k, &s, ROWS, 2, out);
		snprintf(what, sizeof what, "cut to %zu: other bits", lengths[i]);
		checked(!memcmp(out, want, bytes), b->name, what);
	}
	segment_close(&s);
	free(out);
}

/* Two sequences in one batch, at different positions. */
static int together(const struct batches *b, const struct kernels *k, const float *want)
{
	size_t n = ROWS * b->n_out;
	float *out = batches_memory(2 * n * sizeof *out);
	struct segment state[2];
	struct run run[2] = { { .state = &state[0], .n = 35 }, { .state = &state[1], .n = 70 } };
	int same;

	open_state(&state[0], b);
	open_state(&state[1], b);
	evaluate(b, k, &state[0], 40, 1, out);
	evaluate_runs(b, k, run, 2, 2, out);
	same = !memcmp(out, want, 75 * b->n_out * sizeof *out)
		&& !memcmp(out + n, want, 70 * b->n_out * sizeof *out);
	segment_close(&state[0]);
	segment_close(&state[1]);
	free(out);
	return same;
}

void batches_test(const struct batches *b, const double *want, void checked(int ok, const char *name, const char *what))
{
	static const size_t each[] = { 1, 2, 7, 31, 32, 33, 64, 100, ROWS };
	float *first = in_batches(b, kernels_each(0), ROWS, 1);
	size_t n = ROWS * b->n_out;
	const struct kernels *k;
	char what[64];

	checked(near(first, want, n), b->name, "not the recurrence");
	for (size_t i = 0; (k = kernels_each(i)); i++)
		for (size_t j = 0; j < sizeof each / sizeof *each; j++) {
			float *got = in_batches(b, k, each[j], j % 2 ? THREADS : 1);

			snprintf(what, sizeof what, "%s, %zu rows each: other bits", k->name, each[j]);
			checked(!memcmp(got, first, n * sizeof *got), b->name, what);
			free(got);
		}
	checked(together(b, kernels_select("auto"), first), b->name, "two sequences together: other bits");
	cuts(b, kernels_select("auto"), first, checked);
	free(first);
}
