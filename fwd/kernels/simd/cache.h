/* cache: K and V in the vector vocabulary: storing a position, and loading sixteen floats. Included once by each
 * instruction set's file. */
#ifndef CACHE_H
#define CACHE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/half.h"
#include "lib/base/size.h"
#include "elementwise.h"
#include "fwd/kernels/kernels.h"
#include "lanes.h"

/* ---- storing ---- */

/* x[n], n up to LANES, followed by zeros. */
static f32x16 attend_some(const float *x, size_t n)
{
	return n < LANES ? vf_load_n(x, n) : vf_load(x);
}

/* x[n], n up to LANES, as halves `apart` from each other. */
static void store_halves(const float *x, size_t n, uint16_t *to, size_t apart)
{
	uint16_t half[LANES];

	vf_store_f16(half, attend_some(x, n));
	for (size_t i = 0; i < n; i++)
		to[i * apart] = half[i];
}

/* x[n], n up to KV_SCALED, as codes, followed by zeros. Returns their scale. */
static uint16_t make_codes(const float *x, size_t n, int8_t code[KV_SCALED])
{
	const f32x16 zero = vf_zero(), top = vf_set1(127), bottom = vf_set1(-127), magic = vf_set1(0x1.8p23f);
	f32x16 v[2] = { attend_some(x, n < LANES ? n : LANES), n > LANES ? attend_some(x + LANES, n - LANES) : zero };
	f32x16 most = vf_max(vf_max(v[0], vf_sub(zero, v[0])), vf_max(v[1], vf_sub(zero, v[1])));
	/* infinity minus itself is NaN, and so is NaN */
	int finite = vf_tree(vf_add(vf_sub(v[0], v[0]), vf_sub(v[1], v[1]))) == 0;
	uint16_t scale = kv_scale(finite ? vf_largest(most) : INFINITY);
	int32_t bits[2 * LANES] = { 0 };
	float d = f16_to_f32(scale);

	for (size_t h = 0; h < 2 && d > 0 && d < INFINITY; h++)
		vi_store(bits + h * LANES, vf_as_int(vf_add(vf_max(vf_min(vf_div(v[h], vf_set1(d)), top), bottom),
			magic)));
	for (size_t i = 0; i < KV_SCALED; i++)
		code[i] = (int8_t)bits[i];      /* the low byte of n + 1.5·2^23 is that of n */
	return scale;
}

static void store_codes(const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j, const float *k, const float *v)
{
	int8_t code[KV_SCALED];

	for (size_t d = 0; d < dim_k; d += KV_SCALED) {
		kv->k_scale[kv_scale_index(dim_k, j, d / KV_SCALED)] = make_codes(k + d, size_min(KV_SCALED,
			dim_k - d), code);
		for (size_t i = 0; i < KV_SCALED && d + i < dim_k; i += KV_FOUR)
			memcpy((int8_t *)kv->k + kv_k_index(KV_Q8_0, dim_k, j, d + i), code + i, KV_FOUR);
	}
	for (size_t d = 0; d < dim_v; d += KV_SCALED) {
		size_t n = size_min(KV_SCALED, dim_v - d);
		int8_t *to = (int8_t *)kv->v + kv_v_index(KV_Q8_0, dim_v, j, d);

		kv->v_scale[kv_scale_index(dim_v, j, d / KV_SCALED)] = make_codes(v + d, n, code);
		for (size_t i = 0; i < n; i++)
			to[i * KV_FOUR] = code[i];
	}
}

static void vector_kv_store(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	const float *k, const float *v)
{
	size_t k0 = j / KV_TILE * dim_k * KV_TILE + j % KV_TILE, v0 = j * dim_v;

	if (type == KV_Q8_0) {
		store_codes(kv, dim_k, dim_v, j, k, v);
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
