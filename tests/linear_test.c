/* fwd/plan/linear.c: attention without softmax against its recurrence, position by position in double precision; the
 * same bits in any batch, on any backend, in any number of parts, and after a cut. */
#include <math.h>
#include <string.h>

#include "fwd/plan/kinds.h"
#include "lib/base/size.h"
#include "lib/sampler/rng.h"
#include "check.h"

enum { ROWS = 150, STRIDE = 640, THREADS = 8 };

#define EPS 1e-6f

struct sizes {
	const char *name;
	size_t n_head, n_head_k, dim_k, dim_v;
	int runs, delta;
};

static const struct sizes cases[] = {
	{ "delta net", 4, 2, 16, 16, 0, 1 }, { "delta net, heads in runs", 6, 2, 20, 33, 1, 1 },
	{ "delta net, wide", 1, 1, 64, 128, 0, 1 }, { "Mamba 2", 6, 2, 16, 24, 1, 0 },
	{ "Mamba 2, one group", 3, 1, 70, 64, 1, 0 },
};

static float input[ROWS][STRIDE], bias[8], a[8], skip[8], root[128];

static void *memory(size_t n)
{
	void *p = calloc(n, 1);

	return p ? p : (exit(1), NULL);
}

static float draw(size_t i)
{
	return (float)(int32_t)rng_bits(3, 0, i) * 0x1p-31f;
}

static void fill(void)
{
	for (size_t i = 0; i < ROWS * STRIDE; i++)
		input[i / STRIDE][i % STRIDE] = 1.5f * draw(i);
	for (size_t i = 0; i < 8; i++) {
		bias[i] = draw(ROWS * STRIDE + i) - 1;
		a[i] = -1.5f * fabsf(draw(ROWS * STRIDE + 8 + i));
		skip[i] = draw(ROWS * STRIDE + 16 + i);
	}
}

/* Where things lie in a row: q, k, v, decay, beta, out. */
static struct op_linear op_of(const struct sizes *z, float *at)
{
	size_t nk = z->n_head_k * z->dim_k, nv = z->n_head * z->dim_v;
	struct op_linear o = { .n_head = z->n_head, .n_head_k = z->n_head_k, .runs = z->runs, .dim_k = z->dim_k,
		.dim_v = z->dim_v, .delta = z->delta, .bias = bias, .a = a, .skip = z->delta ? NULL : skip,
		.q = { at, STRIDE }, .k = { at + nk, STRIDE }, .v = { at + 2 * nk, STRIDE },
		.decay = { at + 2 * nk + nv, STRIDE }, .beta = { at + 2 * nk + nv + 8, STRIDE },
		.out = { at + 2 * nk + nv + 16, STRIDE } };

	o.d = z->delta ? o.v : o.out;   /* either of them may be v's place */
	if (!z->delta)
		o.out = o.v;
	for (size_t i = 0; i < z->dim_k; i++)
		root[i] = 1 / sqrtf((float)z->dim_k);
	if (z->delta)
		o.q_norm = o.k_norm = (struct norm){ .kind = NORM_RMS, .weight = root, .eps = EPS };
	o.ring_d = nk * sizeof(float);
	o.ring_g = o.ring_d + nv * sizeof(float);
	return o;
}

static void open_state(struct segment *s, const struct sizes *z)
{
	struct segment_shape shape = { .n_layer = 1, .bytes = 64, .extent = KV_EXTENT };
	struct why w;

	shape.row_bytes = (z->n_head_k * z->dim_k + z->n_head * (z->dim_v + 1)) * sizeof(float);
	shape.state_bytes = (z->n_head * z->dim_k * z->dim_v * sizeof(float) + 63) / 64 * 64;
	if (segment_open(s, NULL, &shape, 2 * KV_EXTENT, &w) < 0 || segment_reserve(s, ROWS, &w) < 0)
		check(0, "%s: %s", z->name, w.text);
}

/* ---- in batches ---- */

static void run_op(const struct op_kind *kind, const struct op *op, const struct step *s)
{
	size_t n = kind->pieces(op, s);

	for (size_t piece = n; piece-- > 0;)
		kind->piece(op, s, piece, piece % s->threads);
}

/* Rows [next, end) of the segment; out: [ROWS][n_head · dim_v]. */
static void evaluate(const struct kernels *k, const struct sizes *z, struct segment *state, size_t end, size_t threads,
	float *out)
{
	size_t pos = state->next, n = end - pos, nv = z->n_head * z->dim_v;
	float *rows = memory(n * STRIDE * sizeof *rows);
	struct op_linear o = op_of(z, rows);
	struct op op = { .bound = &o };
	struct run run = { .state = state, .n = n, .pos = pos };
	struct step s = { .run = &run, .n_runs = 1, .n = n, .k = k, .threads = threads,
		.scratch_bytes = (linear_scratch(&o) + 63) / 64 * 64 };

	s.scratch = memory(threads * s.scratch_bytes);
	memcpy(rows, input[pos], n * STRIDE * sizeof *rows);
	segment_begin(state, pos, n);
	run_op(&op_linear_gates, &op, &s);
	run_op(&op_linear, &op, &s);
	run_op(&op_linear_keep, &op, &s);
	segment_commit(state, pos, n);
	for (size_t i = 0; i < n; i++)
		memcpy(out + (pos + i) * nv, buffer_row(&o.out, i), nv * sizeof *out);
	free(rows);
	free(s.scratch);
}

static float *batches(const struct kernels *k, const struct sizes *z, size_t each, size_t threads)
{
	float *out = memory(ROWS * z->n_head * z->dim_v * sizeof *out);
	struct segment s;

	open_state(&s, z);
	while (s.next < ROWS)
		evaluate(k, z, &s, size_min(s.next + each, ROWS), threads, out);
	segment_close(&s);
	return out;
}

/* ---- the recurrence ---- */

static void norm(double *x, const float *from, size_t n, int normed)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)from[i] * from[i];
	for (size_t i = 0; i < n; i++)
		x[i] = from[i] / (normed ? sqrt(sum + (double)n * EPS) : 1);
}

static double softplus(double x)
{
	return log1p(exp(x));
}

/* One position of a head, whose state is m[dim_k][dim_v]. */
static void position(const struct sizes *z, const struct op_linear *o, size_t pos, size_t head, double *m, double *out)
{
	size_t from = pos * STRIDE, head_k = z->runs ? head / (z->n_head / z->n_head_k) : head % z->n_head_k;
	double k[128], q[128], g = softplus((double)o->decay.at[from + head] + bias[head]);
	double beta = z->delta ? 1 / (1 + exp(-(double)o->beta.at[from + head])) : g;
	const float *v = o->v.at + from + head * z->dim_v;

	norm(k, o->k.at + from + head_k * z->dim_k, z->dim_k, z->delta);
	norm(q, o->q.at + from + head_k * z->dim_k, z->dim_k, z->delta);
	for (size_t j = 0; j < z->dim_v; j++) {
		double read = 0, sum = z->delta ? 0 : (double)skip[head] * v[j];

		for (size_t i = 0; i < z->dim_k; i++)
			read += k[i] * (m[i * z->dim_v + j] *= exp(a[head] * g));
		for (size_t i = 0; i < z->dim_k; i++) {
			m[i * z->dim_v + j] += k[i] * beta * (v[j] - (z->delta ? read : 0));
			sum += q[i] * m[i * z->dim_v + j];
		}
		out[head * z->dim_v + j] = sum;
	}
}

static double *recurrence(const struct sizes *z)
{
	size_t nv = z->n_head * z->dim_v;
	struct op_linear o = op_of(z, input[0]);
	double *out = memory(ROWS * nv * sizeof *out), *m = memory(z->dim_k * nv * sizeof *m);

	for (size_t pos = 0; pos < ROWS; pos++)
		for (size_t head = 0; head < z->n_head; head++)
			position(z, &o, pos, head, m + head * z->dim_k * z->dim_v, out + pos * nv);
	free(m);
	return out;
}

/* ---- cases ---- */

static int near(const float *got, const double *want, size_t n)
{
	double worst = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		worst = fmax(worst, fabs(got[i] - want[i]));
		most = fmax(most, fabs(want[i]));
	}
	return worst < 3e-5 * most;
}

/* Rows again after the length is set back; what was kept decides from where. */
static void cuts(const struct kernels *k, const struct sizes *z, const float *want)
{
	static const size_t lengths[] = { 149, 130, 128, 127, 97, 65, 64, 40, 32, 31, 1 };
	size_t bytes = ROWS * z->n_head * z->dim_v * sizeof(float);
	float *out = memory(bytes);
	struct segment s;

	open_state(&s, z);
	evaluate(k, z, &s, ROWS, 2, out);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		segment_set_length(&s, lengths[i]);
		memset(out + s.next * bytes / ROWS / sizeof *out, 0, bytes - s.next * bytes / ROWS);
		evaluate(k, z, &s, s.next + (ROWS - s.next) / 2, 2, out);
		evaluate(k, z, &s, ROWS, 2, out);
		check(!memcmp(out, want, bytes), "%s: cut to %zu: other bits", z->name, lengths[i]);
	}
	segment_close(&s);
	free(out);
}

static void test(const struct sizes *z)
{
	static const size_t each[] = { 1, 2, 7, 31, 32, 33, 64, 100, ROWS };
	float *want = batches(kernels_each(0), z, ROWS, 1);
	double *exact = recurrence(z);
	size_t n = ROWS * z->n_head * z->dim_v;
	const struct kernels *k;

	check(near(want, exact, n), "%s: not the recurrence", z->name);
	for (size_t i = 0; (k = kernels_each(i)); i++)
		for (size_t j = 0; j < sizeof each / sizeof *each; j++) {
			float *got = batches(k, z, each[j], j % 2 ? THREADS : 1);

			check(!memcmp(got, want, n * sizeof *got), "%s, %s, %zu rows each: other bits", k->name,
				z->name, each[j]);
			free(got);
		}
	cuts(kernels_select("auto"), z, want);
	free(want);
	free(exact);
}

int main(void)
{
	fill();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		test(&cases[i]);
	return check_end("linear");
}
