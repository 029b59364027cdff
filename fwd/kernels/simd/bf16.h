/* bf16: the layouts of activations rounded to BF16. Elements come in vectors of 32, as sixteen pairs; a pair is an
 * int32 with the odd element in its upper half. The lane of a pair is one of the sixteen accumulators. The last vector
 * is filled up with zeros.
 *
 * Few columns: one after the other, int32[vectors][16]. Many: in tiles as in acts.h,
 *
 *	BF16            float[16 lanes in visiting order][vectors][2][columns], the odd element first
 *	BF16_DOT        int32[16][vectors][columns]
 *	BF16_TILES      int32[16][spans][columns][16]
 *
 * In BF16_TILES a pair has an element of each of the two chains of a span, in the order in which the chains take them,
 * the one of the first chain in its lower half. */
#ifndef BF16_H
#define BF16_H

#include "acts.h"

enum {
	BF16_VECTOR = 32,       /* elements of a vector */
	BF16_CHAIN = 8,         /* vectors of a chain (kernels.h) */
	BF16_SPAN = 2 * BF16_CHAIN
};

static inline size_t bf16_vectors(size_t k)
{
	return (k + BF16_VECTOR - 1) / BF16_VECTOR;
}

/* Whether activations are rounded to BF16. */
static inline int acts_bf16(enum acts_kind kind)
{
	return kind == ACTS_BF16 || kind == ACTS_BF16_DOT || kind == ACTS_BF16_TILES;
}

static inline size_t bf16_spans(size_t k)
{
	return (bf16_vectors(k) + BF16_SPAN - 1) / BF16_SPAN;
}

/* Words of 32 bits that a pair takes in a tile or a panel: one, or two as floats. */
static inline size_t bf16_parts(int dot)
{
	return dot ? 1 : 2;
}

/* int32s of a column of a tile. */
static inline size_t bf16_tile_ints(enum acts_kind kind, size_t k)
{
	if (kind == ACTS_BF16_TILES)
		return 16 * bf16_spans(k) * BF16_SPAN;
	return 16 * bf16_vectors(k) * bf16_parts(kind == ACTS_BF16_DOT);
}

/* The elements of pairs as floats. */
static inline f32x16 bf16_odd(i32x16 pairs) { return vi_as_float(vi_and(pairs, vi_set1((int32_t)0xffff0000))); }
static inline f32x16 bf16_even(i32x16 pairs) { return vi_as_float(vi_shl(pairs, 16)); }

/* From the vectors j and j + 8 of a span, pairs 2j and 2j + 1 of BF16_TILES. */
INLINE void bf16_chains(i32x16 first, i32x16 second, i32x16 *odd, i32x16 *even)
{
	const i32x16 upper = vi_set1((int32_t)0xffff0000), lower = vi_set1(0xffff);

	*odd = vi_or(vi_shr(first, 16), vi_and(second, upper));
	*even = vi_or(vi_and(first, lower), vi_shl(second, 16));
}

#endif
