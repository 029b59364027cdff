/* cache: K and V in the vector vocabulary: storing a position, and loading sixteen elements of any type. Included once
 * by each instruction set's file. */
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

/* x[n], n up to KV_SCALED, as codes `apart` from each other, and their scale. */
static void store_scaled(const float *x, size_t n, int8_t *code, size_t apart, uint16_t *scale)
{
	const f32x16 zero = vf_zero(), top = vf_set1(127), bottom = vf_set1(-127), magic = vf_set1(0x1.8p23f);
	f32x16 v[2] = { attend_some(x, n < LANES ? n : LANES), n > LANES ? attend_some(x + LANES, n - LANES) : zero };
	f32x16 most = vf_max(vf_max(v[0], vf_sub(zero, v[0])), vf_max(v[1], vf_sub(zero, v[1])));
	/* infinity minus itself is NaN, and so is NaN */
	int finite = vf_tree(vf_add(vf_sub(v[0], v[0]), vf_sub(v[1], v[1]))) == 0;
	int32_t bits[2 * LANES] = { 0 };
	float d;

	*scale = kv_scale(finite ? vf_largest(most) : INFINITY);
	d = f16_to_f32(*scale);
	for (size_t h = 0; h < 2 && d > 0; h++)
		vi_store(bits + h * LANES, vf_as_int(vf_add(vf_max(vf_min(vf_div(v[h], vf_set1(d)), top), bottom),
			magic)));
	for (size_t i = 0; i < n; i++)
		code[i * apart] = (int8_t)bits[i];      /* the low byte of n + 1.5·2^23 is that of n */
}

static void vector_kv_store(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	const float *k, const float *v)
{
	size_t k0 = j / KV_TILE * dim_k * KV_TILE + j % KV_TILE, v0 = j * dim_v;

	if (type == KV_F32) {
		for (size_t d = 0; d < dim_k; d++)
			((float *)kv->k)[k0 + d * KV_TILE] = k[d];
		memcpy((float *)kv->v + v0, v, dim_v * sizeof *v);
		return;
	}
	if (type == KV_F16) {
		for (size_t d = 0; d < dim_k; d += LANES)
			store_halves(k + d, size_min(LANES, dim_k - d), (uint16_t *)kv->k + k0 + d * KV_TILE,
				KV_TILE);
		for (size_t d = 0; d < dim_v; d += LANES)
			store_halves(v + d, size_min(LANES, dim_v - d), (uint16_t *)kv->v + v0 + d, 1);
		return;
	}
	for (size_t d = 0; d < dim_k; d += KV_SCALED)
		store_scaled(k + d, size_min(KV_SCALED, dim_k - d), (int8_t *)kv->k + k0 + d * KV_TILE, KV_TILE,
			kv->k_scale + kv_scale_index(dim_k, j, d / KV_SCALED));
	for (size_t d = 0; d < dim_v; d += KV_SCALED)
		store_scaled(v + d, size_min(KV_SCALED, dim_v - d), (int8_t *)kv->v + v0 + d, 1,
			kv->v_scale + kv_scale_index(dim_v, j, d / KV_SCALED));
}

/* ---- loading ---- */

/* Bytes of an element. */
INLINE size_t attend_size(enum kv_type type)
{
	return type == KV_F16 ? sizeof(uint16_t) : type == KV_F32 ? sizeof(float) : sizeof(int8_t);
}

/* LANES elements from i on; of q8_0 the codes, which are still to be multiplied by their scales. */
INLINE f32x16 attend_load(enum kv_type type, const void *from, size_t i)
{
	if (type == KV_F16)
		return vf_load_f16((const uint16_t *)from + i);
	return type == KV_F32 ? vf_load((const float *)from + i) : vf_load_i8((const int8_t *)from + i);
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
