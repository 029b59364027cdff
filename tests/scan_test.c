/* Layers that are scanned row by row, and short convolutions: fwd/mixers. */
#include <math.h>
#include <string.h>

#include "batches.h"
#include "check.h"

enum { ROWS = BATCHES_ROWS, STRIDE = 1100, N = 200, TAPS = 4, STATES = 9, OUTPUTS = 3, HEAD = 36, HEADS = 3,
	WIDTH = HEAD * HEADS };

static float input[ROWS][STRIDE], weight[STATES * N], more[N], third[N], norm_weight[N];

static void checked(int ok, const char *name, const char *what)
{
	check(ok, "%s: %s", name, what);
}

static struct buffer rows_at(float *first)
{
	return (struct buffer){ .at = first, .stride = STRIDE };
}

static void fill(void)
{
	for (size_t i = 0; i < ROWS * STRIDE; i++)
		input[i / STRIDE][i % STRIDE] = 1.5f * batches_draw(i);
	for (size_t i = 0; i < STATES * N; i++)
		weight[i] = batches_draw(ROWS * STRIDE + i);
	for (size_t i = 0; i < N; i++) {
		more[i] = batches_draw(2 * ROWS * STRIDE + i);
		third[i] = 1 + 0.5f * batches_draw(3 * ROWS * STRIDE + i);
		norm_weight[i] = 1 + 0.2f * batches_draw(4 * ROWS * STRIDE + i);
	}
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* ---- convolutions ---- */

static void *bind_convolve(const struct batches *b, float *rows)
{
	static struct op_convolve o;

	o = (struct op_convolve){ .n = N, .taps = TAPS, .weight = weight, .bias = b->case_of ? NULL : more,
		.gated = b->case_of != NULL, .in = rows_at(rows), .out = rows_at(rows + b->out) };
	return &o;
}

static void convolution(int gated, double *out)
{
	for (size_t t = 0; t < ROWS; t++)
		for (size_t c = 0; c < N; c++) {
			double sum = gated ? 0 : (double)more[c];

			for (size_t j = 0; j < TAPS && j <= t; j++) {
				const float *x = input[t - j];

				sum += (double)weight[(TAPS - 1 - j) * N + c] * x[c] * (gated ? x[2 * N + c] : 1);
			}
			out[t * N + c] = gated ? input[t][N + c] * sum : sum * sigmoid(sum);
		}
}

static void test_convolutions(double *want)
{
	struct batches b = { .name = "convolution", .kinds = { &op_convolve }, .bind = bind_convolve,
		.input = input[0], .stride = STRIDE, .n_out = N, .row_bytes = N * sizeof(float),
		.state_floats = (TAPS - 1) * N };

	convolution(0, want);
	batches_test(&b, want, checked);
	b.name = "gated convolution";
	b.case_of = "gated";
	b.out = 3 * N;
	convolution(1, want);
	batches_test(&b, want, checked);
}

/* ---- the selective scan: x, dt, b and c in a row ---- */

static float decays[STATES * N];

static void *bind_scan(const struct batches *b, float *rows)
{
	static struct op_scan o;

	o = (struct op_scan){ .n = N, .states = STATES, .a = decays, .skip = more, .x = rows_at(rows),
		.dt = rows_at(rows + N), .bc = rows_at(rows + 2 * N) };
	return &o;
}

static void test_scan(double *want)
{
	struct batches b = { .name = "scan", .kinds = { &op_scan }, .bind = bind_scan, .input = input[0],
		.stride = STRIDE, .out = N, .n_out = N, .state_floats = STATES * N, .keeps_current = 1 };

	for (size_t i = 0; i < STATES * N; i++)
		decays[i] = -fabsf(weight[i]);
	for (size_t c = 0; c < N; c++) {
		double state[STATES] = { 0 };

		for (size_t t = 0; t < ROWS; t++) {
			const float *x = input[t], *in = x + 2 * N;
			double step = log1p(exp((double)x[N + c])), sum = (double)more[c] * x[c];

			for (size_t i = 0; i < STATES; i++) {
				state[i] = exp(step * decays[i * N + c]) * state[i] + step * x[c] * in[i];
				sum += state[i] * in[STATES + i];
			}
			want[t * N + c] = sum;
		}
	}
	batches_test(&b, want, checked);
}

/* ---- shifts ---- */

static void *bind_shift(const struct batches *b, float *rows)
{
	static struct op_shift o;

	o = (struct op_shift){ .n = N, .outputs = OUTPUTS, .weight = weight, .in = rows_at(rows),
		.out = rows_at(rows + N) };
	return &o;
}

static void test_shift(double *want)
{
	struct batches b = { .name = "shift", .kinds = { &op_shift }, .bind = bind_shift, .input = input[0],
		.stride = STRIDE, .out = N, .n_out = OUTPUTS * N, .state_floats = N, .keeps_current = 1 };

	for (size_t t = 0; t < ROWS; t++)
		for (size_t i = 0; i < OUTPUTS * N; i++) {
			double before = t ? (double)input[t - 1][i % N] : 0, x = (double)input[t][i % N];

			want[t * OUTPUTS * N + i] = x + weight[i] * (before - x);
		}
	batches_test(&b, want, checked);
}

/* The norm of a head's results, whose weights begin at `at`. */
static void norm_head(const double o[HEAD], size_t at, double normed[HEAD])
{
	double mean = 0, square = 0;

	for (size_t i = 0; i < HEAD; i++)
		mean += o[i] / HEAD;
	for (size_t i = 0; i < HEAD; i++)
		square += (o[i] - mean) * (o[i] - mean) / HEAD;
	for (size_t i = 0; i < HEAD; i++)
		normed[i] = (o[i] - mean) / sqrt(square + 64e-5) * norm_weight[at + i] + more[at + i];
}

/* Part i of rows, WIDTH elements. */
static struct buffer part(float *rows, size_t i)
{
	return rows_at(rows + i * WIDTH);
}

/* ---- RWKV 7: r, w, k, v, a, g and m in a row, then the first layer's v ---- */

static void *bind_wkv7(const struct batches *b, float *rows)
{
	static struct op_wkv7 o;

	o = (struct op_wkv7){ .wkv = { .n = WIDTH, .size = HEAD, .bonus = weight,
			.norm = { NORM_LAYER, norm_weight, more, 64e-5f } },
		.key_norm = third, .key_rate = more, .r = part(rows, 0), .w = part(rows, 1), .k = part(rows, 2),
		.v = part(rows, 3), .a = part(rows, 4), .g = part(rows, 5), .first = part(rows, 6),
		.v_first = part(rows, 7), .is_first = b->case_of != NULL };
	return &o;
}

/* One row of the head whose elements begin at `at`; state: [HEAD values][HEAD keys]. */
static void wkv7(const float *row, size_t at, int is_first, double state[HEAD][HEAD], double *out)
{
	double r[HEAD], w[HEAD], k[HEAD], v[HEAD], a[HEAD], kk[HEAD], o[HEAD], normed[HEAD];
	double length = 0, bonus = 0;

	for (size_t i = 0; i < HEAD; i++) {
		const float *x = row + at + i;

		r[i] = x[0];
		w[i] = exp(-0.606531 * sigmoid(x[WIDTH]));
		a[i] = sigmoid(x[4 * WIDTH]);
		kk[i] = x[2 * WIDTH] * third[at + i];
		length += kk[i] * kk[i];
		k[i] = x[2 * WIDTH] * (1 + (a[i] - 1) * more[at + i]);
		v[i] = x[3 * WIDTH];
		if (!is_first)
			v[i] += (x[7 * WIDTH] - v[i]) * sigmoid(x[6 * WIDTH]);
		bonus += r[i] * k[i] * weight[at + i];
	}
	for (size_t i = 0; i < HEAD; i++) {
		double read = 0;

		for (size_t j = 0; j < HEAD; j++)
			read += state[i][j] * kk[j] / sqrt(length);
		o[i] = 0;
		for (size_t j = 0; j < HEAD; j++) {
			state[i][j] = state[i][j] * w[j] + v[i] * k[j] - read * kk[j] / sqrt(length) * a[j];
			o[i] += state[i][j] * r[j];
		}
	}
	norm_head(o, at, normed);
	for (size_t i = 0; i < HEAD; i++)
		out[at + i] = (normed[i] + v[i] * bonus) * row[5 * WIDTH + at + i];
}

static void test_wkv7(double *want, const char *name, int is_first)
{
	struct batches b = { .name = name, .kinds = { &op_wkv7 }, .bind = bind_wkv7, .input = input[0],
		.stride = STRIDE, .n_out = WIDTH, .state_floats = WIDTH * HEAD, .keeps_current = 1,
		.case_of = is_first ? "first" : NULL };

	for (size_t at = 0; at < WIDTH; at += HEAD) {
		double state[HEAD][HEAD] = { { 0 } };

		for (size_t t = 0; t < ROWS; t++)
			wkv7(input[t], at, is_first, state, want + t * WIDTH);
	}
	batches_test(&b, want, checked);
}

/* ---- RWKV 6: w, k, v, r and g in a row; with a bonus and a norm, or without either ---- */

static void *bind_wkv6(const struct batches *b, float *rows)
{
	static struct op_wkv6 o;

	o = (struct op_wkv6){ .wkv = { .n = WIDTH, .size = HEAD }, .w = part(rows, 0), .k = part(rows, 1),
		.v = part(rows, 2), .r = part(rows, 3), .g = part(rows, 4) };
	if (b->case_of) {
		o.wkv.bonus = weight;
		o.wkv.norm = (struct norm){ NORM_LAYER, norm_weight, more, 64e-5f };
	}
	return &o;
}

/* One row of the head whose elements begin at `at`; state: [HEAD values][HEAD keys]. */
static void wkv6(const float *row, size_t at, int has_bonus, double state[HEAD][HEAD], double *out)
{
	double o[HEAD], normed[HEAD], bonus = 0;
	const float *w = row + at, *k = w + WIDTH, *v = k + WIDTH, *r = v + WIDTH, *g = r + WIDTH;

	for (size_t j = 0; j < HEAD; j++)
		bonus += (double)r[j] * k[j] * weight[at + j];
	for (size_t i = 0; i < HEAD; i++) {
		o[i] = has_bonus ? v[i] * bonus : 0;
		for (size_t j = 0; j < HEAD; j++) {
			double decay = exp(-exp((double)w[j])), before = state[i][j];

			state[i][j] = decay * before + v[i] * k[j] * (has_bonus ? 1 : 1 - decay);
			o[i] += has_bonus ? before * r[j] : state[i][j] * r[j] / sqrt(HEAD);
		}
	}
	norm_head(o, at, normed);
	for (size_t i = 0; i < HEAD; i++)
		out[at + i] = (has_bonus ? normed[i] * g[i] : o[i]) * sigmoid(g[i]);
}

static void test_wkv6(double *want, const char *name, int has_bonus)
{
	struct batches b = { .name = name, .kinds = { &op_wkv6 }, .bind = bind_wkv6, .input = input[0],
		.stride = STRIDE, .out = 3 * WIDTH, .n_out = WIDTH, .state_floats = WIDTH * HEAD, .keeps_current = 1,
		.case_of = has_bonus ? "bonus" : NULL };

	for (size_t at = 0; at < WIDTH; at += HEAD) {
		double state[HEAD][HEAD] = { { 0 } };

		for (size_t t = 0; t < ROWS; t++)
			wkv6(input[t], at, has_bonus, state, want + t * WIDTH);
	}
	batches_test(&b, want, checked);
}

int main(void)
{
	double *want = batches_memory(ROWS * STRIDE * sizeof *want);

	fill();
	test_convolutions(want);
	test_scan(want);
	test_shift(want);
	test_wkv7(want, "RWKV 7", 0);
	test_wkv7(want, "RWKV 7, first layer", 1);
	test_wkv6(want, "RWKV 6", 1);
	test_wkv6(want, "RWKV 6 without a bonus", 0);
	free(want);
	return check_end("scan");
}
