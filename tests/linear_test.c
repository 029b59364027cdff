/* fwd/mixers/linear.c: attention without softmax against its recurrence. */
#include <math.h>
#include <string.h>

#include "batches.h"
#include "check.h"

enum { ROWS = BATCHES_ROWS, STRIDE = 768, DECAYS = 128 };

#define EPS 1e-6f

struct sizes {
	const char *name;
	size_t n_head, n_head_k, dim_k, dim_v;
	int consecutive, delta, by_key;
};

static const struct sizes cases[] = {
	{ "delta net", 4, 2, 16, 16, 0, 1, 0 }, { "delta net, consecutive heads", 6, 2, 20, 33, 1, 1, 0 },
	{ "delta net, wide", 1, 1, 64, 128, 0, 1, 0 }, { "Mamba 2", 6, 2, 16, 24, 1, 0, 0 },
	{ "Mamba 2, one group", 3, 1, 70, 64, 1, 0, 0 }, { "Kimi delta attention", 3, 3, 20, 40, 1, 1, 1 },
	{ "Kimi delta attention, wide", 1, 1, 128, 64, 1, 1, 1 },
};

static float input[ROWS][STRIDE], bias[DECAYS], a[DECAYS], skip[DECAYS], root[128];

static struct buffer rows_at(float *first)
{
	return (struct buffer){ .at = first, .stride = STRIDE };
}

static void fill(void)
{
	for (size_t i = 0; i < ROWS * STRIDE; i++)
		input[i / STRIDE][i % STRIDE] = 1.5f * batches_draw(i);
	for (size_t i = 0; i < DECAYS; i++) {
		bias[i] = batches_draw(ROWS * STRIDE + i) - 1;
		a[i] = -1.5f * fabsf(batches_draw(ROWS * STRIDE + DECAYS + i));
		skip[i] = batches_draw(ROWS * STRIDE + 2 * DECAYS + i);
	}
}

static size_t decays(const struct sizes *z)
{
	return z->n_head * (z->by_key ? z->dim_k : 1);
}

/* Where things lie in a row: q, k, v, decay, beta, out. */
static struct op_linear op_of(const struct sizes *z, float *at)
{
	size_t nk = z->n_head_k * z->dim_k, nv = z->n_head * z->dim_v;
	struct op_linear o = { .n_head = z->n_head, .n_head_k = z->n_head_k, .consecutive = z->consecutive,
		.dim_k = z->dim_k,
		.dim_v = z->dim_v, .delta = z->delta, .by_key = z->by_key, .bias = bias, .a = a,
		.skip = z->delta ? NULL : skip,
		.q = rows_at(at), .k = rows_at(at + nk), .v = rows_at(at + 2 * nk),
		.decay = rows_at(at + 2 * nk + nv), .beta = rows_at(at + 2 * nk + nv + DECAYS),
		.out = rows_at(at + 2 * nk + nv + DECAYS + 8) };

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

static void *bind(const struct batches *b, float *rows)
{
	static struct op_linear o;

	o = op_of(b->case_of, rows);
	return &o;
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

/* What a decay, of the row that begins there, is a multiple of. */
static double step(const struct op_linear *o, size_t from, size_t i)
{
	return log1p(exp((double)o->decay.at[from + i] + bias[i]));
}

/* One position of a head, whose state is m[dim_k][dim_v]. */
static void position(const struct sizes *z, const struct op_linear *o, size_t pos, size_t head, double *m, double *out)
{
	size_t from = pos * STRIDE, head_k = z->consecutive ? head / (z->n_head / z->n_head_k) : head % z->n_head_k;
	size_t each = z->by_key ? z->dim_k : 1, g = head * each;
	double k[128], q[128], decay[128], beta = 1 / (1 + exp(-(double)o->beta.at[from + head]));
	const float *v = o->v.at + from + head * z->dim_v;

	norm(k, o->k.at + from + head_k * z->dim_k, z->dim_k, z->delta);
	norm(q, o->q.at + from + head_k * z->dim_k, z->dim_k, z->delta);
	for (size_t i = 0; i < z->dim_k; i++)
		decay[i] = exp(a[g + i % each] * step(o, from, g + i % each));
	if (!z->delta)
		beta = step(o, from, head);
	for (size_t j = 0; j < z->dim_v; j++) {
		double read = 0, sum = z->delta ? 0 : (double)skip[head] * v[j];

		for (size_t i = 0; i < z->dim_k; i++)
			read += k[i] * (m[i * z->dim_v + j] *= decay[i]);
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
	double *out = batches_memory(ROWS * nv * sizeof *out), *m = batches_memory(z->dim_k * nv * sizeof *m);

	for (size_t pos = 0; pos < ROWS; pos++)
		for (size_t head = 0; head < z->n_head; head++)
			position(z, &o, pos, head, m + head * z->dim_k * z->dim_v, out + pos * nv);
	free(m);
	return out;
}

/* ---- cases ---- */

static void checked(int ok, const char *name, const char *what)
{
	check(ok, "%s: %s", name, what);
}

static void test(const struct sizes *z)
{
	size_t nk = z->n_head_k * z->dim_k, nv = z->n_head * z->dim_v;
	struct op_linear o = op_of(z, input[0]);
	struct batches b = { .name = z->name, .kinds = { &op_linear_gates, &op_linear, &op_linear_keep }, .case_of = z,
		.bind = bind, .input = input[0], .stride = STRIDE, .out = (size_t)(o.out.at - input[0]), .n_out = nv,
		.scratch = linear_scratch(&o), .row_bytes = (nk + nv + decays(z)) * sizeof(float),
		.state_floats = nv * z->dim_k };
	double *want = recurrence(z);

	batches_test(&b, want, checked);
	free(want);
}

int main(void)
{
	fill();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		test(&cases[i]);
	return check_end("linear");
}
