/* scalar_product: products of weight rows and activation columns by the rules of kernels.h, one block at a time. */
#include "scalar.h"

#include <math.h>
#include <string.h>

#include "fwd/kernels/quantise_rule.h"
#include "lib/base/half.h"
#include "lib/base/size.h"

/* ---- activations ---- */

enum acts_kind scalar_acts_kind(const struct format *format, int wide)
{
	if (format->widen)
		return format->id == FORMAT_BF16 ? ACTS_BF16 : ACTS_F32;
	return wide ? ACTS_Q16 : ACTS_Q8;
}

int scalar_takes(enum acts_kind kind)
{
	return kind != ACTS_Q8_I16 && kind <= ACTS_BF16;
}

/* Whether activations are stored as floats, rounded or not. */
static int in_floats(enum acts_kind kind)
{
	return kind == ACTS_F32 || kind == ACTS_BF16;
}

size_t scalar_acts_bytes(enum acts_kind kind, size_t k, size_t n)
{
	return n * (in_floats(kind) ? k * sizeof(float) : k / 32 * sizeof(struct acts_block));
}

/* Rounded to BF16: the upper half of the float. */
static float to_bf16(float x)
{
	uint32_t u;

	if (isnan(x))
		return x;
	memcpy(&u, &x, sizeof u);
	u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
	memcpy(&x, &u, sizeof x);
	return fabsf(x) < BF16_ACTS_LEAST ? 0 : x;
}

float scalar_nearest(float x, float inverse)
{
	const float shift = 0x1.8p23f;

	return fmaf(x, inverse, shift) - shift;
}

/* The sum of (x·inverse − nearest)², element by element. */
static float rounding_error(const float x[32], float inverse)
{
	float sum = 0;

	for (int i = 0; i < 32; i++) {
		float e = fmaf(x[i], inverse, -scalar_nearest(x[i], inverse));

		sum = fmaf(e, e, sum);
	}
	return sum;
}

/* Of eight steps from max/127 to max/120, the one of least squared error, in units of (max/127)² so that blocks of
 * any size compare; the finest on ties. Then the integers stay and the scale becomes the best for them, sum(x·q) /
 * sum(q·q), both element by element. */
static void pack_q8(const float x[32], float max, struct acts_block *b)
{
	float unit = 1 / max, inverse = 127 * unit, least = rounding_error(x, inverse), xq = 0, qq = 0;

	for (int i = 1; i < ACTS_STEPS; i++) {
		float error = rounding_error(x, (float)(127 - i) * unit) * acts_step_square[i];

		if (error < least) {
			least = error;
			inverse = (float)(127 - i) * unit;
		}
	}
	for (int i = 0; i < 32; i++) {
		float q = scalar_nearest(x[i], inverse);

		b->q[i] = (int16_t)q;
		xq = fmaf(x[i], q, xq);
		qq = fmaf(q, q, qq);
	}
	b->dx = xq / qq;
}

static void pack_q16(const float x[32], float max, struct acts_block *b)
{
	float inverse = 32512 * (1 / max);

	for (int i = 0; i < 32; i++)
		b->q[i] = (int16_t)scalar_nearest(x[i], inverse);
	b->dx = max * (1 / 32512.0f);
}

void scalar_pack_block(enum acts_kind kind, const float x[32], struct acts_block *b)
{
	float max = 0;
	int finite = 1;

	for (int i = 0; i < 32; i++) {
		finite &= isfinite(x[i]) != 0;
		max = fmaxf(max, fabsf(x[i]));
	}
	memset(b, 0, sizeof *b);
	if (!finite)
		b->dx = NAN;
	else if (max >= ACTS_LEAST)
		(kind == ACTS_Q8 ? pack_q8 : pack_q16)(x, max, b);
}

size_t scalar_acts_together(enum acts_kind kind, size_t k, size_t n)
{
	return 1;
}

void scalar_acts_pack(struct acts *a, const float *x, size_t stride, struct acts_part part)
{
	for (size_t c = part.c0; c < part.c1; c++, x += stride)
		if (in_floats(a->kind))
			for (size_t e = part.e0; e < part.e1; e++)
				((float *)a->data)[c * a->k + e] = a->kind == ACTS_BF16 ? to_bf16(x[e]) : x[e];
		else
			for (size_t b = part.e0 / 32; b < part.e1 / 32; b++)
				scalar_pack_block(a->kind, x + b * 32,
				           (struct acts_block *)a->data + c * (a->k / 32) + b);
}

/* ---- products ---- */

/* A scale that is not below 2^100 is taken as NaN. */
static float usable(float scale)
{
	return fabsf(scale) < 0x1p100f ? scale : NAN;
}

/* The product of 32 weights, from number `first` of a block on, and 32 activations, over dx: scales first, then
 * minima. */
static float block_product(const struct format *f, const struct block_values *w, size_t first,
                           const struct acts_block *x)
{
	size_t run = 32 / (size_t)f->scales;
	float t = 0;

	for (size_t i = 0; i < 32; i += run) {
		float scale = w->scale[(first + i) / run];
		int isum = 0;

		for (size_t e = i; e < i + run; e++)
			isum += w->code[first + e] * x->q[e];
		t = fmaf(usable(scale), (float)isum, t);
	}
	for (size_t i = 0; i < 32 && f->minima; i += run) {
		int xsum = 0;

		for (size_t e = i; e < i + run; e++)
			xsum += x->q[e];
		t = fmaf(w->min[(first + i) / run], (float)xsum, t);
	}
	return t;
}

/* x: k / 32 blocks of activations. */
static float row_product_q(const struct format *f, const unsigned char *row, const struct acts_block *x, size_t k)
{
	float acc[16] = { 0 };
	struct block_values w;

	for (size_t i = 0; i < k; i += 32) {
		if (i % f->block == 0)
			f->read(row + i / f->block * f->bytes, &w);
		acc[i / 32 % 16] = fmaf(x[i / 32].dx, block_product(f, &w, i % f->block, &x[i / 32]), acc[i / 32 % 16]);
	}
	return scalar_tree(acc);
}

/* w[f->block]: a block as floats. */
static void widen(const struct format *f, const unsigned char *block, float *w)
{
	size_t run = 32 / (size_t)f->scales;
	struct block_values v;

	f->read(block, &v);
	for (size_t i = 0; i < f->block; i++) {
		w[i] = usable(v.scale[i / run]) * (float)v.code[i];
		if (f->minima)
			w[i] += v.min[i / run];
	}
}

static float row_product_f(const struct format *f, const unsigned char *row, const float *x, size_t k)
{
	float acc[16] = { 0 }, w[FORMAT_BLOCK_MOST];

	for (size_t i = 0; i < k; i++) {
		if (f->widen)
			w[0] = f->widen(row + i * f->bytes);
		else if (i % f->block == 0)
			widen(f, row + i / f->block * f->bytes, w);
		acc[i % 16] = fmaf(w[i % f->block], x[i], acc[i % 16]);
	}
	return scalar_tree(acc);
}

static float bf16_weight(const unsigned char *row, size_t i)
{
	uint16_t h;
	float w;

	memcpy(&h, row + i * sizeof h, sizeof h);
	w = bf16_to_f32(h);
	return fabsf(w) < BF16_WEIGHTS_LEAST ? 0 : w;
}

/* x: rounded to BF16 */
static float row_product_bf16(const unsigned char *row, const float *x, size_t k)
{
	float acc[16] = { 0 };

	for (size_t span = 0; span < k; span += 512) {
		float chain[2][16] = { { 0 } };

		for (size_t pair = 0; pair < 256; pair++)
			for (size_t i = size_min(span + 2 * pair + 2, k); i-- > span + 2 * pair; ) {
				float *sum = &chain[pair / 128][pair % 16];

				*sum = fmaf(bf16_weight(row, i), x[i], *sum);
			}
		for (int lane = 0; lane < 16; lane++)
			acc[lane] += chain[0][lane] + chain[1][lane];
	}
	return scalar_tree(acc);
}

size_t scalar_product_scratch(size_t k)
{
	return 0;
}

void scalar_product(const struct product_job *job)
{
	const struct matrix *w = job->w;
	const struct acts *x = job->x;

	for (size_t r = job->r0; r < job->r1; r++) {
		const unsigned char *row = (const unsigned char *)w->data + r * w->row_bytes;

		for (size_t c = 0; c < x->n; c++) {
			float *y = job->y + c * job->stride + r;

			if (x->kind == ACTS_BF16)
				*y = row_product_bf16(row, (const float *)x->data + c * x->k, x->k);
			else if (x->kind == ACTS_F32)
				*y = row_product_f(w->format, row, (const float *)x->data + c * x->k, x->k);
			else
				*y = row_product_q(w->format, row, (const struct acts_block *)x->data + c * (x->k / 32),
				                   x->k);
		}
	}
}
