/* dot: products with few columns, for decode: the rows are read once, straight along the mapping, a group of sixteen blocks at a time, whose
 * products lie one in each lane; so the lanes are the sixteen accumulators. Included once per instruction set. */
#ifndef DOT_H
#define DOT_H

#include <string.h>

#include "acts.h"
#include "kernels.h"
#include "unpack.h"

/* Bytes ahead: far into the second cache, as the hardware's own prefetchers stop at pages, and near into the first. With the far one alone,
 * 0.81 to 0.92 of the speed of a plain streaming read; with both, 0.88 (Q4_K) to 1.0 (Q8_0). */
enum { PREFETCH_FAR = 8192, PREFETCH_NEAR = 2048 };

INLINE void prefetch(const uint8_t *p, size_t bytes)
{
	UNROLL
	for (size_t i = 0; i < bytes; i += 64) {
		__builtin_prefetch(p + PREFETCH_FAR + i, 0, 2);
		__builtin_prefetch(p + PREFETCH_NEAR + i, 0, 3);
	}
}

INLINE void group_codes(struct unpacker u, const uint8_t *p, b64 codes[GROUP_CHUNKS])
{
	if (u.quarters)
		u.quarters(p, codes);
	else
		UNROLL
		for (int c = 0; c < GROUP_CHUNKS; c++)
			codes[c] = u.codes(p, c);
}

/* Sums of code products with one plane of a group's activations, by blocks: of first halves and second halves; with quarters, of both and none. */
INLINE void group_sums(struct unpacker u, const b64 codes[GROUP_CHUNKS], const int8_t *x, i32x16 sum[2])
{
	i32x16 v[GROUP_CHUNKS];

	if (u.quarters) {
		UNROLL
		for (int i = 0; i < 4; i++)
			v[i] = vd_dot_two(codes[2 * i], vb_load(x + 128 * i), codes[2 * i + 1], vb_load(x + 128 * i + 64));
		sum[0] = vd_quarter_sums(v);
		sum[1] = vi_zero();
		return;
	}
	UNROLL
	for (int c = 0; c < GROUP_CHUNKS; c++) {
		b64 q = vb_load(x + 64 * c);

		v[c] = u.is_signed ? vd_dot_signed(codes[c], q) : vd_dot(codes[c], q, u.top);
	}
	vd_half_sums(v, u.top, &sum[0], &sum[1]);
}

/* The integer as a float and what to add to its product with the scale: with one plane the integer is made as the float MAGIC_FLOAT + isum, and
 * scale·MAGIC_FLOAT, which is exact, is taken away in the fma; with two it is converted. Either way a scale that is not finite makes a NaN. */
INLINE f32x16 scaled(f32x16 scale, i32x16 isum, i32x16 xsum, int bias, int planes)
{
	if (bias)
		isum = vi_sub(isum, vi_shl(xsum, __builtin_ctz((unsigned)bias)));
	if (planes == 2)
		return vf_fma(scale, vi_to_float(isum), vf_sub(scale, scale));
	return vf_fma(scale, vi_as_float(vi_add(isum, vi_set1(MAGIC))), vf_mul(scale, vf_set1(-MAGIC_FLOAT)));
}

/* acc + a group's products */
INLINE f32x16 group_product(struct unpacker u, const b64 codes[GROUP_CHUNKS], const struct scales *s, const struct acts_group *x, int planes, f32x16 acc)
{
	const int8_t *q = (const int8_t *)(x + 1) + (u.quarters ? planes * GROUP : 0);
	int bias = u.is_signed ? SIGNED_BIAS : u.offset;
	i32x16 isum[2], low[2], first = vi_load(x->xsum[0]), second = vi_load(x->xsum[1]), both = vi_add(first, second);
	f32x16 t;

	group_sums(u, codes, q, isum);
	if (planes == 2) {
		group_sums(u, codes, q + GROUP, low);
		for (int h = 0; h < 2; h++)
			isum[h] = vi_add(vi_sub(vi_shl(isum[h], 8), isum[h]), low[h]);
	}
	if (u.halves) {
		t = scaled(s->scale[0], isum[0], first, bias, planes);
		if (bias)
			isum[1] = vi_sub(isum[1], vi_shl(second, __builtin_ctz((unsigned)bias)));
		t = vf_fma(s->scale[1], vi_to_float(isum[1]), t);
		if (u.minima) {
			t = vf_fma(s->min[0], vi_to_float(first), t);
			t = vf_fma(s->min[1], vi_to_float(second), t);
		}
	} else {
		t = scaled(s->scale[0], vi_add(isum[0], isum[1]), both, bias, planes);
		if (u.minima)
			t = vf_fma(s->min[0], vi_to_float(both), t);
	}
	return vf_fma(vf_load(x->dx), t, acc);
}

/* A row's last group, of fewer than sixteen blocks, is read from a copy filled up with zeros. */
INLINE void dot_columns(struct unpacker u, int planes, int one, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride)
{
	size_t blocks = w->cols / 32, groups = (blocks + 15) / 16, whole = blocks / 16, n = one ? 1 : x->n;
	size_t step = acts_group_bytes(x->kind);
	const char *data = x->data;
	uint8_t rest[GROUP_BLOCKS * 36] = { 0 };        /* a block of 32 of any format has less than 36 bytes */

	for (size_t r = r0; r < r1; r++) {
		const uint8_t *row = (const uint8_t *)w->data + r * w->row_bytes;
		f32x16 acc[FEW];

		UNROLL
		for (int c = 0; c < FEW; c++)
			acc[c] = vf_zero();
		if (groups > whole)
			memcpy(rest, row + whole * u.bytes, w->row_bytes - whole * u.bytes);
		for (size_t g = 0; g < groups; g++) {
			const uint8_t *p = g < whole ? row + g * u.bytes : rest;
			b64 codes[GROUP_CHUNKS];
			struct scales s;

			prefetch(p, u.bytes);
			group_codes(u, p, codes);
			u.scales(p, &s);
			for (size_t c = 0; c < n; c++)
				acc[c] = group_product(u, codes, &s, (const struct acts_group *)(data + (c * groups + g) * step), planes, acc[c]);
		}
		for (size_t c = 0; c < n; c++)
			y[c * stride + r] = vd_close(acc[c]);
	}
}

INLINE void dot(struct unpacker u, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride)
{
	if (x->kind == ACTS_Q16)
		dot_columns(u, 2, 0, w, x, r0, r1, y, stride);
	else if (x->n > 1)
		dot_columns(u, 1, 0, w, x, r0, r1, y, stride);
	else
		dot_columns(u, 1, 1, w, x, r0, r1, y, stride);
}

#endif
