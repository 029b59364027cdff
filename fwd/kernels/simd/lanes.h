/* lanes: orders that all instruction sets and kernels share.
 *
 * Span. Weights are unpacked sixteen blocks of 32 at a time: 512 elements of a row.
 *
 * Orders. A span's 512 codes are unpacked into eight vectors of 64 bytes, in the order that is cheapest for the format.
 * Below, a vector stands between bars, 5 is block 5, 5a and 5b are its halves, 5.0 to 5.3 its runs of eight codes:
 *
 *	plain       0a 0b 1a 1b | 2a 2b 3a 3b | 4a ...
 *	quarters    0a 2a 4a 6a | 0b 2b 4b 6b | 1a 3a 5a 7a | 1b 3b 5b 7b | 8a ...
 *	eights      0.0 2.0 1.0 3.0 0.1 2.1 1.1 3.1 | 0.2 2.2 1.2 3.2 0.3 2.3 1.3 3.3 | 4.0 ...
 *	fields      0.0 8.0 0.2 8.2 4.0 12.0 4.2 12.2 | 0.1 8.1 0.3 8.3 4.1 12.1 4.3 12.3 | 1.0 ...
 *	groups      0.0 0.2 1.0 1.2 2.0 2.2 3.0 3.2 | 0.1 0.3 1.1 1.3 2.1 2.3 3.1 3.3 | 4.0 ...
 *	transposed  lane i of vector j: codes 4j to 4j + 3 of the block in lane i
 *
 * Plain is for any format. Quarters are for bytes with a code in each nibble: two vectors hold the same four blocks, so
 * their products are added before any tree. Fields are for bytes with two bits of each of four blocks, and for codes of
 * a byte; groups for bytes with codes that are eight apart. Eights are for AVX2, transposed codes for several columns;
 * neither needs a tree.
 *
 * Lane order. For one column, a transposing tree adds up the products of eight vectors. It leaves the sums of blocks 0,
 * 2, 4, 6, 1, 3, 5, 7 in the lower eight lanes and the same plus 8 in the upper, on every instruction set. So the
 * scales of a span, and transposed codes, have that order, too (lane_block).
 *
 * Panel. For a prompt, codes of 32 rows lie with the rows in the lanes, block after block: [8][32 rows][4 codes]
 * (panel.h).
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
/* Has the compiler forget what it knows of a variable in a general register. */
#define OPAQUE(x) __asm__("" : "+r"(x))

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
	ORDER_FIELDS = ORDER_EIGHTS, ORDER_GROUPS       /* with PAIRS; no set has both */
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
