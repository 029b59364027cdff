/* scalar_codes: attention over K and V in codes, from its definition in kernels.h: sums of products of integers, which
 * are exact in any order. The specification of attend_codes.h. */
#include "scalar.h"

#include <math.h>
#include <string.h>

#include "fwd/kernels/quantise_rule.h"
#include "lib/base/half.h"
#include "lib/base/size.h"

/* ---- codes ---- */

void scalar_rotate(float *x, size_t n, size_t block)
{
	for (size_t first = 0; first < n; first += block) {
		for (size_t apart = 1; apart < block; apart *= 2)
			for (size_t i = first; i < first + block; i++)
				if (!((i - first) & apart)) {
					float a = x[i], b = x[i + apart];

					x[i] = a + b;
					x[i + apart] = a - b;
				}
		for (size_t i = first; i < first + block; i++)
			x[i] *= 1 / sqrtf((float)block);
	}
}

/* The integer that a code stands for. */
static int code_of(enum kv_type type, const void *codes, size_t i)
{
	return type == KV_Q4_0 ? kv_code_4(codes, i) - 8 : ((const int8_t *)codes)[i];
}

static void put_code(enum kv_type type, void *codes, size_t i, int code)
{
	uint8_t *at = (uint8_t *)codes + i / 2;

	if (type == KV_Q4_0)
		*at = (uint8_t)((*at & 0xf0 >> i % 2 * 4) | code << i % 2 * 4);
	else
		((int8_t *)codes)[i] = (int8_t)code;
}

/* Codes of eight bits. Returns their scale. */
static uint16_t make_bytes(const float *x, size_t n, int *code)
{
	float most = 0, d;
	uint16_t scale;

	for (size_t i = 0; i < n; i++)
		most = isfinite(x[i]) ? fmaxf(most, fabsf(x[i])) : INFINITY;
	scale = kv_scale(most);
	d = f16_to_f32(scale);
	for (size_t i = 0; i < n; i++)
		code[i] = d > 0 && d < INFINITY ? (int)rintf(fmaxf(-127, fminf(127, x[i] / d))) : 0;
	return scale;
}

static float four_bits(float x, float d)
{
	return fmaxf(-8, fminf(7, scalar_nearest(x, 1 / d)));
}

static float squared_error(const float *x, size_t n, float d)
{
	float acc[16] = { 0 };

	for (size_t i = 0; i < n; i++) {
		float e = fmaf(-d, four_bits(x[i], d), x[i]);

		acc[i % 16] = fmaf(e, e, acc[i % 16]);
	}
	return scalar_tree(acc);
}

/* Codes of four bits: those of the step with the least squared error, of the first such. Returns their scale. */
static uint16_t make_fours(const float *x, size_t n, int *code)
{
	float high = 0, low = 0, most, least = 0;
	uint16_t scale = 0;
	int finite = 1;

	for (size_t i = 0; i < n; i++) {
		finite &= isfinite(x[i]) != 0;
		high = fmaxf(high, x[i]);
		low = fmaxf(low, -x[i]);
		code[i] = 0;
	}
	most = fmaxf(high, low);
	if (!finite || !(most < KV_MOST))
		return f32_to_f16(INFINITY);
	if (most < KV_LEAST)
		return 0;
	for (size_t i = 0; i < KV_STEPS; i++) {
		uint16_t half = f32_to_f16((low > high ? -low : high) * kv_steps[i]);
		float error = squared_error(x, n, f16_to_f32(half));

		if (i == 0 || error < least)
			least = error, scale = half;
	}
	for (size_t i = 0; i < n; i++)
		code[i] = (int)four_bits(x[i], f16_to_f32(scale)) + 8;
	return scale;
}

/* K or V of position j, whose elements lie where index() says. */
static void store(enum kv_type type, void *codes, uint16_t *scale, size_t dim, size_t j, const float *from,
	size_t (*index)(enum kv_type, size_t, size_t, size_t))
{
	uint16_t (*make)(const float *x, size_t n, int *code) = type == KV_Q4_0 ? make_fours : make_bytes;
	float x[KV_DIM_MOST];
	int code[KV_SCALED];

	memcpy(x, from, dim * sizeof *x);
	scalar_rotate(x, dim, kv_rotated(dim));
	for (size_t d = 0; d < dim; d++) {
		if (d % KV_SCALED == 0)
			scale[kv_scale_index(dim, j, d / KV_SCALED)] = make(x + d, size_min(KV_SCALED, dim - d), code);
		put_code(type, codes, index(type, dim, j, d), code[d % KV_SCALED]);
	}
}

void scalar_store_codes(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	const float *k, const float *v)
{
	store(type, kv->k, kv->k_scale, dim_k, j, k, kv_k_index);
	store(type, kv->v, kv->v_scale, dim_v, j, v, kv_v_index);
}

/* ---- scores ---- */

void scalar_code_scores(const struct attend *a, const struct kv_block *kv, const float *q, size_t n, float *s)
{
	float rotated[KV_DIM_MOST];

	memcpy(rotated, q, a->dim_k * sizeof *q);
	scalar_rotate(rotated, a->dim_k, kv_rotated(a->dim_k));
	for (size_t j = 0; j < n; j++)
		s[j] = 0;
	for (size_t d0 = 0; d0 < a->dim_k; d0 += KV_SCALED) {
		size_t dims = size_min(KV_SCALED, a->dim_k - d0);
		float group[KV_SCALED] = { 0 };
		struct acts_block x;

		memcpy(group, rotated + d0, dims * sizeof *q);
		scalar_pack_block(ACTS_Q8, group, &x);
		x.dx *= a->scale;
		for (size_t j = 0; j < n; j++) {
			float k_scale = f16_to_f32(kv->k_scale[kv_scale_index(a->dim_k, j, d0 / KV_SCALED)]);
			int32_t sum = 0;

			for (size_t d = 0; d < dims; d++)
				sum += x.q[d] * code_of(a->type, kv->k, kv_k_index(a->type, a->dim_k, j, d0 + d));
			s[j] = fmaf(x.dx, isfinite(k_scale) ? k_scale * (float)sum : NAN, s[j]);
		}
	}
}

/* ---- sums over V ---- */

struct weights {        /* of a run of positions: step times codes from 0 to 255, or from -127 to 127 */
	float step;
	int32_t code[ATTEND_RUN];
};

/* p[n], times V's scales of group g from position j0 of a block on. */
static void weigh(const struct attend *a, const struct kv_block *kv, const float *p, size_t j0, size_t n, size_t g,
	struct weights *run)
{
	const uint16_t *scale = a->v_in_k ? kv->k_scale : kv->v_scale;
	size_t dim = a->v_in_k ? a->dim_k : a->dim_v;
	float w[ATTEND_RUN], max = 0, top = a->type == KV_Q4_0 ? 127 : 255;

	memset(run, 0, sizeof *run);
	for (size_t j = 0; j < n; j++) {
		w[j] = p[j] > 0 ? p[j] * f16_to_f32(scale[kv_scale_index(dim, j0 + j, g)]) : 0;
		max = fmaxf(max, fabsf(w[j]));
	}
	if (max < ACTS_LEAST)
		return;
	run->step = max * (1 / top);
	for (size_t j = 0; j < n; j++)
		run->code[j] = isfinite(w[j]) ? (int32_t)scalar_nearest(w[j], top * (1 / max)) : 0;
}

void scalar_code_sums(const struct attend *a, const struct kv_block *kv, const float *p, size_t n, float *o)
{
	const void *v = a->v_in_k ? kv->k : kv->v;
	struct weights run;

	for (size_t d = 0; d < a->dim_v; d++)
		o[d] = 0;
	for (size_t j0 = 0; j0 < n; j0 += ATTEND_RUN)
		for (size_t d = 0; d < a->dim_v; d++) {
			size_t positions = size_min(n - j0, ATTEND_RUN);
			int32_t sum = 0;

			if (d % KV_SCALED == 0)
				weigh(a, kv, p + j0, j0, positions, d / KV_SCALED, &run);
			for (size_t j = 0; j < positions; j++)
				sum += run.code[j] * code_of(a->type, v, a->v_in_k
					? kv_k_index(a->type, a->dim_k, j0 + j, d)
					: kv_v_index(a->type, a->dim_v, j0 + j, d));
			o[d] = fmaf(run.step, (float)sum, o[d]);
		}
}
