/* dot: products with few columns, for decode: the rows are read once, straight along the mapping, a group of sixteen blocks at a time, whose
 * products lie one in each lane; so the lanes are the sixteen accumulators. Where rows run on within a group (acts.h), a row's block b is not in lane
 * b mod 16 but so many further round for all b; the closing tree adds up the same pairs either way. Included once per instruction set. */
#ifndef DOT_H
#define DOT_H

#include <string.h>

#include "acts.h"
#include "fwd/kernels/kernels.h"
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

/* A group unpacked, for several columns; quarters come in pairs (unpack.h). */
INLINE void group_codes(struct unpacker u, const uint8_t *p, b64 codes[GROUP_CHUNKS])
{
	UNROLL
	for (int c = 0; c < GROUP_CHUNKS; c++)
		if (!u.quarters)
			codes[c] = u.codes(p, c);
		else if (c % 2 == 0)
			u.quarters(p, c / 2, &codes[c]);
}

/* Sums of code products with the planes of a group's activations, by blocks: of first halves and second halves. The codes are unpacked already, or NULL:
 * then they are on the way. */
INLINE void half_sums(struct unpacker u, const uint8_t *p, const b64 *codes, const int8_t *x, int planes, i32x16 sum[2][2])
{
	i32x16 v[2][GROUP_CHUNKS];

	UNROLL
	for (int c = 0; c < GROUP_CHUNKS; c++) {
		b64 w = codes ? codes[c] : u.codes(p, c);

		UNROLL
		for (int i = 0; i < planes; i++) {
			b64 q = vb_load(x + i * GROUP + 64 * c);

			v[i][c] = u.is_signed ? vd_dot_signed(w, q) : vd_dot(w, q, u.top);
			vd_fold_halves(v[i], c, u.top);
		}
	}
	UNROLL
	for (int i = 0; i < planes; i++)
		vd_half_sums(v[i], u.top, &sum[i][0], &sum[i][1]);
}

/* The same with quarters, of whole blocks, and of none. */
INLINE void quarter_sums(struct unpacker u, const uint8_t *p, const b64 *codes, const int8_t *x, int planes, i32x16 sum[2][2])
{
	i32x16 v[2][GROUP_CHUNKS / 2];

	UNROLL
	for (int c = 0; c < GROUP_CHUNKS / 2; c++) {
		b64 w[2];

		if (codes)
			w[0] = codes[2 * c], w[1] = codes[2 * c + 1];
		else
			u.quarters(p, c, w);
		UNROLL
		for (int i = 0; i < planes; i++) {
			const int8_t *q = x + i * GROUP + 128 * c;

			v[i][c] = vd_dot_two(w[0], vb_load(q), w[1], vb_load(q + 64));
			vd_fold_quarters(v[i], c);
		}
	}
	UNROLL
	for (int i = 0; i < planes; i++) {
		sum[i][0] = vd_quarter_sums(v[i]);
		sum[i][1] = vi_zero();
	}
}

INLINE i32x16 unbiased(i32x16 isum, const int32_t *xsum, int bias)
{
	return bias ? vi_sub(isum, vi_shl(vi_load(xsum), __builtin_ctz((unsigned)bias))) : isum;
}

/* The sums of half_sums or quarter_sums, whichever the format has. */
INLINE void group_sums(struct unpacker u, const uint8_t *p, const b64 *codes, const struct acts_group *x, int planes, i32x16 sum[2][2])
{
	const int8_t *q = (const int8_t *)(x + 1);

	if (u.quarters)
		quarter_sums(u, p, codes, q + planes * GROUP, planes, sum);
	else
		half_sums(u, p, codes, q, planes, sum);
}

/* A group's products, but for dx, from those sums. */
INLINE f32x16 group_product(struct unpacker u, i32x16 sum[2][2], const struct scales *s, const struct acts_group *x, int planes)
{
	int bias = u.is_signed ? SIGNED_BIAS : u.offset;
	f32x16 t, none = vf_sub(s->scale[0], s->scale[0]);      /* zero, or NaN where the scale is not finite */
	i32x16 *isum = sum[0], *low = sum[1];

	if (planes == 2)
		for (int h = 0; h < 2; h++)
			isum[h] = vi_add(vi_sub(vi_shl(isum[h], 8), isum[h]), low[h]);
	if (u.scales == 2) {
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

/* The same of one column; as its codes are needed only once, DOT_AT_ONCE unpacks them where they are, and reads the scales when the sums are there. */
INLINE f32x16 group_times_one(struct unpacker u, const uint8_t *p, const struct acts_group *x, int planes)
{
	b64 codes[GROUP_CHUNKS];
	i32x16 sum[2][2];
	struct scales s;

	if (!DOT_AT_ONCE) {
		group_codes(u, p, codes);
		u.read_scales(p, &s);
	}
	group_sums(u, p, DOT_AT_ONCE ? NULL : codes, x, planes, sum);
	if (DOT_AT_ONCE)
		u.read_scales(p, &s);
	return group_product(u, sum, &s, x, planes);
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
	uint8_t rest[GROUP_BLOCKS * BLOCK_BYTES_MOST] = { 0 };  /* the matrix's last blocks, which may end the file */
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
		if (!one) {
			group_codes(u, group, codes);
			u.read_scales(group, &s);
		}
		for (size_t c = 0; c < n; c++) {
			const struct acts_group *of_column = (const struct acts_group *)(data + c * column);
			i32x16 sum[2][2];

			if (one)
				t[c] = group_times_one(u, group, of_column, planes);
			else {
				group_sums(u, group, codes, of_column, planes, sum);
				t[c] = group_product(u, sum, &s, of_column, planes);
			}
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

				prefetch_side(row, 2, w->row_bytes, i, g * u.bytes, u.bytes, far, PREFETCH_NEAR);
				acc[i] = vf_fma(vf_load(group->dx), group_times_one(u, p, group, planes), acc[i]);
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
	else if (u.bytes > GROUP)       /* a byte and more a weight: there memory is waited for already, and one stream of it is quicker than two */
		dot_columns(u, 1, 1, w, x, r0, r1, y, stride);
	else
		dot_columns(u, 1, 1, w, x, pairs ? dot_pairs(u, 1, w, x, r0, r1, y) : r0, r1, y, stride);
}

#endif
