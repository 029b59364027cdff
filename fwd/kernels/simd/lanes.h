/* lanes: orders that all instruction sets and kernels share.
 *
 * Span. Weights are unpacked sixteen blocks of 32 at a time: 512 elements of a row.
 *
 * Lane order. The products of a span are taken 64 codes at a time, two blocks in a vector, and summed by a
 * transposing tree over eight such vectors. It leaves blocks 0, 2, 4, 6, 1, 3, 5, 7 in the lower eight lanes and
 * the same plus 8 in the upper, on every instruction set, so all scales of a span are read in that order.
 *
 * Quarters. Where the low and the high nibbles of bytes are two codes, it is faster to take four blocks at a time:
 * the first sixteen codes of each in the quarters of one vector, the others in those of another, so that their
 * products add up before any tree. The first such four blocks are 0, 2, 4, 6, then 1, 3, 5, 7, and the same plus
 * 8.
 *
 * Eights. The same with eight codes of a block next to each other: first those of four blocks, in the order 0, 2, 1,
 * 3, then the next eight of each, and so on; the next four blocks follow.
 *
 * Fields. Four blocks at a time, which are four apart: the first eight codes of each half in one vector, the second
 * eight in another. This is for bytes that hold two bits of each of four blocks.
 *
 * Groups. The same with neighbouring blocks, where bytes hold codes that are eight apart.
 *
 * Visiting order. A prompt's kernel goes through the blocks (or elements) of one residue modulo 16 after the
 * other, so that one set of registers serves all sixteen accumulators. The residues come bit-reversed: the closing
 * tree first adds i and i + 8, then those 4, 2, 1 apart, so neighbours in this order are what it adds first, and a
 * stack of five partial sums is enough. */
#ifndef LANES_H
#define LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fwd/kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))
/* Unrolls the next loop where its number of iterations is known. clang unrolls a function before it inlines it, while
 * a parameter may still give that number: with a factor it would copy such loops, too, nest by nest; without one it
 * warns of those whose number stays unknown. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

enum { SPAN = 512, SPAN_BLOCKS = 16, SPAN_VECTORS = 8 };        /* elements, blocks, vectors of 64 codes */

/* The block in each lane, and back. */
static const unsigned char lane_block[16] = { 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15 };

static inline size_t block_lane(size_t b)
{
	return b / 8 * 8 + b % 2 * 4 + b % 8 / 2;
}

enum order {
	ORDER_PLAIN, ORDER_QUARTERS,
	ORDER_EIGHTS, ORDER_MAGNITUDES,                 /* activations and their absolute values, with EIGHTS */
	ORDER_FIELDS = ORDER_EIGHTS, ORDER_GROUPS       /* with PAIRS */
};

/* Where, in quarters, the codes of half h of block b lie. */
static inline size_t quarter_place(size_t b, size_t h)
{
	return (b / 8 * 4 + b % 2 * 2 + h) * 64 + b % 8 / 2 * 16;
}

/* Where, in eights, the codes 8·j to 8·j + 7 of block b lie. */
static inline size_t eight_place(size_t b, size_t j)
{
	return b / 4 * 128 + j * 32 + b % 2 * 16 + b % 4 / 2 * 8;
}

/* Where, in fields and in groups, the codes 8·j to 8·j + 7 of block b lie. */
static inline size_t field_place(size_t b, size_t j)
{
	return (b % 4 * 2 + j % 2) * 64 + b % 8 / 4 * 32 + j / 2 * 16 + b / 8 * 8;
}

static inline size_t group_place(size_t b, size_t j)
{
	return (b / 4 * 2 + j % 2) * 64 + b % 4 * 16 + j / 2 * 8;
}

static const unsigned char residues[16] = { 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15 };

/* in a block of a panel of int16: the distance in bytes from elements 0 and 2 of each four to elements 1 and 3 */
enum { TILE_ODD = 32 * KERNELS_ROWS };

/* How many of n things have residue u. */
static inline size_t residue_count(size_t n, size_t u)
{
	return (n + 15 - u) / 16;
}

/* first[u]: the place in the visiting order of the first of n things that has residue u; the others follow it. */
static inline void residue_places(size_t n, size_t first[16])
{
	size_t at = 0;

	for (int i = 0; i < 16; i++) {
		first[residues[i]] = at;
		at += residue_count(n, residues[i]);
	}
}

#endif
