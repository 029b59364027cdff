/* dot: products with few columns, for decode: the rows are read once, straight along the mapping, a group of sixteen blocks at a time, whose
 * products lie one in each lane; so the lanes are the sixteen accumulators. Where rows run on within a group (acts.h), a row's block b is not in lane
 * b mod 16 but so many further round for all b; the closing tree adds up the same pairs either way. Included once per instruction set. */
#ifndef DOT_H
#define DOT_H

#include <string.h>

#include "acts.h"
#include "kernels.h"
#include "unpack.h"

/* Bytes ahead: far into the second cache, as the hardware's own prefetchers stop at pages, and near into the first. With the far one alone, 0.81 to 0.92
 * of the speed of a plain streaming read (an Intel core); with neither, 0.83 for Q8_0 (AMD); with 8192 and 2048 0.90 to 0.95, so far away 0.95 to 1.0. */
enum { PREFETCH_FAR = 12288, PREFETCH_NEAR = 4096 };

INLINE void prefetch(const uint8_t *p, size_t bytes)
{
	UNROLL
	for (size_t i = 0; i < bytes; i += 64) {
		__builtin_prefetch(p + PREFETCH_FAR + i, 0, 2);
		__builtin_prefetch(p + PREFETCH_NEAR + i, 0, 3);
	}
}

/* Bytes of as many sets of rows as reach PREFETCH_FAR, however narrow the rows are. */
static inline size_t sets_ahead(size_t set)
{
	return (PREFETCH_FAR + set - 1) / set * set;
}

/* For row i of a set side by side, at its byte `at`: from afar its part of what lies there in a set to come, straight along the mapping whatever the order
 * of use, as memory likes it best; and near what comes next in the row. far: sets_ahead(). */
INLINE void prefetch_side(const uint8_t *set, size_t rows, size_t row_bytes, size_t i, size_t at, size_t bytes, size_t far, size_t near)
{
	UNROLL
	for (size_t b = 0; b < bytes; b += 64) {
		__builtin_prefetch(set + far + rows * at + i * bytes + b, 0, 2);
		__builtin_prefetch(set + i * row_bytes + at + near + b, 0, 3);
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

INLINE i32x16 unbiased(i32x16 isum, const int32_t *xsum, int bias)
{
	return bias ? vi_sub(isum, vi_shl(vi_load(xsum), __builtin_ctz((unsigned)bias))) : isum;
}

/* A group's products, but for dx. */
INLINE f32x16 group_product(struct unpacker u, const b64 codes[GROUP_CHUNKS], const struct scales *s, const struct acts_group *x, int planes)
{
	const int8_t *q = (const int8_t *)(x + 1) + (u.quarters ? planes * GROUP : 0);
	int bias = u.is_signed ? SIGNED_BIAS : u.offset;
	f32x16 t, none = vf_sub(s->scale[0], s->scale[0]);      /* zero, or NaN where the scale is not finite */
	i32x16 isum[2], low[2];

	group_sums(u, codes, q, isum);
	if (planes == 2) {
		group_sums(u, codes, q + GROUP, low);
		for (int h = 0; h < 2; h++)
			isum[h] = vi_add(vi_sub(vi_shl(isum[h], 8), isum[h]), low[h]);
	}
	if (u.halves) {
		t = vf_fma(s->scale[0], vi_to_float(unbiased(isum[0], x->xsum[PART_FIRST], bias)), none);
		t = vf_fma(s->scale[1], vi_to_float(unbiased(isum[1], x->xsum[PART_SECOND], bias)), t);
		if (u.minima) {
			t = vf_fma(s->min[0], vf_load(x->fsum[PART_FIRST]), t);
			t = vf_fma(s->min[1], vf_load(x->fsum[PART_SECOND]), t);
		}
	} else {
		t = vf_fma(s->scale[0], vi_to_float(unbiased(vi_add(isum[0], isum[1]), x->xsum[PART_WHOLE], bias)), none);
		if (u.minima)
			t = vf_fma(s->min[0], vf_load(x->fsum[PART_WHOLE]), t);
	}
	return t;
}

/* Lanes of the group's blocks before b from v, the others from rest. */
INLINE f32x16 lanes_before(size_t b, f32x16 v, f32x16 rest)
{
	return vf_select_less(vf_load_i8((const int8_t *)lane_block), vf_set1((float)b), v, rest);
}

/* Closes row *r, which ends before the group's block b, and those that fit in behind it; t, dx: the group's products. How many blocks the next row, which
 * may have begun in the group, has left. */
INLINE size_t close_rows(size_t n, f32x16 *acc, const f32x16 *t, const f32x16 *dx, size_t b, size_t blocks, int runs_on, size_t *r, size_t r1, float *y,
	size_t stride)
{
	for (size_t c = 0; c < n; c++)
		acc[c] = lanes_before(b, vf_fma(dx[c], t[c], acc[c]), acc[c]);
	for (;; b += blocks) {
		for (size_t c = 0; c < n; c++) {
			y[c * stride + *r] = vd_close(acc[c]);
			acc[c] = vf_zero();
		}
		if (++*r == r1 || b == GROUP_BLOCKS || !runs_on)
			return blocks;
		for (size_t c = 0; c < n; c++)
			acc[c] = lanes_before(b, acc[c], vf_fma(dx[c], t[c], acc[c]));
		if (blocks > GROUP_BLOCKS - b)
			return blocks - (GROUP_BLOCKS - b);
		for (size_t c = 0; c < n; c++)
			acc[c] = lanes_before(b + blocks, acc[c], vf_zero());
	}
}

INLINE void dot_columns(struct unpacker u, int planes, int one, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride)
{
	size_t blocks = w->cols / 32, left = blocks, n = one ? 1 : x->n;
	const uint8_t *start = w->data, *end = start + w->rows * w->row_bytes, *p = start + r0 * w->row_bytes;
	struct acts_course course = acts_course(blocks);
	size_t step = acts_group_bytes(x->kind), column = course.groups * step, at = 0;
	uint8_t rest[GROUP_BLOCKS * 36] = { 0 };        /* the matrix's last blocks, which may end the file; one of 32 has less than 36 bytes in any format */
	f32x16 acc[FEW], t[FEW], dx[FEW];

	UNROLL
	for (int c = 0; c < FEW; c++)
		acc[c] = vf_zero();
	for (size_t r = r0; r < r1;) {
		const char *data = (const char *)x->data + at;
		const uint8_t *group = (size_t)(end - p) >= u.bytes ? p : memcpy(rest, p, (size_t)(end - p));
		b64 codes[GROUP_CHUNKS];
		struct scales s;

		prefetch(p, u.bytes);
		group_codes(u, group, codes);
		u.scales(group, &s);
		for (size_t c = 0; c < n; c++) {
			const struct acts_group *of_column = (const struct acts_group *)(data + c * column);

			t[c] = group_product(u, codes, &s, of_column, planes);
			dx[c] = vf_load(of_column->dx);
		}
		p += u.bytes;
		at = at + step < column ? at + step : 0;
		if (left > GROUP_BLOCKS) {
			for (size_t c = 0; c < n; c++)
				acc[c] = vf_fma(dx[c], t[c], acc[c]);
			left -= GROUP_BLOCKS;
			continue;
		}
		left = close_rows(n, acc, t, dx, left, blocks, course.runs_on, &r, r1, y, stride);
		if (!course.runs_on) {
			p = start + r * w->row_bytes;
			at = 0;
		}
	}
}

/* One column and rows of whole groups, two of them side by side, which share what is loaded of the column. Returns the row that is left over, or r1.
 * (AVX-512, from memory: Q4_0 and Q4_K 1.08 times as fast as row by row, Q6_K 1.05, with 16-bit activations 1.07 to 1.28.) */
INLINE size_t dot_pairs(struct unpacker u, int planes, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y)
{
	size_t groups = w->cols / GROUP, step = acts_group_bytes(x->kind), far = sets_ahead(2 * w->row_bytes);

	for (; r0 + 2 <= r1; r0 += 2) {
		const uint8_t *row = (const uint8_t *)w->data + r0 * w->row_bytes;
		f32x16 acc[2] = { vf_zero(), vf_zero() };

		for (size_t g = 0; g < groups; g++) {
			const struct acts_group *group = (const struct acts_group *)((const char *)x->data + g * step);

			UNROLL
			for (size_t i = 0; i < 2; i++) {
				const uint8_t *p = row + i * w->row_bytes + g * u.bytes;
				b64 codes[GROUP_CHUNKS];
				struct scales s;

				prefetch_side(row, 2, w->row_bytes, i, g * u.bytes, u.bytes, far, PREFETCH_NEAR);
				group_codes(u, p, codes);
				u.scales(p, &s);
				acc[i] = vf_fma(vf_load(group->dx), group_product(u, codes, &s, group, planes), acc[i]);
			}
		}
		y[r0] = vd_close(acc[0]);
		y[r0 + 1] = vd_close(acc[1]);
	}
	return r0;
}

INLINE void dot(struct unpacker u, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride)
{
	int pairs = x->n == 1 && w->cols % GROUP == 0;

	if (x->kind == ACTS_Q16)
		dot_columns(u, 2, 0, w, x, pairs ? dot_pairs(u, 2, w, x, r0, r1, y) : r0, r1, y, stride);
	else if (x->n > 1)
		dot_columns(u, 1, 0, w, x, r0, r1, y, stride);
	else if (u.is_signed)   /* bytes as they are: there memory is waited for already, and one stream of it is quicker than two */
		dot_columns(u, 1, 1, w, x, r0, r1, y, stride);
	else
		dot_columns(u, 1, 1, w, x, pairs ? dot_pairs(u, 1, w, x, r0, r1, y) : r0, r1, y, stride);
}

#endif
