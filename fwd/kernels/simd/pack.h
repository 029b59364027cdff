/* pack: quantises activations and packs them for products, with the arithmetic of spec/scalar_product.c. It quantises
 * sixteen blocks of a column at a time, one in each lane. acts.h has the layouts. */
#ifndef PACK_H
#define PACK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "fwd/kernels/quantise_rule.h"
#include "acts.h"
#include "bf16_pack.h"

/* ---- sixteen blocks ---- */

struct quantised {
	int32_t ints[2][8][16];         /* [plane][four codes, or two of 16 bits][block] */
	int32_t xsum[2][16];
	int32_t pairs[4][16];           /* of quarters: sums of integers 0 and 1 of each four, of 2 and 3; 16 bits */
	float dx[16];
};

/* x·inverse rounded to the nearest integer, plus MAGIC_FLOAT: the integer's low byte is the float's. */
static inline f32x16 nearest_magic(f32x16 x, f32x16 inverse)
{
	return vf_fma(x, inverse, vf_set1(MAGIC_FLOAT));
}

/* 1 / the best step, by the search of spec/scalar_product.c. */
static f32x16 best_inverse(float (*x)[16], f32x16 unit)
{
	const f32x16 magic = vf_set1(MAGIC_FLOAT);
	f32x16 inverse[ACTS_STEPS], error[ACTS_STEPS], best, least;

	UNROLL
	for (int i = 0; i < ACTS_STEPS; i++) {
		inverse[i] = vf_mul(vf_set1((float)(127 - i)), unit);
		error[i] = vf_zero();
	}
	for (int e = 0; e < 32; e++) {
		f32x16 v = vf_load(x[e]);

		UNROLL
		for (int i = 0; i < ACTS_STEPS; i++) {
			f32x16 d = vf_fma(v, inverse[i], vf_sub(magic, vf_fma(v, inverse[i], magic)));

			error[i] = vf_fma(d, d, error[i]);
		}
	}
	best = inverse[0];
	least = error[0];
	UNROLL
	for (int i = 1; i < ACTS_STEPS; i++) {
		f32x16 scaled = vf_mul(error[i], vf_set1(acts_step_square[i]));

		best = vf_select_less(scaled, least, inverse[i], best);
		least = vf_select_less(scaled, least, scaled, least);
	}
	return best;
}

/* The low bytes of four vectors, side by side. */
static inline i32x16 low_bytes(const f32x16 v[4])
{
	const i32x16 byte = vi_set1(255);
	i32x16 a = vi_or(vi_and(vf_as_int(v[0]), byte), vi_shl(vi_and(vf_as_int(v[1]), byte), 8));

	return vi_or(a, vi_or(vi_shl(vi_and(vf_as_int(v[2]), byte), 16), vi_shl(vf_as_int(v[3]), 24)));
}

/* The low 16 bits of two vectors, side by side. */
static inline i32x16 low_i16s(f32x16 a, f32x16 b)
{
	return vi_or(vi_and(vf_as_int(a), vi_set1(0xffff)), vi_shl(vf_as_int(b), 16));
}

/* Quantises x[512], sixteen blocks. kind is Q8 or Q16; i16: as int16 rather than as bytes. */
INLINE void quantise(enum acts_kind kind, int i16, const float *x, struct quantised *o)
{
	const f32x16 magic = vf_set1(MAGIC_FLOAT), zero = vf_zero(), infinity = vf_set1(INFINITY);
	float t[32][16];
	i32x16 v[16], bits = vi_zero();
	f32x16 max, ok, inverse, xq = zero, qq = zero, sum[4][2];

	for (int i = 0; i < 4; i++)
		sum[i][0] = sum[i][1] = zero;

	for (int half = 0; half < 2; half++) {
		UNROLL
		for (int i = 0; i < 16; i++)
			v[i] = vf_as_int(vf_load(x + 32 * i + 16 * half));
		vi_transpose(v);
		UNROLL
		for (int i = 0; i < 16; i++) {
			vf_store(t[16 * half + i], vi_as_float(v[i]));
			/* magnitudes compare the same as integers, with NaN above infinity */
			bits = vi_max(bits, vi_and(v[i], vi_set1(0x7fffffff)));
		}
	}
	max = vi_as_float(bits);
	/* all ones for a block that is quantised; the integers of the other blocks become zeros */
	ok = vf_select_less(max, infinity, vi_as_float(vi_set1(-1)), zero);
	ok = vf_select_less(max, vf_set1(ACTS_LEAST), zero, ok);
	inverse = vf_div(vf_set1(1), max);
	inverse = kind == ACTS_Q8 ? best_inverse(t, inverse) : vf_mul(vf_set1(32512), inverse);
	for (int e = 0; e < 32; e += 4) {
		f32x16 low[4], high[4];

		UNROLL
		for (int i = 0; i < 4; i++) {
			f32x16 a = vf_load(t[e + i]), q;

			low[i] = nearest_magic(a, inverse);
			q = vf_sub(low[i], magic);
			if (kind == ACTS_Q8) {
				xq = vf_fma(a, q, xq);
				qq = vf_fma(q, q, qq);
			}
			sum[e / 8][i / 2] = vf_add(sum[e / 8][i / 2], q);
			if (kind == ACTS_Q16 && !i16) {
				high[i] = nearest_magic(q, vf_set1(1 / 255.0f));
				low[i] = vf_add(vf_fma(vf_sub(high[i], magic), vf_set1(-255), q), magic);
			}
		}
		if (i16) {
			vi_store(o->ints[0][e / 4], vi_and(low_i16s(low[0], low[2]), vf_as_int(ok)));
			vi_store(o->ints[1][e / 4], vi_and(low_i16s(low[1], low[3]), vf_as_int(ok)));
			continue;
		}
		if (kind == ACTS_Q16)
			vi_store(o->ints[0][e / 4], vi_and(low_bytes(high), vf_as_int(ok)));
		vi_store(o->ints[acts_planes(kind) - 1][e / 4], vi_and(low_bytes(low), vf_as_int(ok)));
	}
	for (int i = 0; TILE_PAIRS && i < 4; i++)
		vi_store(o->pairs[i], vi_and(low_i16s(vf_add(sum[i][0], magic), vf_add(sum[i][1], magic)),
		                             vf_as_int(ok)));
	for (int half = 0; half < 2; half++) {
		f32x16 *p = sum[2 * half], *q = sum[2 * half + 1], all = vf_add(vf_add(p[0], p[1]), vf_add(q[0], q[1]));

		vi_store(o->xsum[half], vi_and(vi_sub(vf_as_int(vf_add(all, magic)), vi_set1(MAGIC)), vf_as_int(ok)));
	}
	max = kind == ACTS_Q8 ? vf_div(xq, qq) : vf_mul(max, vf_set1(1 / 32512.0f));
	max = vf_select_less(vi_as_float(bits), infinity, max, vf_set1(NAN));
	vf_store(o->dx, vf_select_less(vi_as_float(bits), vf_set1(ACTS_LEAST), zero, max));
}

/* ---- layouts ---- */

static size_t vector_acts_bytes(enum acts_kind kind, size_t k, size_t n)
{
	size_t few = 0, tiles = 0;

	if (acts_bf16(kind))
		return bf16_acts_bytes(kind, k, n);
	/* fewer columns may take more room than more: those of decode.c come in several orders */
	for (size_t c = 1; c <= size_min(n, most_few(kind, k)); c++)
		few = size_max(few, kind == ACTS_F32 ? (k + 15) / 16 * 16 * c * sizeof(float)
		                    : row_run_of(k / 32).spans * acts_spans_bytes(acts_planes(kind), c));
	if (!acts_few(kind, k, n))
		tiles = kind == ACTS_F32 ? tile_columns(n) * k * sizeof(float)
		        : (acts_block_ints(kind, tile_columns(n)) + EXTRAS * tile_columns(n)) * (k / 32) * 4;
	return (size_max(few, tiles) + 63) / 64 * 64;
}

/* A block of a column, quantised. */
struct quantised_block {
	int32_t xsum[BLOCK_SUMS];
	float fsum[BLOCK_SUMS], dx;
	int32_t codes[2][8];    /* [plane] */
};

INLINE struct quantised_block take_block(const struct quantised *q, size_t planes, size_t i)
{
	struct quantised_block b = { .dx = q->dx[i],
		.xsum = { q->xsum[0][i], q->xsum[1][i], q->xsum[0][i] + q->xsum[1][i] } };

	for (int part = 0; part < BLOCK_SUMS; part++)
		b.fsum[part] = (float)b.xsum[part];
	for (size_t p = 0; p < planes; p++)
		for (int j = 0; j < 8; j++)
			b.codes[p][j] = q->ints[p][j][i];
	return b;
}

/* Stores the integers of block b of a span in these orders, a bit each, `step` bytes apart. */
INLINE void place_orders(const int32_t codes[8], unsigned orders, int8_t *to, size_t step, size_t b)
{
	int8_t eight[8];

	for (size_t j = 0; PAIRS && orders >> ORDER_FIELDS & 1 && j < 4; j++)
		memcpy(to + ORDER_FIELDS * step + field_place(b, j), codes + 2 * j, 8);
	for (size_t j = 0; PAIRS && orders >> ORDER_GROUPS & 1 && j < 4; j++)
		memcpy(to + ORDER_GROUPS * step + group_place(b, j), codes + 2 * j, 8);
	if (orders >> ORDER_PLAIN & 1)
		memcpy(to + ORDER_PLAIN * step + b * 32, codes, 32);
	for (size_t h = 0; orders >> ORDER_QUARTERS & 1 && h < 2; h++)
		memcpy(to + ORDER_QUARTERS * step + quarter_place(b, h), codes + 4 * h, 16);
	for (size_t j = 0; EIGHTS && orders >> ORDER_EIGHTS & 1 && j < 4; j++) {
		memcpy(eight, codes + 2 * j, 8);
		memcpy(to + ORDER_EIGHTS * step + eight_place(b, j), eight, 8);
		for (int i = 0; i < 8; i++)
			eight[i] = (int8_t)abs(eight[i]);
		memcpy(to + ORDER_MAGNITUDES * step + eight_place(b, j), eight, 8);
	}
}

/* Stores a block as number b of the span of column c of n, whose spans start at `spans`; transposed, and in these
 * orders. */
INLINE void place_block(const struct quantised_block *from, size_t planes, unsigned orders, char *spans, size_t c,
                        size_t n, size_t b)
{
	struct acts_span *to = (struct acts_span *)(spans + c * acts_span_bytes(planes));
	int8_t *ordered = (int8_t *)spans + n * acts_span_bytes(planes) + c * planes * SPAN;
	size_t lane = block_lane(b);

	for (int part = 0; part < BLOCK_SUMS; part++) {
		to->xsum[part][lane] = from->xsum[part];
		to->fsum[part][lane] = from->fsum[part];
	}
	to->dx[lane] = from->dx;
	for (size_t p = 0; p < planes; p++) {
		int32_t *lanes = (int32_t *)(to + 1) + p * SPAN / 4;

		for (size_t j = 0; j < 8; j++)
			lanes[16 * j + lane] = from->codes[p][j];
		place_orders(from->codes[p], orders, ordered + p * SPAN, n * planes * SPAN, b);
	}
}

/* Stores sixteen blocks of column c, from block 16·g on, once for each row of a run (struct row_run). */
static void place_span(struct acts *a, const struct quantised *q, size_t c, size_t g)
{
	size_t blocks = a->k / 32, planes = acts_planes(a->kind), bytes = acts_spans_bytes(planes, a->n);
	unsigned orders = acts_decoded(planes, a->n) ? orders_for(a->formats) : 0;
	struct row_run run = row_run_of(blocks);

	for (size_t i = 0; i < SPAN_BLOCKS && (!run.contiguous || g * SPAN_BLOCKS + i < blocks); i++) {
		struct quantised_block block = take_block(q, planes, i);

		for (size_t at = g * SPAN_BLOCKS + i, row = 0; row < run.rows; row++, at += blocks)
			place_block(&block, planes, orders, (char *)a->data + at / SPAN_BLOCKS * bytes, c, a->n,
			            at % SPAN_BLOCKS);
	}
}

/* Stores v[column], whose lanes are blocks: the first `count` of them, block b at to + first[b] * ints. */
INLINE void place_ints(i32x16 v[16], int32_t *to, const size_t first[16], size_t ints, size_t count, size_t columns)
{
	vi_transpose(v);
	for (size_t b = 0; b < count; b++)
		vi_store_n(to + first[b] * ints, v[b], columns);
}

/* Stores xsum[columns] as floats. */
INLINE void place_xsum(int32_t *to, size_t columns, i32x16 xsum)
{
	vi_store_n(to, vf_as_int(vi_to_float(xsum)), columns);
}

/* Stores the integers that undo a bias of TILE_BIAS. */
INLINE void place_undo(int32_t *to, size_t columns, i32x16 xsum, i32x16 magic)
{
	vi_store_n(to, vi_sub(magic, vi_shl(xsum, __builtin_ctz(TILE_BIAS ? TILE_BIAS : 1))), columns);
}

/* Stores the correction for the bias of a run of `run` fours, as two int16. even: the sums of elements 0 and 1 of each
 * four; odd: of elements 2 and 3. */
INLINE void place_run(int32_t *to, size_t columns, i32x16 even, i32x16 odd, int run)
{
	int shift = __builtin_ctz((unsigned)(TILE_BIAS / run));

	even = vi_and(vi_sub(vi_zero(), vi_shl(even, shift)), vi_set1(0xffff));
	odd = vi_sub(vi_zero(), vi_shl(odd, shift));
	vi_store_n(to, vi_or(even, vi_shl(odd, 16)), columns);
}

/* The same for the whole block, its halves and its quarters. pairs[quarter][block]: the two sums as 16 bits. */
static void place_pairs(int32_t *whole, int32_t *halves, size_t columns, i32x16 (*pairs)[16], size_t b)
{
	int32_t *quarters = halves + (EXTRA_BIAS_QUARTERS - EXTRA_BIAS_FIRST) * columns;
	i32x16 even[4], odd[4];

	for (size_t i = 0; i < 4; i++) {
		even[i] = pairs[i][b], odd[i] = vi_shr(pairs[i][b], 16);
		place_run(quarters + i * columns, columns, even[i], odd[i], 2);
	}
	for (size_t i = 0; i < 4; i += 2) {
		even[i] = vi_add(even[i], even[i + 1]), odd[i] = vi_add(odd[i], odd[i + 1]);
		place_run(halves + i / 2 * columns, columns, even[i], odd[i], 4);
	}
	place_run(whole, columns, vi_add(even[0], even[2]), vi_add(odd[0], odd[2]), 8);
}

/* Stores sixteen blocks of every column of a tile. */
static void place_tile(enum acts_kind kind, const struct quantised q[ACTS_COLUMNS], size_t columns, int32_t *tile,
                       int32_t *extras, const size_t first[16], size_t count)
{
	size_t planes = acts_tile_planes(kind), ints = acts_block_ints(kind, columns);
	int32_t *field = tile + planes * 8 * columns;
	i32x16 v[16], first_half[16], second_half[16], pairs[4][16], magic = vi_set1(planes == 1 ? MAGIC : 0);

	for (size_t i = 0; i < 16; i++)
		v[i] = first_half[i] = second_half[i] = vi_zero();
	for (size_t j = 0; j < planes * 8; j++) {
		for (size_t c = 0; c < columns; c++)
			v[c] = vi_load(q[c].ints[j / 8][j % 8]);
		place_ints(v, tile + j * columns, first, ints, count, columns);
	}
	for (size_t c = 0; c < columns; c++) {
		v[c] = vf_as_int(vf_load(q[c].dx));
		first_half[c] = vi_load(q[c].xsum[0]);
		second_half[c] = vi_load(q[c].xsum[1]);
	}
	place_ints(v, field + FIELD_DX * columns, first, ints, count, columns);
	vi_transpose(first_half);
	vi_transpose(second_half);
	for (size_t i = 0; TILE_PAIRS && planes == 1 && i < 4; i++) {
		for (size_t c = 0; c < 16; c++)
			pairs[i][c] = c < columns ? vi_load(q[c].pairs[i]) : vi_zero();
		vi_transpose(pairs[i]);
	}
	for (size_t b = 0; b < count; b++) {
		int32_t *bias = field + first[b] * ints + FIELD_BIAS * columns,
		        *to = extras + first[b] * EXTRAS * columns;

		place_xsum(to + EXTRA_XSUM * columns, columns, vi_add(first_half[b], second_half[b]));
		place_xsum(to + EXTRA_XSUM_FIRST * columns, columns, first_half[b]);
		place_xsum(to + EXTRA_XSUM_SECOND * columns, columns, second_half[b]);
		if (TILE_PAIRS && planes == 1) {
			vi_store_n(to + EXTRA_LESS * columns,
			           vi_shl(vi_add(first_half[b], second_half[b]), __builtin_ctz(TILE_LESS)), columns);
			place_pairs(bias, to + EXTRA_BIAS_FIRST * columns, columns, pairs, b);
		} else if (TILE_BIAS) {
			place_undo(bias, columns, vi_add(first_half[b], second_half[b]), magic);
			place_undo(to + EXTRA_BIAS_FIRST * columns, columns, first_half[b], magic);
			place_undo(to + EXTRA_BIAS_SECOND * columns, columns, second_half[b], magic);
		}
	}
}

/* Quantises sixteen blocks of a column, from block 16·g on. Blocks beyond the end are zeros. */
static void quantise_span(const struct acts *a, const float *x, size_t g, struct quantised *q)
{
	int i16 = acts_in_i16(a->kind) && !acts_few(a->kind, a->k, a->n);
	size_t left = a->k - g * SPAN;
	float padded[SPAN];

	x += g * SPAN;
	if (left < SPAN) {
		memset(padded + left, 0, (SPAN - left) * sizeof *x);
		x = memcpy(padded, x, left * sizeof *x);
	}
	if (a->kind == ACTS_Q16 && i16)
		quantise(ACTS_Q16, 1, x, q);
	else if (a->kind == ACTS_Q16)
		quantise(ACTS_Q16, 0, x, q);
	else if (i16)
		quantise(ACTS_Q8, 1, x, q);
	else
		quantise(ACTS_Q8, 0, x, q);
}

_Static_assert((int)ACTS_PART == (int)SPAN, "parts are whole spans");

/* Packs x[i·stride ...] as columns c0 + i of a tile. The tile may have a few columns more; they are zeros, and their
 * products are not stored. */
static void pack_tile(struct acts *a, const float *x, size_t stride, struct acts_part tile)
{
	size_t blocks = a->k / 32, first[16], c = tile.c0, columns = tile.c1 - c, width = tile_width(c, a->n);
	struct quantised q[ACTS_COLUMNS];

	residue_places(blocks, first);
	for (size_t i = 0; i < 16; i++)
		first[i] += tile.e0 / SPAN;
	memset(q, 0, sizeof q);
	for (size_t g = tile.e0 / SPAN; g * SPAN < tile.e1; g++) {
		for (size_t i = 0; i < columns; i++)
			quantise_span(a, x + i * stride, g, &q[i]);
		place_tile(a->kind, q, width, acts_tile(a, c), acts_extras(a, c), first,
		           blocks - g * 16 < 16 ? blocks - g * 16 : 16);
		for (size_t i = 0; i < 16; i++)
			first[i]++;
	}
}

/* Sixteen elements of `columns` columns, as many as the tile is wide, to place `at` of each residue. */
INLINE void pack_sixteen(size_t columns, float *const to[16], size_t at, const float *x, size_t stride)
{
	i32x16 v[16];

	UNROLL
	for (size_t i = 0; i < 16; i++)
		v[i] = i < columns ? vf_as_int(vf_load(x + i * stride)) : vi_zero();
	vi_transpose(v);
	UNROLL
	for (size_t i = 0; i < 16; i++)
		vi_store_n((int32_t *)to[i] + at * columns, v[i], columns);
}

static void pack_float_tile(struct acts *a, const float *x, size_t stride, struct acts_part tile)
{
	size_t k = a->k, c = tile.c0, columns = tile.c1 - c, width = tile_width(c, a->n), first[16], e = tile.e0;
	float *to[16];
	i32x16 v[16];

	residue_places(k, first);
	for (size_t i = 0; i < 16; i++)
		to[i] = (float *)a->data + c * k + first[i] * width;
	for (; e + 16 <= tile.e1 && columns == ACTS_COLUMNS; e += 16)
		pack_sixteen(ACTS_COLUMNS, to, e / 16, x + e, stride);
	for (; e + 16 <= tile.e1 && columns == ACTS_NARROW && columns == width; e += 16)
		pack_sixteen(ACTS_NARROW, to, e / 16, x + e, stride);
	for (; e < tile.e1; e += 16) {
		size_t count = size_min(tile.e1 - e, 16);

		for (size_t i = 0; i < 16; i++) {
			const float *p = x + i * stride + e;

			v[i] = i >= columns ? vi_zero() : vf_as_int(count < 16 ? vf_load_n(p, count) : vf_load(p));
		}
		vi_transpose(v);
		for (size_t i = 0; i < count; i++)
			vi_store_n((int32_t *)to[i] + e / 16 * width, v[i], width);
	}
}

static size_t vector_acts_together(enum acts_kind kind, size_t k, size_t n)
{
	return acts_few(kind, k, n) ? 1 : ACTS_COLUMNS;
}

static void vector_acts_pack(struct acts *a, const float *x, size_t stride, struct acts_part part)
{
	size_t step = vector_acts_together(a->kind, a->k, a->n), padded = (a->k + 15) / 16 * 16, e1 = part.e1;
	struct quantised q;

	for (size_t c = part.c0; c < part.c1; c += step, x += step * stride) {
		struct acts_part tile = { c, size_min(c + step, part.c1), part.e0, e1 };
		float *floats = (float *)a->data + c * padded;

		if (acts_bf16(a->kind))
			(step == 1 ? pack_bf16_columns : a->kind == ACTS_BF16_TILES ? pack_bf16_spans : pack_bf16_tile)(
				a, x, stride, tile);
		else if (step > 1)
			(a->kind == ACTS_F32 ? pack_float_tile : pack_tile)(a, x, stride, tile);
		else if (a->kind == ACTS_F32) {
			memcpy(floats + part.e0, x + part.e0, (e1 - part.e0) * sizeof *x);
			if (e1 == a->k)
				memset(floats + e1, 0, (padded - e1) * sizeof *x);
		} else
			for (size_t g = part.e0 / SPAN; g * SPAN < e1; g++) {
				quantise_span(a, x, g, &q);
				place_span(a, &q, c, g);
			}
	}
}

#endif
