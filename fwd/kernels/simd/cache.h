/* cache: K and V in the vector vocabulary: storing a position, and loading sixteen floats. Included once by each
 * instruction set's file. */
#ifndef CACHE_H
#define CACHE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/half.h"
#include "lib/base/size.h"
#include "acts.h"
#include "elementwise.h"
#include "fwd/kernels/kernels.h"
#include "lanes.h"

/* ---- storing ---- */

/* x[n], n up to LANES, followed by zeros. */
static f32x16 attend_some(const float *x, size_t n)
{
	return n < LANES ? vf_load_n(x, n) : vf_load(x);
}

/* Stores x[n], n up to LANES, as f16, each `apart` elements after the one before. */
static void store_halves(const float *x, size_t n, uint16_t *to, size_t apart)
{
	uint16_t half[LANES];

	vf_store_f16(half, attend_some(x, n));
	for (size_t i = 0; i < n; i++)
		to[i * apart] = half[i];
}

/* y[block] = x[block] rotated, block from 32 on; room: as much. Each stage puts sums first and differences after them;
 * after the last one, elements are where they were before the first. */
static void rotate_block(const float *x, size_t block, float *room, float *y)
{
	const f32x16 unit = vf_set1(1 / sqrtf((float)block));
	float *to = room;

	for (size_t stage = 1; stage < block; stage *= 2, x = to, to = to == y ? room : y)
		for (size_t i = 0; i < block / 2; i += LANES) {
			f32x16 a, b;

			vf_load_pairs(x + 2 * i, &a, &b);
			vf_store(to + i, vf_add(a, b));
			vf_store(to + i + block / 2, vf_sub(a, b));
		}
	for (size_t i = 0; i < block; i += LANES)
		vf_store(y + i, vf_mul(vf_load(x + i), unit));
}

/* The same in place, for blocks that are shorter than two vectors. */
static void rotate_few(float *x, size_t block)
{
	for (size_t apart = 1; apart < block; apart *= 2)
		for (size_t i = 0; i < block; i++)
			if (!(i & apart)) {
				float a = x[i], b = x[i + apart];

				x[i] = a + b;
				x[i + apart] = a - b;
			}
	for (size_t i = 0; i < block; i++)
		x[i] *= 1 / sqrtf((float)block);
}

/* Rotates x[n] in place, in blocks (kv_rotated()). */
static void cache_rotate(float *x, size_t n, size_t block)
{
	float copy[KV_DIM_MOST], room[KV_DIM_MOST];

	for (; n; n -= block, x += block)
		if (block < 2 * LANES)
			rotate_few(x, block);
		else {
			memcpy(copy, x, block * sizeof *x);
			rotate_block(copy, block, room, x);
		}
}

struct elements {       /* KV_SCALED elements; zeros fill them up */
	f32x16 v[2];
};

static struct elements elements_of(const float *x, size_t n)
{
	return (struct elements){ { attend_some(x, n < LANES ? n : LANES),
		n > LANES ? attend_some(x + LANES, n - LANES) : vf_zero() } };
}

/* x − x is 0, or NaN where x is not finite. */
static int elements_finite(struct elements x)
{
	return vf_tree(vf_add(vf_sub(x.v[0], x.v[0]), vf_sub(x.v[1], x.v[1]))) == 0;
}

/* Codes of eight bits. Returns their scale. */
static uint16_t make_bytes(struct elements x, int8_t code[KV_SCALED])
{
	const f32x16 zero = vf_zero(), top = vf_set1(127), bottom = vf_set1(-127), magic = vf_set1(MAGIC_FLOAT);
	f32x16 most = vf_max(vf_max(x.v[0], vf_sub(zero, x.v[0])), vf_max(x.v[1], vf_sub(zero, x.v[1])));
	uint16_t scale = kv_scale(elements_finite(x) ? vf_largest(most) : INFINITY);
	int32_t bits[2 * LANES] = { 0 };
	float d = f16_to_f32(scale);

	for (size_t h = 0; h < 2 && d > 0 && d < INFINITY; h++)
		vi_store(bits + h * LANES, vf_as_int(vf_add(vf_max(vf_min(vf_div(x.v[h], vf_set1(d)), top), bottom),
			magic)));
	for (size_t i = 0; i < KV_SCALED; i++)
		code[i] = (int8_t)bits[i];      /* the low byte of n + 1.5·2^23 is that of n */
	return scale;
}

/* From -8 to 7. */
static f32x16 four_bits(f32x16 x, float d)
{
	const f32x16 magic = vf_set1(MAGIC_FLOAT);
	f32x16 n = vf_sub(vf_fma(x, vf_set1(1 / d), magic), magic);

	return vf_max(vf_min(n, vf_set1(7)), vf_set1(-8));
}

static float squared_error(struct elements x, float d)
{
	f32x16 sum = vf_zero();

	for (size_t h = 0; h < 2; h++) {
		f32x16 e = vf_fma(vf_set1(-d), four_bits(x.v[h], d), x.v[h]);

		sum = vf_fma(e, e, sum);
	}
	return vf_tree(sum);
}

/* Codes of four bits. Returns their scale. */
static uint16_t make_fours(struct elements x, int8_t code[KV_SCALED])
{
	const f32x16 zero = vf_zero();
	float high = vf_largest(vf_max(vf_max(x.v[0], x.v[1]), zero)), least = 0, d;
	float low = vf_largest(vf_max(vf_max(vf_sub(zero, x.v[0]), vf_sub(zero, x.v[1])), zero));
	float most = low > high ? low : high;
	int32_t bits[2 * LANES];
	uint16_t scale = 0;

	memset(code, 0, KV_SCALED);
	if (!elements_finite(x) || !(most < KV_MOST))
		return f32_to_f16(INFINITY);
	if (most < KV_LEAST)
		return 0;
	for (size_t i = 0; i < KV_STEPS; i++) {
		uint16_t half = f32_to_f16((low > high ? -low : high) * kv_steps[i]);
		float error = squared_error(x, f16_to_f32(half));

		if (i == 0 || error < least)
			least = error, scale = half;
	}
	d = f16_to_f32(scale);
	for (size_t h = 0; h < 2; h++)
		vi_store(bits + h * LANES, vf_as_int(vf_add(four_bits(x.v[h], d), vf_set1(MAGIC_FLOAT + 8))));
	for (size_t i = 0; i < KV_SCALED; i++)
		code[i] = (int8_t)bits[i];
	return scale;
}

/* x[n], n up to KV_SCALED, as codes, followed by zeros. Returns their scale. */
static uint16_t make_codes(enum kv_type type, const float *x, size_t n, int8_t code[KV_SCALED])
{
	uint16_t scale = (type == KV_Q4_0 ? make_fours : make_bytes)(elements_of(x, n), code);

	memset(code + n, 0, KV_SCALED - n);
	return scale;
}

/* Puts n codes where element d of K or of V of position j begins; q4_0: all KV_SCALED. */
static void put_keys(enum kv_type type, void *k, size_t dim_k, size_t j, size_t d, const int8_t code[KV_SCALED],
	size_t n)
{
	for (size_t i = 0; i < KV_SCALED / 2 && type == KV_Q4_0; i++)
		((uint8_t *)k)[kv_k_index(type, dim_k, j, d + i) / 2]
			= (uint8_t)(code[i] | code[i + KV_SCALED / 2] << 4);
	for (size_t i = 0; i < n && type == KV_Q8_0; i += KV_FOUR)
		memcpy((int8_t *)k + kv_k_index(type, dim_k, j, d + i), code + i, KV_FOUR);
}

static void put_values(enum kv_type type, void *v, size_t dim_v, size_t j, size_t d, const int8_t code[KV_SCALED],
	size_t n)
{
	uint8_t *to = (uint8_t *)v + kv_v_index(type, dim_v, j, d) / (type == KV_Q4_0 ? 2 : 1);

	for (size_t i = 0; i < KV_SCALED / 2 && type == KV_Q4_0; i++)
		to[i * KV_FOUR] = (uint8_t)(code[i] | code[i + KV_SCALED / 2] << 4);
	for (size_t i = 0; i < n && type == KV_Q8_0; i++)
		to[i * KV_FOUR] = (uint8_t)code[i];
}

/* K or V of position j: rotated, rounded, and put where put_keys() or put_values() says. */
INLINE void store_part(enum kv_type type, void *codes, uint16_t *scale, size_t dim, size_t j, const float *from,
	void (*put)(enum kv_type, void *, size_t, size_t, size_t, const int8_t *, size_t))
{
	float x[KV_DIM_MOST];
	int8_t code[KV_SCALED];

	memcpy(x, from, dim * sizeof *x);
	cache_rotate(x, dim, kv_rotated(dim));
	for (size_t d = 0; d < dim; d += KV_SCALED) {
		size_t n = size_min(KV_SCALED, dim - d);

		scale[kv_scale_index(dim, j, d / KV_SCALED)] = make_codes(type, x + d, n, code);
		put(type, codes, dim, j, d, code, n);
	}
}

static void store_codes(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	const float *k, const float *v)
{
	store_part(type, kv->k, kv->k_scale, dim_k, j, k, put_keys);
	store_part(type, kv->v, kv->v_scale, dim_v, j, v, put_values);
}

static void vector_kv_store(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	const float *k, const float *v)
{
	size_t k0 = j / KV_TILE * dim_k * KV_TILE + j % KV_TILE, v0 = j * dim_v;

	if (kv_coded(type)) {
		store_codes(type, kv, dim_k, dim_v, j, k, v);
		return;
	}
	if (type == KV_F32) {
		for (size_t d = 0; d < dim_k; d++)
			((float *)kv->k)[k0 + d * KV_TILE] = k[d];
		memcpy((float *)kv->v + v0, v, dim_v * sizeof *v);
		return;
	}
	for (size_t d = 0; d < dim_k; d += LANES)
		store_halves(k + d, size_min(LANES, dim_k - d), (uint16_t *)kv->k + k0 + d * KV_TILE, KV_TILE);
	for (size_t d = 0; d < dim_v; d += LANES)
		store_halves(v + d, size_min(LANES, dim_v - d), (uint16_t *)kv->v + v0 + d, 1);
}

/* ---- loading ---- */

/* Bytes of an element, which is a float. */
INLINE size_t attend_size(enum kv_type type)
{
	return type == KV_F16 ? sizeof(uint16_t) : sizeof(float);
}

/* LANES elements from i on. */
INLINE f32x16 attend_load(enum kv_type type, const void *from, size_t i)
{
	return type == KV_F16 ? vf_load_f16((const uint16_t *)from + i) : vf_load((const float *)from + i);
}

static f32x16 attend_load_n(enum kv_type type, const void *from, size_t i, size_t n)
{
	float some[LANES] = { 0 };

	memcpy(some, (const char *)from + i * attend_size(type), n * attend_size(type));
	return attend_load(type, some, 0);
}

/* Prefetches this many bytes. */
INLINE void attend_ahead(const char *from, size_t bytes)
{
	UNROLL
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch(from + i, 0, 2);
}

#endif
