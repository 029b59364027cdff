/* rows: what decode.c and columns.c share: the product of a span once its integer sums are known, and the ends of rows.
 * A span's products lie one in each lane: the lanes are the sixteen accumulators. In a run of several rows (struct
 * row_run), block b of a row is not in lane b mod 16 but rotated by the same amount for every b; the closing tree then
 * adds the same pairs. */
#ifndef ROWS_H
#define ROWS_H

#include "acts.h"
#include "product.h"
#include "unpack.h"

/* The numbers of a type: all that multiplying depends on once they are unpacked. */
struct numbers {
	int scales, minima;             /* of a block */
	int is_signed, top;             /* as in struct unpacker */
	int bias;                       /* what is added to the codes */
};

INLINE struct numbers numbers_of(struct unpacker u)
{
	return (struct numbers){ u.scales, u.minima, u.is_signed, u.top, u.is_signed ? SIGNED_BIAS : u.offset };
}

/* What the bias of the codes adds to sums of products. */
INLINE i32x16 biased_by(const struct acts_span *x, enum block_sum part, int bias)
{
	return vi_shl(vi_load(x->xsum[part]), __builtin_ctz((unsigned)bias));
}

/* Sums of products as floats, without the bias of the codes. With one plane of activations all of it is exact in float
 * too, where that takes one instruction less. */
INLINE f32x16 unbiased(i32x16 isum, const struct acts_span *x, enum block_sum part, int bias)
{
	if (!bias)
		return vi_to_float(isum);
	if (PLANES == 1)
		return vf_fma(vf_set1((float)-bias), vf_load(x->fsum[part]), vi_to_float(isum));
	return vi_to_float(vi_sub(isum, biased_by(x, part, bias)));
}

/* The products of a span's blocks, before dx, from the sums[plane][half]. */
INLINE f32x16 span_product(struct numbers of, i32x16 sum[2][2], const struct scales *s, const struct acts_span *x)
{
	f32x16 t = vf_sub(s->scale[0], s->scale[0]);    /* zero, or NaN where the scale is not finite */
	i32x16 *isum = sum[0], *low = sum[1];

	if (PLANES == 2)
		for (int h = 0; h < 2; h++)
			isum[h] = vi_add(vi_sub(vi_shl(isum[h], 8), isum[h]), low[h]);
	if (of.scales == 2) {
		t = vf_fma(s->scale[0], unbiased(isum[0], x, FIRST_HALF, of.bias), t);
		t = vf_fma(s->scale[1], unbiased(isum[1], x, SECOND_HALF, of.bias), t);
		if (of.minima) {
			t = vf_fma(s->min[0], vf_load(x->fsum[FIRST_HALF]), t);
			t = vf_fma(s->min[1], vf_load(x->fsum[SECOND_HALF]), t);
		}
	} else {
		t = vf_fma(s->scale[0], unbiased(vi_add(isum[0], isum[1]), x, WHOLE_BLOCK, of.bias), t);
		if (of.minima)
			t = vf_fma(s->min[0], vf_load(x->fsum[WHOLE_BLOCK]), t);
	}
	return t;
}

/* Lanes of the span's blocks before b from v, the others from rest. */
INLINE f32x16 lanes_before(size_t b, f32x16 v, f32x16 rest)
{
	return vf_select_less(vf_load_i8((const int8_t *)lane_block), vf_set1((float)b), v, rest);
}

/* A row ends before block b of the span to be added next: puts the row's sums in the lanes from there on aside, so that
 * these lanes take the sums of the row after it. */
INLINE void split_rows(size_t b, f32x16 *acc, f32x16 *aside)
{
	*aside = lanes_before(b, vf_zero(), *acc);
	*acc = lanes_before(b, *acc, vf_zero());
}

/* After the span is added: closes the row that ends before block b, and any further rows of `blocks` blocks that end in
 * the span: y[ended]. acc keeps the sums of the row that goes on. */
INLINE void end_rows(size_t b, f32x16 *acc, f32x16 aside, size_t blocks, size_t ended, float *y)
{
	f32x16 row = lanes_before(b, *acc, aside);

	for (;; b += blocks) {
		*y++ = vd_close(row);
		*acc = lanes_before(b, vf_zero(), *acc);
		if (--ended == 0)
			return;
		row = lanes_before(b + blocks, *acc, vf_zero());
	}
}

/* The number of rows that end in a span. The first has `left` blocks left, the others have `blocks` blocks. */
INLINE size_t rows_ended(size_t left, size_t blocks)
{
	return left > SPAN_BLOCKS ? 0 : 1 + (SPAN_BLOCKS - left) / blocks;
}

/* If rows end in a span, the number of blocks after the last end: they begin the row that goes on. */
INLINE size_t blocks_begun(size_t left, size_t blocks)
{
	return (SPAN_BLOCKS - left) % blocks;
}

#endif
