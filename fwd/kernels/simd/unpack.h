/* unpack: one unpacker for each quantised format. It reads a span, sixteen blocks of 32 (so two super-blocks of a
 * K format): the codes 64 bytes at a time, the scales in lane order (lanes.h). spans.c unpacks whole spans into memory
 * with these; decode.c and columns.c compile loops of their own from them. A new format is a function for its codes,
 * one for its scales and a row in the table at the end; the rest follows from its row in lib/gguf/formats.h. */
#ifndef UNPACK_H
#define UNPACK_H

#include "lib/gguf/blocks.h"
#include "vocabulary.h"

/* The scales and minima of sixteen blocks: [0] for whole blocks, or [0] and [1] for their halves. */
struct scales {
	f32x16 scale[2], min[2];
};

/* What a codebook type's span says in scattered bits: the index of each row; a sign bit for each code (IQ2, IQ3), or
 * what is added to eight codes each (IQ1). */
struct grid_rows {
	uint16_t at[SPAN / 4];
	uint8_t signs[SPAN / 8];
};

struct unpacker {
	size_t bytes;           /* of a span */
	int is_signed;          /* codes come as int8; otherwise unsigned, from 0 to top, with offset added */
	int offset, top;        /* offset: a power of two, or 0 */
	int scales, minima;     /* as in the format's row */
	b64 (*codes)(const uint8_t *span, int pair);    /* blocks 2·pair and 2·pair + 1 */
	/* Four blocks in another order (lanes.h), where that is quicker: in quarters, for codes of at most 15 or with
	 * PAIRS; in fields or groups with PAIRS; in eights with EIGHTS. Otherwise ORDER_PLAIN and NULL. */
	enum order order;
	void (*four)(const uint8_t *span, int four, b64 codes[2]);
	/* The same with each four's codes in their places, times 1 << place, which saves shifts; or NULL. */
	void (*placed)(const uint8_t *span, int four, b64 codes[2]);
	int place[4];
	void (*read_scales)(const uint8_t *span, struct scales *s);
	size_t rows;            /* that decode.c multiplies side by side: two, or one if unpacking takes long */
	size_t overlap;         /* most planes of activations with which its spans overlap in decode.c; 0: none */
	/* Codebooks have these in place of codes(): a grid of either kind, and read_rows(), which comes first. row() is
	 * the number, in the grid, of row i of the span. */
	int signs;
	const uint64_t *grid;
	const uint32_t *grid_of_fours;
	void (*read_rows)(const uint8_t *span, struct grid_rows *rows);
	size_t (*row)(const uint8_t *span, const struct grid_rows *rows, int i);
};

/* The least power of two that makes all codes positive is added to them, unless the highest would then pass 127. */
enum { BLOCK_BYTES_MOST = 36 };         /* of 32 elements in any format */
#define POWER(x) \
	((x) > 64 ? 128 : (x) > 32 ? 64 : (x) > 16 ? 32 : (x) > 8 ? 16 : (x) > 4 ? 8 : (x) > 2 ? 4 : (x) > 1 ? 2 : 1)
#define FROM_ROW(id, NAME, name, block, low, high, n_scales, has_minima) \
	enum { \
		BLOCK_##name = (block), SCALES_##name = (n_scales), MINIMA_##name = (has_minima), \
		POSITIVE_##name = (low) < 0 ? POWER(-(low)) : 0, SIGNED_##name = (high) + POSITIVE_##name > 127, \
		OFFSET_##name = SIGNED_##name ? 0 : POSITIVE_##name, \
		TOP_##name = SIGNED_##name ? 127 : (high) + OFFSET_##name, \
		QUARTERS_##name = TOP_##name == 15 && SCALES_##name == 1 \
	}; \
	_Static_assert(sizeof(struct name) <= (block) / 32 * BLOCK_BYTES_MOST, \
	               #NAME ": copies of a last span have room"); \
	_Static_assert(SPAN % (block) == 0, #NAME ": a span is whole blocks"); \
	_Static_assert(!(has_minima) || (low) >= 0, #NAME ": codes of types with minima are not negative");
FORMATS_QUANTISED(FROM_ROW)
#undef FROM_ROW
#undef POWER

static inline uint64_t load64(const void *p)
{
	uint64_t u;

	memcpy(&u, p, sizeof u);
	return u;
}

static inline uint32_t load32(const void *p)
{
	uint32_t u;

	memcpy(&u, p, sizeof u);
	return u;
}

static inline uint16_t load16(const void *p)
{
	uint16_t u;

	memcpy(&u, p, sizeof u);
	return u;
}

/* Two int8 a block, for its halves: blocks 0 to 7 in p, 8 to 15 in q. */
INLINE void byte_pairs(b16 p, b16 q, f32x16 *first, f32x16 *second)
{
	i32x16 a, b;

	vi_byte_pairs(p, q, &a, &b);
	*first = vi_to_float(a);
	*second = vi_to_float(b);
}

#include "unpack_small.h"
#include "unpack_k.h"
#include "unpack_grid.h"
/* .order and .four of a type; those that only sets with EIGHTS or with PAIRS take */
#define IN(ORDER, prefix, name) .order = ORDER_##ORDER, .four = prefix##_##name
#if EIGHTS
#include "unpack_eights.h"
#define IN_EIGHTS(name) IN(EIGHTS, eights, name)
#else
#define IN_EIGHTS(name)
#endif
#if PAIRS
#include "unpack_pairs.h"
#define IN_PAIRS(...) IN(__VA_ARGS__)
#define IN_PLACES(name, ...) IN(FIELDS, fields, name), .placed = placed_##name, .place = { __VA_ARGS__ }
#else
#define IN_PAIRS(...)
#define IN_PLACES(...)
#endif

/* ---- the unpackers ---- */

INLINE void read_rows(struct unpacker u, const uint8_t *span, struct grid_rows *rows)
{
	if (!u.read_rows)
		return;
	u.read_rows(span, rows);
	/* Otherwise the compiler takes indices out of vector registers one by one, which is slower than loads. */
	__asm__("" : "+m"(*rows));
}

/* The rows of 64 codes, which are the span's eights eight[8]. */
INLINE b64 codes_of_rows(struct unpacker u, const uint8_t *span, const struct grid_rows *rows, const int eight[8])
{
	const uint64_t *grid = u.grid, *eights[8];
	const uint32_t *grid_of_fours = u.grid_of_fours, *fours[16];

	/* Otherwise the compiler adds the grid's address to each number. */
	if (u.grid) {
		OPAQUE(grid);
		UNROLL
		for (int i = 0; i < 8; i++)
			eights[i] = grid + u.row(span, rows, eight[i]);
		return vb_long_rows(eights);
	}
	OPAQUE(grid_of_fours);
	UNROLL
	for (int i = 0; i < 16; i++)
		fours[i] = grid_of_fours + u.row(span, rows, 2 * eight[i / 2] + i % 2);
	return vb_short_rows(fours);
}

/* Where the type has signs: without them and without the offset. */
INLINE b64 plain_codes(struct unpacker u, const uint8_t *span, const struct grid_rows *rows, int pair)
{
	int eight[8];
	b64 v;

	if (!u.read_rows)
		return u.codes(span, pair);
	UNROLL
	for (int i = 0; i < 8; i++)
		eight[i] = 8 * pair + i;
	v = codes_of_rows(u, span, rows, eight);
	return u.signs ? v : vb_plus(v, vb_spread(rows->signs + 8 * pair));
}

#if EIGHTS
/* The same in eights. */
INLINE b64 codes_in_eights(struct unpacker u, const uint8_t *span, const struct grid_rows *rows, int c)
{
	int eight[8];
	b64 v[2];

	if (!u.read_rows) {
		u.four(span, c / 2, v);
		return v[c % 2];
	}
	UNROLL
	for (int i = 0; i < 8; i++)     /* of blocks 0, 2, 1 and 3 */
		eight[i] = c / 2 * 16 + i % 2 * 8 + i % 4 / 2 * 4 + c % 2 * 2 + i / 4;
	v[0] = codes_of_rows(u, span, rows, eight);
	return u.signs ? v[0] : vb_plus(v[0], vb_spread_eights(rows->signs + c / 2 * 16, c % 2));
}
#endif

INLINE b64 signed_codes(struct unpacker u, const uint8_t *span, const struct grid_rows *rows, int pair)
{
	b64 v = plain_codes(u, span, rows, pair);

	return u.signs ? vb_add(vb_negate(v, rows->signs + 8 * pair), u.offset) : v;
}

/* The codes of a span, in the unpacker's order. */
INLINE void unpack_codes(struct unpacker u, const uint8_t *span, b64 codes[SPAN_VECTORS])
{
	struct grid_rows rows;

	read_rows(u, span, &rows);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		if (!u.four)
			codes[i] = signed_codes(u, span, &rows, i);
		else if (i % 2 == 0)
			u.four(span, i / 2, &codes[i]);
}

/* The planes of overlapping spans, where registers are few. */
enum { ONE_IF_FEW = EIGHTS ? 1 : 2, NONE_IF_FEW = EIGHTS ? 0 : 2 };

#define UNPACKER(name, n_rows, planes, ...) \
	static const struct unpacker unpack_##name = { \
		.bytes = SPAN / BLOCK_##name * sizeof(struct name), \
		.is_signed = SIGNED_##name, .offset = OFFSET_##name, .top = TOP_##name, \
		.scales = SCALES_##name, .minima = MINIMA_##name, \
		.read_scales = scales_##name, .rows = n_rows, .overlap = planes, __VA_ARGS__ \
	}
UNPACKER(q4_0, 2, 0, .codes = codes_q4_0, IN(QUARTERS, quarters, q4_0));
UNPACKER(q4_1, 2, 0, .codes = codes_q4_1, IN(QUARTERS, quarters, q4_1));
UNPACKER(q5_0, 2, 0, .codes = codes_q5_0, IN_PAIRS(QUARTERS, quarters, q5_0));
UNPACKER(q5_1, 2, 0, .codes = codes_q5_1, IN_PAIRS(QUARTERS, quarters, q5_1));
UNPACKER(q8_0, 2, 0, .codes = codes_q8_0, IN_PAIRS(FIELDS, fields, q8_0));
UNPACKER(q2_k, 1, ONE_IF_FEW, .codes = codes_q2_k, IN_EIGHTS(q2_k) IN_PLACES(q2_k, 0, 2, 4, 6));
UNPACKER(q3_k, 2, NONE_IF_FEW, .codes = codes_q3_k, IN_PLACES(q3_k, 0, 0, 4, 4));
UNPACKER(q4_k, 2, 0, .codes = codes_q4_k, IN(QUARTERS, quarters, q4_k));
UNPACKER(q5_k, 2, 0, .codes = codes_q5_k, IN_PAIRS(QUARTERS, quarters, q5_k));
UNPACKER(q6_k, 2, 0, .codes = codes_q6_k);
UNPACKER(iq4_nl, 2, 0, .codes = codes_iq4_nl, IN_EIGHTS(iq4_nl) IN_PAIRS(QUARTERS, quarters, iq4_nl));
UNPACKER(iq4_xs, 2, 0, .codes = codes_iq4_xs, IN_EIGHTS(iq4_xs) IN_PAIRS(QUARTERS, quarters, iq4_xs));
UNPACKER(iq2_xxs, 1, 2, .grid = grids.iq2_xxs, .read_rows = rows_iq2_xxs, .row = row_iq2_xxs, .signs = 1);
UNPACKER(iq2_xs, 1, 2, .grid = grids.iq2_xs, .read_rows = rows_iq2_xs, .row = row_of_index, .signs = 1);
UNPACKER(iq2_s, 1, 2, .grid = grids.iq2_s, .read_rows = rows_iq2_s, .row = row_of_index, .signs = 1);
UNPACKER(iq3_xxs, 1, 2, .grid_of_fours = grids.iq3_xxs, .read_rows = rows_iq3_xxs, .row = row_iq3_xxs, .signs = 1);
UNPACKER(iq3_s, 1, 2, .grid_of_fours = grids.iq3_s, .read_rows = rows_iq3_s, .row = row_of_index, .signs = 1);
UNPACKER(iq1_s, 1, 2, .grid = grids.iq1, .read_rows = rows_iq1_s, .row = row_of_index, .signs = 0);
UNPACKER(iq1_m, 1, 2, .grid = grids.iq1, .read_rows = rows_iq1_m, .row = row_of_index, .signs = 0);
UNPACKER(tq1_0, 2, ONE_IF_FEW, .codes = codes_tq1_0);
UNPACKER(tq2_0, 2, ONE_IF_FEW, .codes = codes_tq2_0, IN_EIGHTS(tq2_0) IN_PLACES(tq2_0, 0, 2, 4, 6));
UNPACKER(mxfp4, 2, 0, .codes = codes_mxfp4, IN_EIGHTS(mxfp4) IN_PAIRS(QUARTERS, quarters, mxfp4));
UNPACKER(nvfp4, 2, 0, .codes = codes_nvfp4, IN_EIGHTS(nvfp4) IN_PAIRS(GROUPS, groups, nvfp4));
UNPACKER(q1_0, 2, ONE_IF_FEW, .codes = codes_q1_0, IN_EIGHTS(q1_0));
UNPACKER(q2_0, 2, ONE_IF_FEW, .codes = codes_q2_0, IN_EIGHTS(q2_0));
#undef UNPACKER
#undef IN
#undef IN_EIGHTS
#undef IN_PAIRS
#undef IN_PLACES

#endif
