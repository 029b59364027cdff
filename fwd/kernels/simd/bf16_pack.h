/* bf16_pack: rounds activations to BF16 and packs them for products. bf16.h has the layouts. */
#ifndef BF16_PACK_H
#define BF16_PACK_H

#include <math.h>
#include <string.h>

#include "lib/base/size.h"
#include "fwd/kernels/quantise_rule.h"
#include "bf16.h"

/* Rounded to BF16, as floats whose lower halves are zero, unless they are NaN. */
INLINE f32x16 bf16_round(f32x16 x)
{
	i32x16 u = vf_as_int(x), odd = vi_and(vi_shr(u, 16), vi_set1(1));
	f32x16 rounded = vi_as_float(vi_and(vi_add(u, vi_add(odd, vi_set1(0x7fff))), vi_set1((int32_t)0xffff0000)));
	f32x16 size = vi_as_float(vi_and(vf_as_int(rounded), vi_set1(0x7fffffff)));

	rounded = vf_zero_if_less(size, vf_set1(BF16_ACTS_LEAST), rounded);
	/* a product with NaN is a quiet NaN, which its upper half alone shows */
	return vf_select_less(vi_as_float(vi_and(u, vi_set1(0x7fffffff))), vf_set1(INFINITY), rounded,
	                      vf_mul(x, vf_set1(1)));
}

/* The first n elements at x as pairs, then zeros. */
INLINE i32x16 bf16_pairs(const float *x, size_t n)
{
	float padded[BF16_VECTOR] = { 0 };
	f32x16 even, odd;

	if (n < BF16_VECTOR)
		x = memcpy(padded, x, n * sizeof *x);
	vf_load_pairs(x, &even, &odd);
	even = bf16_round(even);
	odd = bf16_round(odd);
	return vi_or(vi_shr(vf_as_int(even), 16), vi_and(vf_as_int(odd), vi_set1((int32_t)0xffff0000)));
}

static size_t bf16_acts_bytes(enum acts_kind kind, size_t k, size_t n)
{
	size_t few = size_min(n, most_few(kind, k)) * bf16_vectors(k) * 16 * sizeof(int32_t);
	size_t tiles = tile_columns(n) * bf16_tile_ints(kind, k) * sizeof(int32_t);

	return acts_few(kind, k, n) ? few : size_max(few, tiles);
}

/* Packs elements [e0, e1) of columns [c0, c1), one column after the other. */
static void pack_bf16_columns(struct acts *a, const float *x, size_t stride, struct acts_part part)
{
	for (size_t c = part.c0; c < part.c1; c++, x += stride) {
		int32_t *to = (int32_t *)a->data + c * bf16_vectors(a->k) * 16;

		for (size_t e = part.e0; e < part.e1; e += BF16_VECTOR)
			vi_store(to + e / BF16_VECTOR * 16, bf16_pairs(x + e, size_min(part.e1 - e, BF16_VECTOR)));
	}
}

/* Packs x[i·stride ...] as columns c0 + i of a tile, as pack_tile() does. */
static void pack_bf16_tile(struct acts *a, const float *x, size_t stride, struct acts_part tile)
{
	size_t vectors = bf16_vectors(a->k), parts = bf16_parts(a->kind == ACTS_BF16_DOT);
	size_t c = tile.c0, columns = tile.c1 - c, width = tile_width(c, a->n);
	int32_t *data = (int32_t *)a->data + c * bf16_tile_ints(a->kind, a->k);
	i32x16 v[16];

	for (size_t e = tile.e0; e < tile.e1; e += BF16_VECTOR) {
		for (size_t i = 0; i < columns; i++)
			v[i] = bf16_pairs(x + i * stride + e, size_min(tile.e1 - e, BF16_VECTOR));
		for (size_t i = columns; i < 16; i++)
			v[i] = vi_zero();
		vi_transpose(v);
		for (size_t lane = 0; lane < 16; lane++) {
			int32_t *to = data + (residues[lane] * vectors + e / BF16_VECTOR) * parts * width;

			if (parts == 1)
				vi_store_n(to, v[lane], width);
			else {
				vi_store_n(to, vf_as_int(bf16_odd(v[lane])), width);
				vi_store_n(to + width, vf_as_int(bf16_even(v[lane])), width);
			}
		}
	}
}

/* The same for BF16_TILES, span by span. */
static void pack_bf16_spans(struct acts *a, const float *x, size_t stride, struct acts_part tile)
{
	size_t spans = bf16_spans(a->k), c = tile.c0, width = tile_width(c, a->n);
	int32_t *data = (int32_t *)a->data + c * bf16_tile_ints(a->kind, a->k);

	for (size_t s = tile.e0 / SPAN; s * SPAN < tile.e1; s++)
		for (size_t i = 0; i < width; i++) {
			size_t n = c + i < tile.c1 ? size_min(tile.e1 - s * SPAN, SPAN) : 0;
			const float *from = x + i * stride + s * SPAN;
			i32x16 v[BF16_SPAN], pairs[BF16_SPAN];

			for (size_t j = 0; j < BF16_SPAN; j++)
				v[j] = j * BF16_VECTOR < n ? bf16_pairs(from + j * BF16_VECTOR,
					size_min(n - j * BF16_VECTOR, BF16_VECTOR)) : vi_zero();
			UNROLL
			for (int j = 0; j < BF16_CHAIN; j++)
				bf16_chains(v[j], v[j + BF16_CHAIN], &pairs[2 * j], &pairs[2 * j + 1]);
			vi_transpose(pairs);
			for (size_t lane = 0; lane < 16; lane++)
				vi_store(data + ((residues[lane] * spans + s) * width + i) * 16, pairs[lane]);
		}
}

#endif
