/* vector_test: compares norms, activations, rotation and stores of every table with the scalar table, bit for bit, and
 * the scalar ones with double precision. Arrays are allocated exactly, so that the sanitizers see any access outside
 * them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/kernels/exp.h"
#include "fwd/kernels/kernels.h"
#include "lib/base/half.h"
#include "check.h"
#include "random.h"

static void holds(int ok, const char *table, const char *what, size_t n)
{
	check(ok, "%s: %s: n = %zu", table, what, n);
}

/* ---- data ---- */

static float from_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

/* In (-size, size) for the most part, with some small and some larger ones. */
static float draw(float size)
{
	float x = ((float)(random_bits() >> 8) * 0x1p-23f - 1) * size;

	return random_bits() % 16 ? x : random_bits() % 2 ? x * 8 : x / 1024;
}

static float *array(size_t n, float size)
{
	float *x = malloc((n ? n : 1) * sizeof *x);

	if (!x)
		exit(1);
	for (size_t i = 0; i < n; i++)
		x[i] = draw(size);
	return x;
}

static float *copy(const float *x, size_t n)
{
	float *y = array(n, 1);

	memcpy(y, x, n * sizeof *x);
	return y;
}

/* Equal bits; two NaNs are equal, whatever their payloads. */
static int same(const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(a + i, b + i, sizeof *a) && !(a[i] != a[i] && b[i] != b[i]))
			return 0;
	return 1;
}

static int near(float got, double want, double within)
{
	return fabs(got - want) <= within;
}

static const float odd_values[] = {
	0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f, 0x1p-126f, 3.4e38f, -3.4e38f, 88.7f, 88.73f, 89, 90,
	1000, -87.3f, -87.33654f, -87.33655f,
	-88, -104, -1000, 65504, 65519.996f, 65520, -65520, 0x1p-24f, 0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f, 6.1e-5f,
	2049, 2051,
};
enum { N_ODD = sizeof odd_values / sizeof *odd_values };

static const size_t lengths[] = { 0, 1, 2, 3, 8, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 100, 128, 257, 576, 1000,
	2048 };
enum { N_LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- exp, silu, gelu ---- */

/* Within 1 unit in the last place over the whole range; silu and gelu within 4, or near zero. */
static void exp_test(void)
{
	double worst = 0, worst_silu = 0, worst_gelu = 0, worst_tanh = 0, worst_sigmoid = 0, worst_oai = 0,
		worst_plus = 0;

	for (float x = -87.3f; x < 88.7f; x += 0.00037f) {
		double e = exp(x), g, s = x / (1 + exp(-(double)x));

		worst = fmax(worst, fabs(exp_of(x) - e) / e);
		worst_silu = fmax(worst_silu, fabs(exp_silu(x) - s) / (fabs(s) + 1e-30));
		worst_tanh = fmax(worst_tanh, fabs(exp_tanh(x) - tanh(x)));
		worst_sigmoid = fmax(worst_sigmoid, fabs(exp_sigmoid(x) - 1 / (1 + exp(-(double)x))));
		worst_plus = fmax(worst_plus, fabs(exp_softplus(x) / (fmax(x, 0) + log1p(exp(-fabs(x)))) - 1));
		g = x < 7 ? x / (1 + exp(-1.702 * x)) : 7 / (1 + exp(-1.702 * 7));
		worst_oai = fmax(worst_oai, fabs(exp_glu_oai(x, x) - g * (fmax(-7, fmin(7, x)) + 1)));
		g = x / (1 + exp(-2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
		if (fabsf(x) < 6)
			worst_gelu = fmax(worst_gelu, fabs(exp_gelu(x) - g) / (fabs(g) + 1e-6));
	}
	holds(worst < 1.0 * 0x1p-23, "scalar", "exp: error", 0);
	holds(worst_silu < 2 * 0x1p-23, "scalar", "silu: error", 0);
	holds(worst_tanh < 2 * 0x1p-23 && worst_sigmoid < 0x1p-23 && worst_oai < 64 * 0x1p-23, "scalar",
	      "tanh, sigmoid, swiglu_oai: error", 0);
	holds(worst_plus < 2 * 0x1p-23 && exp_softplus(-INFINITY) == 0 && exp_softplus(INFINITY) == INFINITY, "scalar",
	      "softplus: error", 0);
	/* the argument's own rounding, magnified by up to 2u */
	holds(worst_gelu < 64 * 0x1p-23, "scalar", "gelu: error", 0);
	holds(exp_of(0) == 1 && exp_of(-INFINITY) == 0 && exp_of(INFINITY) == INFINITY && exp_of(-1e30f) == 0, "scalar",
	      "exp: ends", 0);
	holds(exp_of(88.73f) == INFINITY && exp_of(88.72f) < INFINITY && exp_of(EXP_LOW) >= 0x1p-126f
	      && exp_of(NAN) != exp_of(NAN), "scalar", "exp: range", 0);
	holds(exp_silu(-1000) == 0 && exp_silu(1000) == 1000 && exp_gelu(-1e30f) == 0 && exp_gelu(1e30f) == 1e30f,
	      "scalar", "silu, gelu: ends", 0);
}

/* Sums, products, clamps; in place where that is allowed. */
static void linear_test(const struct kernels *s, const struct kernels *t)
{
	static const struct xielu xielu = { .positive = 1.1f, .negative = 0.8f, .beta = 0.5f, .eps = -1e-6f };

	for (size_t i = 0; i < N_LENGTHS; i++) {
		size_t n = lengths[i];
		float *a = array(n, 3), *b = array(n, 1), *y = array(n, 1), *z = copy(y, n);

		for (size_t k = 0; k < n; k += 3)
			a[k] = odd_values[(i + k) % N_ODD];
		s->add_scaled(y, a, 0.3f, n);
		t->add_scaled(z, a, 0.3f, n);
		holds(same(y, z, n), t->name, "add_scaled", n);
		s->clamp(y, 0.7f, n);
		t->clamp(z, 0.7f, n);
		holds(same(y, z, n), t->name, "clamp", n);
		s->xielu(&xielu, y, a, n);
		t->xielu(&xielu, z, a, n);
		holds(same(y, z, n), t->name, "xielu", n);
		s->cap(y, 1.3f, n);
		t->cap(z, 1.3f, n);
		holds(same(y, z, n), t->name, "cap", n);
		memcpy(y, b, n * sizeof *y), memcpy(z, b, n * sizeof *z);
		s->sparsify(y, 0.5f, n);
		t->sparsify(z, 0.5f, n);
		holds(same(y, z, n), t->name, "sparsify", n);
		s->add(y, a, b, n);
		t->add(a, a, b, n);
		holds(same(y, a, n), t->name, "add", n);
		s->multiply(y, a, b, n);
		t->multiply(a, a, b, n);
		holds(same(y, a, n), t->name, "multiply", n);
		s->scale(y, a, -1.7f, n);
		t->scale(a, a, -1.7f, n);
		holds(same(y, a, n), t->name, "scale", n);
		free(a), free(b), free(y), free(z);
	}
}

static void unary_test(const struct kernels *s, const struct kernels *t)
{
	static const char *const names[] = { "silu", "gelu", "relu", "relu2", "sigmoid", "exp", "softplus" };
	size_t n = 1 << 16;
	float *x = array(n, 20), *up = array(n, 3), *a = array(n, 1), *b = array(n, 1);

	for (size_t i = 0; i < n / 2; i++)
		x[i] = i < N_ODD ? odd_values[i] : from_bits(random_bits());
	for (int f = 0; f < UNARIES; f++) {
		s->unary(f, a, x, n);
		t->unary(f, b, x, n);
		holds(same(a, b, n), t->name, names[f], n);
	}
	s->glu(UNARY_SWIGLU_OAI, a, x, up, n);
	t->glu(UNARY_SWIGLU_OAI, b, x, up, n);
	holds(same(a, b, n), t->name, "swiglu_oai", n);
	for (size_t i = 0; i < N_LENGTHS; i++)
		for (int f = 0; f <= UNARY_SWIGLU_OAI; f++) {
			size_t m = lengths[i];
			float *g = copy(x + n / 2, m), *u = copy(up, m), *y = array(m, 1), *z = array(m, 1);

			s->glu(f, y, g, u, m);
			t->glu(f, z, g, u, m);
			holds(same(y, z, m), t->name, "glu", m);
			t->glu(f, g, g, u, m);
			holds(same(y, g, m), t->name, "glu in place", m);
			s->unary(f % UNARIES, y, u, m);
			t->unary(f % UNARIES, z, u, m);
			holds(same(y, z, m), t->name, "unary", m);
			free(g), free(u), free(y), free(z);
		}
	free(x), free(up), free(a), free(b);
}

/* ---- norms ---- */

static int norm_right(enum norm_kind kind, const float *x, const float *w, const float *b, const float *y, size_t n)
{
	double mean = 0, square = 0;

	for (size_t i = 0; kind == NORM_LAYER && i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (x[i] - mean) * (x[i] - mean) / (double)n;
	for (size_t i = 0; i < n; i++)
		if (!near(y[i], (x[i] - mean) / sqrt(square + 1e-5) * (w ? w[i] : 1) + (b ? b[i] : 0), 1e-4))
			return 0;
	return 1;
}

static void norm_test(const struct kernels *s, const struct kernels *t)
{
	for (size_t i = 1; i < N_LENGTHS; i++)
		for (int form = 0; form < 8; form++) {
			enum norm_kind kind = form & 1 ? NORM_LAYER : NORM_RMS;
			size_t n = lengths[i];
			float *x = array(n, 3), *w = array(n, 2), *b = array(n, 1), *y = array(n, 1);
			struct norm norm = { kind, form & 2 ? w : NULL, form & 4 ? b : NULL, 1e-5f };

			s->norm(&norm, x, y, n);
			holds(norm_right(kind, x, norm.weight, norm.bias, y, n), "scalar", "norm: value", n);
			t->norm(&norm, x, x, n);
			holds(same(x, y, n), t->name, kind == NORM_LAYER ? "layer norm" : "rms norm", n);
			free(x), free(w), free(b), free(y);
		}
}

/* ---- convolutions ---- */

static void taps_test(const struct kernels *s, const struct kernels *t)
{
	enum { TAPS = 4 };

	for (size_t i = 0; i < N_LENGTHS * TAPS; i++) {
		size_t n = lengths[i / TAPS], taps = i % TAPS + 1;
		float *rows[2 * TAPS], *bias = array(n, 1), *y = array(n, 1), *z = copy(y, n);

		for (size_t j = 0; j < 2 * TAPS; j++)
			rows[j] = array(n, 2);
		for (int biased = 0; biased < 2; biased++) {
			s->taps(y, (const float *const *)rows, (const float *const *)rows + TAPS, taps,
				biased ? bias : NULL, n);
			t->taps(z, (const float *const *)rows, (const float *const *)rows + TAPS, taps,
				biased ? bias : NULL, n);
			holds(same(y, z, n), t->name, "taps", n);
		}
		for (size_t j = 0; j < 2 * TAPS; j++)
			free(rows[j]);
		free(bias), free(y), free(z);
	}
}

/* ---- small matrices ---- */

/* Rows and columns around the sizes of tiles; a read along its rows, and across them. */
static void chain_test(const struct kernels *s, const struct kernels *t)
{
	static const size_t sizes[] = { 0, 1, 2, 5, 6, 7, 13, 16, 31, 32, 33, 64, 67, 128 };
	enum { SIZES = sizeof sizes / sizeof *sizes, GAP = 3 };

	for (size_t i = 0; i < SIZES * SIZES * 3; i++) {
		size_t rows = sizes[i % SIZES], cols = sizes[i / SIZES % SIZES], n = sizes[(i * 5 + i / SIZES) % SIZES];
		float *a = array(rows * n, 1), *b = array((cols + GAP) * (n + GAP), 1);
		float *y = array(rows * (cols + GAP), 1), *z = copy(y, rows * (cols + GAP));
		struct chain_job d = { .rows = rows, .cols = cols, .n = n, .a = a, .b = b, .a_row = i % 2 ? n : 1,
			.a_step = i % 2 ? 1 : rows, .b_row = cols + GAP, .y = y, .y_row = cols + GAP };

		s->chain(&d);
		d.y = z;
		t->chain(&d);
		holds(same(y, z, rows * (cols + GAP)), t->name, "chain", n);
		d.a_row = n, d.a_step = 1, d.b_row = n + GAP;
		t->dots(&d);
		d.y = y;
		s->dots(&d);
		holds(same(y, z, rows * (cols + GAP)), t->name, "dots", n);
		free(a), free(b), free(y), free(z);
	}
}

/* ---- rotation ---- */

static void rope_test(const struct kernels *s, const struct kernels *t)
{
	static const size_t rotations[] = { 2, 4, 8, 16, 20, 32, 34, 64, 80, 96, 128, 256 };

	for (size_t i = 0; i < sizeof rotations / sizeof *rotations; i++)
		for (int pairs = ROPE_ADJACENT; pairs <= ROPE_HALVES; pairs++) {
			size_t n = rotations[i], right = 1;
			float *x = array(n, 3), *c = array(n / 2, 1), *sn = array(n / 2, 1), *y = copy(x, n),
			        *z = copy(x, n);

			s->rope(pairs, y, c, sn, n);
			t->rope(pairs, z, c, sn, n);
			for (size_t k = 0; k < n / 2; k++) {
				size_t p = pairs == ROPE_ADJACENT ? 2 * k : k,
				        q = pairs == ROPE_ADJACENT ? p + 1 : k + n / 2;

				right = right && near(y[p], (double)x[p] * c[k] - (double)x[q] * sn[k], 1e-4)
					&& near(y[q], (double)x[p] * sn[k] + (double)x[q] * c[k], 1e-4);
			}
			holds((int)right, "scalar", "rope: value", n);
			holds(same(y, z, n), t->name, pairs == ROPE_ADJACENT ? "rope adjacent" : "rope halves", n);
			free(x), free(c), free(sn), free(y), free(z);
		}
}

/* ---- the cache ---- */

static struct kv_block new_block(enum kv_type type, size_t dim_k, size_t dim_v)
{
	return kv_block_at(type, dim_k, dim_v, calloc(kv_block_bytes(type, dim_k, dim_v), 1));
}

/* A row at each of 32 positions of a block, which ends as the scalar one does; the conversion's special cases go
 * through K and V. */
static void store_test(const struct kernels *s, const struct kernels *t)
{
	static const size_t dims[][2] = { { 8, 8 }, { 16, 16 }, { 64, 64 }, { 80, 80 }, { 128, 128 }, { 40, 24 },
		{ 192, 128 }, { 1, 3 } };

	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
		for (int type = 0; type < KV_TYPES; type++) {
			size_t dim_k = dims[i][0], dim_v = dims[i][1];
			struct kv_block a = new_block(type, dim_k, dim_v), b = new_block(type, dim_k, dim_v);

			for (size_t pos = 0; pos < 32; pos++) {
				float *k = array(dim_k, 4), *v = array(dim_v, 4);

				for (size_t d = 0; d < dim_v && pos >= 16; d++)
					k[d % dim_k] = v[d] = random_bits() % 2 ? odd_values[random_bits() % N_ODD]
					        : from_bits(random_bits());
				s->kv_store(type, &a, dim_k, dim_v, pos, k, v);
				t->kv_store(type, &b, dim_k, dim_v, pos, k, v);
				free(k), free(v);
			}
			holds(!memcmp(a.k, b.k, kv_block_bytes(type, dim_k, dim_v)), t->name, "kv_store", dim_k);
			free(a.k), free(b.k);
		}
}

/* x[dim] rotated by the definition in kernels.h. */
static void rotate(float *x, size_t dim)
{
	size_t block = kv_rotated(dim);

	for (size_t apart = 1; apart < block; apart *= 2)
		for (size_t i = 0; i < dim; i++)
			if (!(i % block & apart)) {
				float a = x[i], b = x[i + apart];

				x[i] = a + b;
				x[i + apart] = a - b;
			}
	for (size_t i = 0; i < dim; i++)
		x[i] *= 1 / sqrtf((float)block);
}

/* How far a value may be from what it was, in a block whose largest magnitude is `most`. -1: it is NaN. */
static double code_error(enum kv_type type, double most)
{
	if (type == KV_Q4_0)    /* with the smallest scale, 7 steps of 0.88 / 8 are the most on one side */
		return most >= KV_MOST ? -1 : most < KV_LEAST ? most : 0.24 * most;
	return most / 127 >= 65520 ? -1 : 0.57 * fmax(most / 127, most < 127 * 0x1p-14 ? 0x1p-24 * 127 : 0);
}

/* Blocks of codes of every exponent: each value within what the rule of its scale allows, infinity and NaN turn
 * their whole block into NaN and no other. */
static void block_test(const struct kernels *s, const struct kernels *t, enum kv_type type)
{
	enum { DIM = 80 };      /* the last block is short */
	struct kv_block a = new_block(type, DIM, DIM), b = new_block(type, DIM, DIM);
	int ok = 1, near_enough = 1, seen = 1;

	for (uint32_t exponent = 0; exponent < 256; exponent++)
		for (int round = 0; round < 40; round++) {
			float x[DIM], most[3] = { 0 };
			size_t odd = random_bits() % DIM;

			for (size_t i = 0; i < DIM; i++)
				x[i] = from_bits((random_bits() & 0x80000000)
				                 | (exponent > 3 ? exponent - random_bits() % 4 : exponent) << 23
				                 | (random_bits() & 0x7fffff));
			if (round % 4 == 3)
				x[odd] = round % 8 == 3 ? NAN : -INFINITY;
			s->kv_store(type, &a, DIM, DIM, 5, x, x);
			t->kv_store(type, &b, DIM, DIM, 5, x, x);
			ok = ok && !memcmp(a.k, b.k, kv_block_bytes(type, DIM, DIM));
			rotate(x, DIM);
			for (size_t i = 0; i < DIM; i++)
				most[i / 32] = isfinite(x[i]) ? fmaxf(most[i / 32], fabsf(x[i])) : INFINITY;
			for (size_t i = 0; i < DIM; i++) {
				float scale = f16_to_f32(a.v_scale[kv_scale_index(DIM, 5, i / 32)]);
				size_t at = kv_v_index(type, DIM, 5, i);
				double most_off = code_error(type, most[i / 32]);
				float value = scale * (float)(type == KV_Q4_0 ? kv_code_4(a.v, at) - 8
				                              : ((int8_t *)a.v)[at]);

				if (most_off >= 0)
					near_enough = near_enough && fabs((double)value - x[i]) <= most_off;
				else if (type == KV_Q4_0)
					seen = seen && isinf(scale);
				else
					seen = seen && value != value;
			}
		}
	holds(ok, t->name, type == KV_Q4_0 ? "q4_0: blocks" : "q8_0: blocks", DIM);
	holds(near_enough, t->name, type == KV_Q4_0 ? "q4_0: values" : "q8_0: values", DIM);
	holds(seen, t->name, type == KV_Q4_0 ? "q4_0: what is not finite" : "q8_0: what is not finite", DIM);
	free(a.k), free(b.k);
}

/* Whether the score of an id is that of the definition, in double precision: NaN for a row with a NaN or infinity. */
static int score_holds(const float *x, size_t n, size_t id, double log_sum, const float score[SCORE_COLS])
{
	size_t above = 0, best = 0, numbers = 0;
	double sum = 0, logprob;

	for (size_t k = 0; k < n; k++) {
		above += x[k] > x[id] || (x[k] == x[id] && k < id);
		best = x[k] > x[best] ? k : best;
		numbers += x[k] < INFINITY;
	}
	for (size_t k = 0; k < n; k++)
		sum += exp((double)x[k] - x[best]);
	if (numbers < n || x[best] == -INFINITY)
		return log_sum != log_sum && score[SCORE_LOGPROB] != score[SCORE_LOGPROB];
	logprob = (double)x[id] - x[best] - log(sum);
	return near(score[SCORE_RANK], (double)above + 1, 0) && near((float)log_sum, log(sum), 1e-5)
		&& near(score[SCORE_BEST], (double)best, 0)
		&& (x[id] == -INFINITY || near(score[SCORE_LOGPROB], logprob, 1e-6 * (16 - logprob)));
}

/* Rows with ties, with values that are not finite, and of any length. */
static void score_test(const struct kernels *s, const struct kernels *t)
{
	static const size_t sizes[] = { 1, 15, 16, 17, 255, 256, 300, 4095, 4096, 4097, 4096 + 16, 9000 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int round = 0; round < 24; round++) {
			size_t n = sizes[i], id = random_bits() % n;
			struct score_part part[3], want;
			float *x = array(n, round % 3 ? 20 : 200), score[SCORE_COLS];
			double log_sum;

			for (size_t k = 0; round % 4 && k < n; k += 1 + random_bits() % 9)
				x[k] = round % 4 == 1 ? roundf(x[k]) : round % 4 == 2 ? -INFINITY : x[id];
			if (round % 6 == 5)
				x[random_bits() % n] = odd_values[random_bits() % N_ODD];
			for (size_t b = 0; b < score_parts(n); b++) {
				s->score(x, n, (int32_t)id, b, &want);
				t->score(x, n, (int32_t)id, b, &part[b]);
				holds(same(&want.max, &part[b].max, 1) && want.above == part[b].above
					&& want.invalid == part[b].invalid && want.sum == part[b].sum,
					t->name, "score", n);
			}
			log_sum = score_join(part, x, n, (int32_t)id, score);
			holds(score_holds(x, n, id, log_sum, score), t->name, "score: value", n);
			free(x);
		}
}

/* Every exponent and sign with the fractions that matter to rounding. */
static void half_test(const struct kernels *s, const struct kernels *t)
{
	enum { DIM = 4096 };
	struct kv_block a = new_block(KV_F16, DIM, DIM), b = new_block(KV_F16, DIM, DIM);
	float *x = array(DIM, 1);
	int ok = 1;

	for (uint32_t exponent = 0; exponent < 512; exponent++) {
		for (uint32_t i = 0; i < DIM; i++)
			x[i] = from_bits(exponent << 23 | (i >> 1 << 12 | ((i & 1) ? random_bits() & 0xfff : 0)));
		s->kv_store(KV_F16, &a, DIM, DIM, 0, x, x);
		t->kv_store(KV_F16, &b, DIM, DIM, 0, x, x);
		ok = ok && !memcmp(a.v, b.v, DIM * 2);
	}
	holds(ok, t->name, "f32 to f16", DIM);
	free(a.k), free(b.k), free(x);
}

int main(void)
{
	const struct kernels *s = kernels_each(0), *t;

	exp_test();
	for (size_t i = 0; (t = kernels_each(i)); i++) {
		unary_test(s, t);
		linear_test(s, t);
		norm_test(s, t);
		taps_test(s, t);
		chain_test(s, t);
		rope_test(s, t);
		score_test(s, t);
		store_test(s, t);
		block_test(s, t, KV_Q8_0);
		block_test(s, t, KV_Q4_0);
		half_test(s, t);
	}
	return check_end("vector");
}
