/* scalar_product: products of weight rows and activation columns by the rules of kernels.h, one block at a time. */
#include "scalar_product.h"

#include <math.h>
#include <string.h>

#include "lib/gguf/blocks.h"
#include "fwd/kernels/quantise_rule.h"
#include "scalar_vector.h"

/* A block of 32 activations: dx times integers of 8 bits (ACTS_Q8) or 16 (ACTS_Q16). */
struct acts_block {
	float dx;
	int16_t q[32];
};

/* A block of 32 weights: element i is scale[i / run]·code[i] + min[i / run]. */
struct weight_block {
	int run;                /* elements that share a scale: 32 or 16 */
	int minima;             /* whether there are any */
	int code[32];
	float scale[2], min[2];
};

/* ---- activations ---- */

enum acts_kind scalar_acts_kind(const struct format *format, int wide)
{
	if (format->block == 1)
		return ACTS_F32;
	return wide ? ACTS_Q16 : ACTS_Q8;
}

size_t scalar_acts_bytes(enum acts_kind kind, size_t k, size_t n)
{
	return n * (kind == ACTS_F32 ? k * sizeof(float) : k / 32 * sizeof(struct acts_block));
}

/* x·inverse, exact, rounded to the nearest integer, ties to even: the sum with 1.5·2^23 has no bits below 1. */
static float nearest(float x, float inverse)
{
	const float shift = 0x1.8p23f;

	return fmaf(x, inverse, shift) - shift;
}

/* The sum of (x·inverse − nearest)², element by element. */
static float rounding_error(const float x[32], float inverse)
{
	float sum = 0;

	for (int i = 0; i < 32; i++) {
		float e = fmaf(x[i], inverse, -nearest(x[i], inverse));

		sum = fmaf(e, e, sum);
	}
	return sum;
}

/* Of eight steps from max/127 to max/120, the one of least squared error, in units of (max/127)² so that blocks of any size compare; the finest on
 * ties. Then the integers stay and the scale becomes the best for them, sum(x·q) / sum(q·q), both element by element. */
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
		float q = nearest(x[i], inverse);

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
		b->q[i] = (int16_t)nearest(x[i], inverse);
	b->dx = max * (1 / 32512.0f);
}

/* A block that holds an infinity or a NaN has the scale NaN and integers of zero; one below ACTS_LEAST counts as all zeros. */
static void pack_block(enum acts_kind kind, const float x[32], struct acts_block *b)
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

void scalar_acts_pack(struct acts *a, const float *x, size_t stride, size_t c0, size_t c1)
{
	for (size_t c = c0; c < c1; c++)
		if (a->kind == ACTS_F32)
			memcpy((float *)a->data + c * a->k, x + c * stride, a->k * sizeof *x);
		else
			for (size_t b = 0; b < a->k / 32; b++)
				pack_block(a->kind, x + c * stride + b * 32, (struct acts_block *)a->data + c * (a->k / 32) + b);
}

/* ---- weights: block b of 32 of a row ---- */

/* A scale that is not finite counts as NaN. */
static float scale_of(float scale)
{
	return isfinite(scale) ? scale : NAN;
}

static void read_q4_0(const struct q4_0 *p, struct weight_block *o)
{
	o->scale[0] = scale_of(block_half(p->d));
	for (int i = 0; i < 32; i++)
		o->code[i] = block_nibble(p->qs, i) - 8;
}

static void read_q4_1(const struct q4_1 *p, struct weight_block *o)
{
	o->minima = 1;
	o->scale[0] = scale_of(block_half(p->d));
	o->min[0] = block_half(p->m);
	for (int i = 0; i < 32; i++)
		o->code[i] = block_nibble(p->qs, i);
}

static void read_q5_0(const struct q5_0 *p, struct weight_block *o)
{
	o->scale[0] = scale_of(block_half(p->d));
	for (int i = 0; i < 32; i++)
		o->code[i] = (block_nibble(p->qs, i) | block_fifth_bit(p->qh, i)) - 16;
}

static void read_q5_1(const struct q5_1 *p, struct weight_block *o)
{
	o->minima = 1;
	o->scale[0] = scale_of(block_half(p->d));
	o->min[0] = block_half(p->m);
	for (int i = 0; i < 32; i++)
		o->code[i] = block_nibble(p->qs, i) | block_fifth_bit(p->qh, i);
}

static void read_q8_0(const struct q8_0 *p, struct weight_block *o)
{
	o->scale[0] = scale_of(block_half(p->d));
	for (int i = 0; i < 32; i++)
		o->code[i] = p->qs[i];
}

static void read_q2_k(const struct q2_k *p, int j, struct weight_block *o)
{
	o->run = 16;
	o->minima = 1;
	for (int s = 0; s < 2; s++) {
		o->scale[s] = scale_of(block_half(p->d) * (float)(p->scales[2 * j + s] & 15));
		o->min[s] = -(block_half(p->dmin) * (float)(p->scales[2 * j + s] >> 4));
	}
	for (int i = 0; i < 32; i++)
		o->code[i] = block_bit_pair(p->qs, 32 * j + i);
}

static void read_q3_k(const struct q3_k *p, int j, struct weight_block *o)
{
	o->run = 16;
	for (int s = 0; s < 2; s++)
		o->scale[s] = scale_of(block_half(p->d) * (float)block_q3_k_scale(p->scales, 2 * j + s));
	for (int i = 0; i < 32; i++)
		o->code[i] = (block_bit_pair(p->qs, 32 * j + i) | (p->hmask[i] >> j & 1) << 2) - 4;
}

/* Block j's scale and minimum, of Q4_K or Q5_K. */
static void read_six_bits(const uint8_t *scales, float d, float dmin, int j, struct weight_block *o)
{
	int scale, min;

	block_k_scale_min(scales, j, &scale, &min);
	o->minima = 1;
	o->scale[0] = scale_of(d * (float)scale);
	o->min[0] = -(dmin * (float)min);
}

static void read_q4_k(const struct q4_k *p, int j, struct weight_block *o)
{
	read_six_bits(p->scales, block_half(p->d), block_half(p->dmin), j, o);
	for (int i = 0; i < 32; i++)
		o->code[i] = block_k_nibble(p->qs, 32 * j + i);
}

static void read_q5_k(const struct q5_k *p, int j, struct weight_block *o)
{
	read_six_bits(p->scales, block_half(p->d), block_half(p->dmin), j, o);
	for (int i = 0; i < 32; i++)
		o->code[i] = block_k_nibble(p->qs, 32 * j + i) | (p->qh[i] >> j & 1) << 4;
}

static void read_q6_k(const struct q6_k *p, int j, struct weight_block *o)
{
	o->run = 16;
	for (int s = 0; s < 2; s++)
		o->scale[s] = scale_of(block_half(p->d) * (float)p->scales[2 * j + s]);
	for (int i = 0; i < 32; i++)
		o->code[i] = (block_q6_k_low(p->ql, 32 * j + i) | block_bit_pair(p->qh, 32 * j + i) << 4) - 32;
}

static void read_block(enum format_id id, const void *row, size_t b, struct weight_block *o)
{
	size_t super = b / 8;
	int j = (int)(b % 8);

	o->run = 32;
	o->minima = 0;
	switch (id) {
	case FORMAT_Q4_0: read_q4_0((const struct q4_0 *)row + b, o); break;
	case FORMAT_Q4_1: read_q4_1((const struct q4_1 *)row + b, o); break;
	case FORMAT_Q5_0: read_q5_0((const struct q5_0 *)row + b, o); break;
	case FORMAT_Q5_1: read_q5_1((const struct q5_1 *)row + b, o); break;
	case FORMAT_Q8_0: read_q8_0((const struct q8_0 *)row + b, o); break;
	case FORMAT_Q2_K: read_q2_k((const struct q2_k *)row + super, j, o); break;
	case FORMAT_Q3_K: read_q3_k((const struct q3_k *)row + super, j, o); break;
	case FORMAT_Q4_K: read_q4_k((const struct q4_k *)row + super, j, o); break;
	case FORMAT_Q5_K: read_q5_k((const struct q5_k *)row + super, j, o); break;
	case FORMAT_Q6_K: read_q6_k((const struct q6_k *)row + super, j, o); break;
	case FORMAT_F32: case FORMAT_F16: case FORMAT_BF16: break;      /* not in blocks */
	}
}

/* ---- products ---- */

/* The block's product over dx: scales first, then minima. */
static float block_product(const struct weight_block *w, const struct acts_block *x)
{
	int isum[2] = { 0, 0 }, xsum[2] = { 0, 0 }, runs = 32 / w->run;
	float t = 0;

	for (int i = 0; i < 32; i++) {
		isum[i / w->run] += w->code[i] * x->q[i];
		xsum[i / w->run] += x->q[i];
	}
	for (int r = 0; r < runs; r++)
		t = fmaf(w->scale[r], (float)isum[r], t);
	for (int r = 0; r < runs && w->minima; r++)
		t = fmaf(w->min[r], (float)xsum[r], t);
	return t;
}

static float row_product_q(enum format_id id, const void *row, const struct acts_block *x, size_t blocks)
{
	float acc[16] = { 0 };

	for (size_t b = 0; b < blocks; b++) {
		struct weight_block w;

		read_block(id, row, b, &w);
		acc[b % 16] = fmaf(x[b].dx, block_product(&w, &x[b]), acc[b % 16]);
	}
	return scalar_tree(acc);
}

static float row_product_f(const struct format *f, const void *row, const float *x, size_t k)
{
	float acc[16] = { 0 };

	for (size_t i = 0; i < k; i++) {
		float w;

		f->dequantise((const unsigned char *)row + i * f->bytes, &w, 1);
		acc[i % 16] = fmaf(w, x[i], acc[i % 16]);
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
		const void *row = (const unsigned char *)w->data + r * w->row_bytes;

		for (size_t c = 0; c < x->n; c++) {
			float *y = job->y + c * job->stride + r;

			if (x->kind == ACTS_F32)
				*y = row_product_f(w->format, row, (const float *)x->data + c * x->k, x->k);
			else
				*y = row_product_q((enum format_id)w->format->id, row,
					(const struct acts_block *)x->data + c * (x->k / 32), x->k / 32);
		}
	}
}
