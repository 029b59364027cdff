/* vocabulary: everything that an instruction set supplies. The kernels in this folder are written in these functions
 * and compiled once for each set, after its header (isa/NAME.h). That header includes lanes.h, defines the types and
 * constants, includes this header and then defines the functions.
 *
 *	f32x16  sixteen floats          i32x16  sixteen int32
 *	b64     sixty-four bytes        b16     sixteen bytes
 *	attend_codes    a b64 of codes as attention multiplies them
 *
 * A lane is one of the sixteen. Each function is exact or rounds once, so that all sets give the same bits. lanes.h
 * explains lane order, quarters and spans. The constants, with enum:
 *
 *	BF16_DOT        1: bf16_dot.c is compiled, for which there is vf_dot_pairs()
 *	BF16_TILES      1: bf16_tiles.c is compiled, for x86 with AMX
 *	EIGHTS          1: decode.c takes some types' codes in eights (unpack_eights.h); a macro
 *	PAIRS           1: vd_dot_two() takes any codes; decode.c takes some types' in pairs (unpack_pairs.h); a macro
 *	DOT_AT_ONCE     1: for a single column, multiply each vector of codes as soon as it is unpacked
 *	SIGNED_BIAS     what vd_dot_signed() adds to each code
 *	COLUMNS_ROWS    rows, and COLUMNS_SIDE columns, whose sums columns.c has in registers at once, for formats with
 *	                one scale a block and activations of 8 bits; COLUMNS_SIDE_2 for others
 *	COLUMNS_UNPACKED        rows that it unpacks before it multiplies them: COLUMNS_ROWS, where their codes stay in
 *	                registers, or all that go side by side
 *	COLUMNS_AHEAD   bytes of a span that vd_columns() prefetches between its multiplications, as a burst of
 *	                prefetches would hold up the loads behind it; 0: columns.c prefetches all of it
 *	TILE_I16        1: tile_dot() multiplies 16-bit activations as int16; 0: as two planes of bytes
 *	TILE_BIAS       128: tile_dot() multiplies unsigned codes; 0: signed ones
 *	TILE_PAIRS      1: it adds up the products of bytes in 16 bits
 *	PANEL_SPLIT     blocks of a row in one part of a panel, at most, so that it stays in the second-level cache;
 *	                PANEL_SPLIT_I16 for codes of 16 bits
 *	TILE_STRIP      blocks to finish for the whole tile before the next blocks; 0: no strips (tile_multiply() in
 *	                panel_kernel.h)
 *	TILE_VECTORS    vectors of 16 rows whose sums are in registers at once
 *	TILE_COLUMNS    columns likewise, for formats with one scale a block; TILE_COLUMNS_2 with two
 *	FLOAT_COLUMNS   columns likewise, for float weights
 *	CODES_FEW       quantised weights: up to this many columns are multiplied without a panel; CODES_FEW_PARTIAL
 *	                where rows are not whole spans
 *	FLOAT_FEW       float weights: up to this many columns are multiplied without a panel; BF16_FEW with BF16
 *	                activations, BF16_DOT_FEW with products of pairs, BF16_TILES_FEW of tiles
 *	FLOAT_ROWS      rows, and FLOAT_SIDE columns, whose sums are then in registers at once
 *	PEAK_COLUMNS    columns of the loop that measures the peak (peak_loops.h)
 *	ATTEND_RESIDUES, ATTEND_VECTORS         see attend_sums.h
 *	ATTEND_I16      1: va_add_keys() and va_add_values() take int16; 0: bytes
 *	ATTEND_EXPS     vectors whose exponentials are computed side by side
 *	CODES_COLUMNS   queries of a panel where many share a block of codes; 16 / CODES_RUNS at most
 *	ATTEND_SIDE     vectors of K or V whose sums, for a panel of queries, lie in registers at once: 1 or 2
 *	KEY_BIAS, VALUE_BIAS    what va_keys() and va_values() add to each code */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/kernels/kernels.h"
#include "lanes.h"

_Static_assert(!EIGHTS || !PAIRS, "ORDER_EIGHTS and ORDER_FIELDS are the same number");
_Static_assert(sizeof(size_t) == 8, "offsets into weights are 64 bits wide");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are loaded from little-endian files as they are");

/* ---- sixteen floats ---- */

static inline f32x16 vf_set1(float x);
static inline f32x16 vf_zero(void) { return vf_set1(0); }
static inline f32x16 vf_load(const float *p);
static inline void vf_store(float *p, f32x16 v);

/* The first n lanes alone, n < 16. Loading sets the others to zero, and so does vf_first(). */
static inline f32x16 vf_load_n(const float *p, size_t n);
static inline void vf_store_n(float *p, f32x16 v, size_t n);
static inline f32x16 vf_first(f32x16 v, size_t n);

/* Pairs: a has the even elements of p[32], b the odd ones. */
static inline void vf_load_pairs(const float *p, f32x16 *a, f32x16 *b);
static inline void vf_store_pairs(float *p, f32x16 a, f32x16 b);

/* From and to sixteen f16 (rounded to nearest even), bf16, int8. */
static inline f32x16 vf_load_f16(const uint16_t *p);
static inline void vf_store_f16(uint16_t *p, f32x16 v);
static inline f32x16 vf_load_bf16(const void *p);
static inline f32x16 vf_load_i8(const int8_t *p);
static inline f32x16 vf_sixteen_f16s(b16 a, b16 b);     /* eight in each */

static inline f32x16 vf_add(f32x16 a, f32x16 b);
static inline f32x16 vf_sub(f32x16 a, f32x16 b);
static inline f32x16 vf_mul(f32x16 a, f32x16 b);
static inline f32x16 vf_div(f32x16 a, f32x16 b);
static inline f32x16 vf_fma(f32x16 a, f32x16 b, f32x16 c);      /* a·b + c */
static inline f32x16 vf_fms(f32x16 a, f32x16 b, f32x16 c);      /* a·b − c */
static inline f32x16 vf_max(f32x16 a, f32x16 b);                /* a > b ? a : b, so b where either is NaN */
static inline f32x16 vf_min(f32x16 a, f32x16 b);                /* a < b ? a : b */
static inline f32x16 vf_zero_if_less(f32x16 a, f32x16 b, f32x16 x);                     /* a < b ? 0 : x */
static inline f32x16 vf_select_less(f32x16 a, f32x16 b, f32x16 x, f32x16 y);            /* a < b ? x : y */
/* v · 2^n for v in [1/2, 2] and integral n in [-126, 128], anything for other numbers; vf_scale2n_low() for n up to 0
 * and results that are normal. NaN stays NaN. */
static inline f32x16 vf_scale2n(f32x16 v, f32x16 n);
static inline f32x16 vf_scale2n_low(f32x16 v, f32x16 n);

static inline float vf_tree(f32x16 v);          /* the closing tree of a sum: v[i] += v[i + 8], then 4, 2, 1 */
static inline float vf_largest(f32x16 v);       /* the largest lane; none is NaN */
/* lane i: the largest lane of v[i], for n <= 16 vectors, a constant; further lanes are anything but NaN */
static inline f32x16 vf_largest_each(const f32x16 *v, size_t n);

/* ---- sixteen int32 ---- */

static inline i32x16 vi_set1(int32_t x);
static inline i32x16 vi_zero(void) { return vi_set1(0); }
static inline i32x16 vi_load(const int32_t *p);
static inline void vi_store(int32_t *p, i32x16 v);
static inline void vi_store_n(int32_t *p, i32x16 v, size_t n);  /* the first n lanes, n <= 16 */
static inline i32x16 vi_add(i32x16 a, i32x16 b);
static inline i32x16 vi_sub(i32x16 a, i32x16 b);
static inline i32x16 vi_and(i32x16 a, i32x16 b);
static inline i32x16 vi_or(i32x16 a, i32x16 b);
static inline i32x16 vi_max(i32x16 a, i32x16 b);
static inline i32x16 vi_shl(i32x16 v, int n);
static inline i32x16 vi_shr(i32x16 v, int n);                   /* as unsigned */
static inline i32x16 vi_bytes(b16 v);                           /* of uint8 */
static inline i32x16 vi_u16s(b16 a, b16 b);                     /* of eight uint16 in each */
static inline i32x16 vi_shr_each(i32x16 v, i32x16 n);           /* each lane by the one of n */
/* the uint32 at p for blocks 0 to 7, the one at q for the others */
static inline i32x16 vi_two_words(const void *p, const void *q);
/* eight uint32 at p, `step` bytes apart, which is 4 or 8; eight at q */
static inline i32x16 vi_words(const void *p, const void *q, size_t step);
static inline i32x16 vi_lanes(i32x16 v);                        /* from the order of blocks into lane order */
static inline void vi_transpose(i32x16 v[16]);                  /* lane i of v[j] becomes lane j of v[i] */
/* lane i: the sum of the lanes of v[i], for n <= 16 vectors, a constant; further lanes are anything */
static inline i32x16 vi_sum_each(const i32x16 *v, size_t n);

static inline f32x16 vi_to_float(i32x16 v);
/* sixteen pairs of bf16 at p; those below BF16_WEIGHTS_LEAST become zero */
static inline i32x16 vi_bf16_pairs(const void *p);
static inline f32x16 vi_as_float(i32x16 v);                     /* the same bits, and back */
static inline i32x16 vf_as_int(f32x16 v);
static inline f32x16 vf_abs(f32x16 v) { return vi_as_float(vi_and(vf_as_int(v), vi_set1(0x7fffffff))); }

/* ---- sixty-four bytes: two blocks of 32 codes ---- */

static inline b64 vb_load(const void *p);
static inline void vb_store(void *p, b64 v);
static inline b64 vb_or(b64 a, b64 b);
static inline b64 vb_plus(b64 a, b64 b);                        /* modulo 256 */
static inline b64 vb_add(b64 v, int n);                         /* n to each byte, modulo 256 */
static inline b64 vb_shr(b64 v, int n, int mask);               /* each byte shifted right by n, then & mask */
static inline b64 vb_low(b64 v) { return vb_shr(v, 0, 15); }    /* the low nibbles */
static inline b64 vb_lookup(const int8_t table[16], b64 v);     /* table[byte] for each byte, which is below 16 */
/* 3·(v · powers mod 256) / 256, byte by byte, rounded down: a base-3 digit of each byte, which is a fraction of 256.
 * powers[2·i] and powers[2·i + 1] are the same. */
static inline b64 vb_digits(b64 v, const uint8_t powers[64]);
/* -byte, for each byte whose bit is set in eight bytes at bits; none is -128 */
static inline b64 vb_negate(b64 v, const void *bits);
static inline b64 vb_spread(const void *p);                     /* eight bytes at p, each eight times */
static inline b64 vb_widened(const void *p, const void *q);     /* 16 bytes at p, 16 at q, as uint16 */
static inline b64 vb_uppers(const void *p, const void *q);      /* the upper seven bits of 32 uint16 at each */
static inline i32x16 vb_as_int(b64 v);                          /* the same bits, and back */
static inline b64 vi_as_bytes(i32x16 v);

static inline b64 vb_join(const void *p, const void *q);        /* 32 bytes at p, 32 at q */
static inline b64 vb_of(b16 a, b16 b, b16 c, b16 d);
/* eight codes at each; four codes at each. They lie in lib/gguf/grids.h; what is next to them may be loaded, too. */
static inline b64 vb_long_rows(const uint64_t *const row[8]);
static inline b64 vb_short_rows(const uint32_t *const row[16]);
static inline b64 vb_four(const uint8_t *p, size_t step);       /* 16 bytes at p, p + step, p + 2·step, p + 3·step */
static inline b64 vb_twice(const void *p, const void *q);       /* 16 bytes at p, twice, then 16 at q, twice */
/* of eight runs of 16 bytes at p, the first, third and so on; or, if second, the second, fourth and so on */
static inline b64 vb_alternate(const uint8_t *p, int second);
/* the low nibbles of 16 bytes at p, their high nibbles, the same of q */
static inline b64 vb_nibbles(const void *p, const void *q);
/* of each eight bytes of 32 at p, the low nibbles, then the high ones */
static inline b64 vb_nibble_groups(const void *p);

/* 32 bytes of p shifted right by a, then the same bytes shifted right by b, & mask. Negative: to the left. The
 * mask keeps only bits that come from the same byte. */
static inline b64 vb_fields(const void *p, int a, int b, int mask);

/* `value` in each byte whose bit is set: the bits of 4 bytes at p for the first 32, of 4 bytes at q for the
 * others, lowest first. */
static inline b64 vb_bits(const void *p, const void *q, int value);

static inline b16 vb_16(const void *p);                         /* 16 bytes at p */
static inline b16 vb_two(uint64_t a, uint64_t b);               /* a's 8 bytes, then b's */
static inline b16 vb_zip(uint64_t a, uint64_t b);               /* bytes of a and b in turn */

/* Indices of more than eight bits: what to add to sixteen bytes, from eight others. */
struct upper_bits {
	uint8_t from[16][2];    /* an uint16 for each index: two of the eight bytes; what is past them is anything */
	uint16_t times[16];     /* its factor, modulo 2^16 */
	int mask;               /* and the bits that count */
};

/* to[i] = low[i] | the upper bits at high */
static inline void vi_indices(uint16_t to[16], const void *low, const void *high, const struct upper_bits *u);

/* ---- scales of sixteen blocks, in lane order ---- */

/* the uint16 at p, p + step, p + 2·step and p + 3·step, side by side, in a general register */
static inline uint64_t four_u16s(const uint8_t *p, size_t step);
static inline f32x16 vf_sixteen_f16s(b16 a, b16 b);             /* those of a, then those of b */
static inline f32x16 vf_f16s(const uint8_t *p, size_t step);    /* the f16 at p + step·block */

/* vf_f16s() by general registers. */
static inline f32x16 vf_f16s_by_fours(const uint8_t *p, size_t step)
{
	const uint8_t *q = p + 8 * step;        /* lane order: even blocks, then odd ones */

	return vf_sixteen_f16s(vb_two(four_u16s(p, 2 * step), four_u16s(p + step, 2 * step)),
	                       vb_two(four_u16s(q, 2 * step), four_u16s(q + step, 2 * step)));
}

/* the f16 at p for blocks 0 to 7, the one at q for the others */
static inline f32x16 vf_two_f16s(const void *p, const void *q);
/* the same for two f16 at each */
static inline void vf_two_pairs(const void *p, const void *q, f32x16 *first, f32x16 *second);

/* The six-bit scales and minima of a super-block of Q4_K or Q5_K at p for blocks 0 to 7, at q for the others. 16
 * bytes are read at each. */
static inline void vf_six_bits(const uint8_t *p, const uint8_t *q, f32x16 *scale, f32x16 *min);

/* Two uint8 a block, for its halves: blocks 0 to 7 in the first sixteen bytes, blocks 8 to 15 in the third sixteen; the
 * second and the fourth are the same (vb_twice()). */
static inline void vi_pairs(b64 v, i32x16 *first, i32x16 *second);

/* Two bytes a block, for its halves: blocks 0 to 7 in p, 8 to 15 in q. Half of the values of unsigned floats of four
 * bits of exponent, whose bias is 7, and three of mantissa; 0x7f is zero, and the top bit does not count. */
static inline void vf_ue4m3_pairs(b16 p, b16 q, f32x16 *first, f32x16 *second);

/* Two int8 a block, for its halves: blocks 0 to 7 in p, 8 to 15 in q. */
static inline void vi_byte_pairs(b16 p, b16 q, i32x16 *first, i32x16 *second);

/* ---- products of codes and activations, for decode.c ---- */

/* Sums of products with activations in [-127, 127], in a form that the fold functions and vd_half_sums() of the
 * same set take: of codes in [0, top], where top is at most 127; of codes in [-128, 127], each with SIGNED_BIAS
 * added; of two vectors of codes in [0, 15] or, with PAIRS, of either kind. */
static inline i32x16 vd_dot(b64 w, b64 x, int top);
static inline i32x16 vd_dot_signed(b64 w, b64 x);
static inline i32x16 vd_dot_two(b64 w, b64 x, b64 w2, b64 x2);

/* Called after each v[c] is there; may already add up those that are complete, where registers are few. */
static inline void vd_fold_halves(i32x16 v[8], int c, int top);
static inline void vd_fold_quarters(i32x16 v[4], int c);

/* From the products of a span, the sums over the first and the second halves of blocks, in lane order; from its
 * quarters, those over blocks. */
static inline void vd_half_sums(const i32x16 v[8], int top, i32x16 *first, i32x16 *second);
static inline i32x16 vd_quarter_sums(const i32x16 v[4], int top);

#if PAIRS
static inline b64 vb_add_where(b64 v, uint64_t bits, int n);    /* n to each byte whose bit is set */
/* 16 bytes of p in each quarter, shifted right by a, a + 2, a + 4 and a + 6, & mask, as in vb_fields() */
static inline b64 vb_quarter_fields(const void *p, int a, int mask);
/* v: the first halves of v's quarters and of w's in turn; w: the second halves. A quarter is sixteen bytes. */
static inline void vb_zip_halves(b64 *v, b64 *w);

static inline i32x16 vi_from_place(i32x16 sum, int place);      /* sum / 2^place; sum is a multiple of 2^place */
/* From the products of a span in fields or in groups, sum[2]: over the first and the second halves of blocks, in lane
 * order. */
static inline void vd_field_sums(const i32x16 v[4], int top, i32x16 sum[2]);
static inline void vd_group_sums(const i32x16 v[4], int top, i32x16 sum[2]);
#endif

#if EIGHTS
/* The first 32 bytes: the first eight of each sixteen of v's first 32 and those of its second 32, in turn; the others:
 * the second eight likewise. */
static inline b64 vb_zip_eights(b64 v);
/* exchanges the second 32 bytes of v and the first 32 of w */
static inline void vb_swap_inner(b64 *v, b64 *w);
/* two bits of each of eight bytes at p: those from bit 0 on, then from 4, 2 and 6 on; the same of the next eight */
static inline b64 vb_pair_eights(const void *p);
/* The codes of four blocks in eights: two bits each, lowest first, from sixteen bytes at p and sixteen at q; `value`
 * where a bit of the sixteen bytes at p is set. */
static inline void vb_eights_of_pairs(const void *p, const void *q, b64 codes[2]);
static inline void vb_eights_of_bits(const void *p, int value, b64 codes[2]);
/* as vb_negate() and vb_spread(), with v the first or the second vector of four blocks in eights, from sixteen bytes:
 * four for each block */
static inline b64 vb_negate_eights(b64 v, const void *bits, int vector);
static inline b64 vb_spread_eights(const void *p, int vector);

struct eights_shape {
	int vectors;            /* of codes: two for four blocks, one for their halves */
	int top, is_signed;     /* of the codes */
};

/* The products of codes and activations in eights, in a form that vd_eight_sums() takes. Signed codes also take the
 * activations' absolute values. */
static inline i32x8 vd_eights(struct eights_shape s, b64 w, b64 x, const int8_t *magnitudes);
/* *sum has the lanes of four blocks after the other, four = 0 to 3: the sums of v[vectors] */
static inline void vd_eight_sums(struct eights_shape s, const i32x8 *v, int four, i32x16 *sum);
#endif

/* Transposes, in each sixteen bytes, the 4×4 matrix of 32-bit words whose row j is in v[j]. */
static inline void vb_transpose_quarters(b64 v[4]);
/* *odd, by quarters: the low and the high nibbles of v's first quarter, the low and the high ones of its third; *even:
 * those of its second and fourth. */
static inline void vb_split_nibbles(b64 v, b64 *odd, b64 *even);

/* Codes of two blocks in each become codes of all sixteen: elements 4j to 4j + 3 in v[j], in lane order. */
static inline void vb_transpose(b64 v[8]);

/* For columns.c: */
struct column_shape {
	int rows, columns;
	int prefetches;         /* 1: prefetch what struct column_ahead says */
	int quads;              /* fours of codes in each lane */
	int top, is_signed;     /* of the codes: from 0 to top, or signed and with SIGNED_BIAS added */
	size_t row_step, step;  /* vectors of codes from one row to the next, bytes from one column to the next */
};

/* What vd_columns() prefetches: COLUMNS_AHEAD bytes for each row, into the second-level cache from far on, and into the
 * first from near[row] on. */
struct column_ahead {
	const uint8_t *far, *near[COLUMNS_ROWS];
};

/* sum[r][c] += the sums of the products in each lane: codes w[quads] of row r, at w + r·row_step, and activations of
 * column c, at x + c·step */
static inline void vd_columns(struct column_shape s, struct column_ahead a, i32x16 (*sum)[COLUMNS_SIDE], const b64 *w,
                              const int8_t *x);

/* the sum of sixteen accumulators, in lane order, by the closing tree; of eight times sixteen, `step` apart */
static inline float vd_close(f32x16 v);
static inline void vd_close_eight(const f32x16 *v, size_t step, float y[8]);

/* ---- attention in integers, for attend_codes.h ---- */

/* Signed codes above -128, four in each lane. */
static inline attend_codes va_keys(b64 v);
static inline attend_codes va_values(b64 v);
static inline attend_codes va_small(b64 v);             /* codes from 0 to 127, as either; nothing is added to them */

/* sum + the products of each lane's codes and four multipliers, the same for all lanes: at x four int8 from -127 to 127
 * for keys, four uint8 for values. ATTEND_I16: four int16, those of codes 0 and 2, then of 1 and 3. */
static inline i32x16 va_add_keys(i32x16 sum, attend_codes k, const int32_t *x);
static inline i32x16 va_add_values(i32x16 sum, attend_codes v, const int32_t *x);
/* The low bytes of 64 lanes as multipliers: 16 int32, or 32. is_signed: for va_add_keys(); the next byte of each lane
 * is its sign. Returns sums that add up to that of the bytes. */
static inline i32x16 va_weights(int32_t *to, const i32x16 v[4], int is_signed);

/* ---- a tile of a prompt's product, for panel_kernel.h ---- */

/* What is known of a tile when its kernel is compiled. */
struct tile_shape {
	int columns, width;     /* columns that are computed at once; of the tile of activations they lie in */
	int planes, i16;        /* of the activations; as int16? */
	int scales, minima;     /* of the format */
	int run, less;          /* of bytes: see TILE_BYTES */
};

enum { TILE_LESS = 16 };

/* Each set lists its kernels for bytes, TILE_BYTES(ROW): ROW(name, scales, minima, run, less). They take codes of
 * formats with such scales and minima which, minus less (0 or TILE_LESS), are from -128 / run to 128 / run - 1, so that
 * the sums of run · 2 products fit in 16 bits. A format takes the first kernel that its codes fit. If none does, its
 * activations are int16 (ACTS_Q8_I16). */

/* The codes of 16 rows, four of each, and the four next to them: puts them into the order that tile_dot() takes. */
static inline void tile_pair(i32x16 *fours, i32x16 *next);

/* s[c][v] += the products of 4·quads codes of 16 rows (vector v at w + 64·v, each four codes a row 4·KERNELS_ROWS
 * bytes after the four before; see tile_pair()) and the activations of column c (at x + c, each four t.width
 * further). t.columns and quads are even. int16: see TILE_ODD in lanes.h. start: with TILE_PAIRS, what undoes the bias
 * of the codes in each run (place_pairs() in pack.h), t.width further for each; without, the caller does. */
static inline void tile_dot(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x,
                            int quads, const int32_t *start);

#endif
