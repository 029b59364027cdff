/* acts: the layout of packed activations in memory; pack.h writes them. There are two layouts. Few columns are stored
 * span by span (lanes.h), as decode.c and columns.c read them along a row of weights. Many columns are stored in tiles
 * of ACTS_COLUMNS columns, block by block in visiting order (lanes.h), as prompt.c reads them. */
#ifndef ACTS_H
#define ACTS_H

#include "fwd/kernels/kernels.h"
#include "lanes.h"
#include "unpack.h"

/* columns of a tile and of a narrow one, which may be the last; of those a multiple of the step is computed */
enum { ACTS_COLUMNS = 12, ACTS_NARROW = 8, ACTS_STEP = 4 };

/* 1.5·2^23 as the bits of a float. Adding an integer of less than 22 bits to these bits gives the bits of the float
 * sum. */
enum { MAGIC = 0x4b400000 };
#define MAGIC_FLOAT 0x1.8p23f

enum block_sum { FIRST_HALF, SECOND_HALF, WHOLE_BLOCK, BLOCK_SUMS };    /* which elements of a block a sum is over */

/* For decode.c and columns.c: the head of 512 elements of a column, sixteen blocks, in lane order. Behind it lie the
 * integers, int8[planes][8][16 lanes][4]: elements 4j to 4j + 3 of each block. All columns lie side by side, span after
 * span. Where decode.c reads them, their integers follow in each order that it takes: int8[columns][planes][512]. */
struct acts_span {
	int32_t xsum[BLOCK_SUMS][16];   /* sums of the integers */
	float fsum[BLOCK_SUMS][16];     /* the same as floats */
	float dx[16];
};

enum { ACTS_ORDERS = EIGHTS ? ORDER_MAGNITUDES + 1 : PAIRS ? ORDER_GROUPS + 1 : ORDER_QUARTERS + 1 };

/* For prompt.c: a block of a tile is its integers, int32[planes][8][columns], four int8 or two int16 in each, and
 * these fields, [columns] of each. */
enum acts_field {
	FIELD_DX,
	/* What undoes the panel's bias over the whole block: an integer, plus MAGIC where there is one plane; or, with
	 * TILE_PAIRS and one plane, two int16. */
	FIELD_BIAS,
	FIELDS
};

/* Fields that only some formats read lie after the last tile, [blocks][EXTRAS][columns] for each tile, so that
 * they do not take up the cache of the others. */
enum acts_extra {
	EXTRA_XSUM,             /* as a float */
	EXTRA_LESS,             /* the integer that a kernel with `less` adds (TILE_BYTES in vocabulary.h) */
	EXTRA_XSUM_FIRST, EXTRA_XSUM_SECOND, EXTRA_BIAS_FIRST, EXTRA_BIAS_SECOND,       /* for the halves of a block */
	EXTRA_BIAS_QUARTERS,    /* two int16 for each quarter, with TILE_PAIRS */
	EXTRAS = EXTRA_BIAS_QUARTERS + (TILE_PAIRS ? 4 : 0)
};

static inline size_t acts_planes(enum acts_kind kind)
{
	return kind == ACTS_Q16 ? 2 : 1;
}

/* Planes of a tile: the high and the low bytes of 16-bit integers, or int16: elements 0 and 2 of each four, then 1
 * and 3. */
static inline size_t acts_tile_planes(enum acts_kind kind)
{
	return kind == ACTS_Q8 ? 1 : 2;
}

static inline int acts_in_i16(enum acts_kind kind)
{
	return TILE_I16 && acts_tile_planes(kind) == 2;
}

/* The first of the kernels for bytes (TILE_BYTES in vocabulary.h) that takes this format, or -1. */
static inline int tile_kernel(const struct format *f)
{
#define ROW(name, scales, minima, run, less) { scales, minima, run, less },
	static const struct { int scales, minima, run, less; } tiles[] = { TILE_BYTES(ROW) };
#undef ROW

	for (int i = 0; i < (int)(sizeof tiles / sizeof *tiles); i++)
		if (tiles[i].scales == f->scales && tiles[i].minima == f->minima
		    && f->low - tiles[i].less >= -128 / tiles[i].run && f->high - tiles[i].less < 128 / tiles[i].run)
			return i;
	return -1;
}

/* Whether decode.c reads the integers in eights for this type. */
INLINE int in_eights(struct unpacker u) { return EIGHTS && (u.order == ORDER_EIGHTS || u.read_rows); }

/* The orders in which it does, a bit each, for any of these formats (struct acts). */
static inline unsigned orders_for(uint64_t formats)
{
	unsigned orders = 0;

#define ORDERS(id, NAME, name, ...) \
	if (!formats || formats >> (id) & 1) \
		orders |= in_eights(unpack_##name) ? 1 << ORDER_EIGHTS | 1 << ORDER_MAGNITUDES \
			: 1 << unpack_##name.order;
	FORMATS_QUANTISED(ORDERS)
#undef ORDERS
	return orders;
}

/* Whether decode.c, not columns.c, reads n columns. */
static inline int acts_decoded(size_t planes, size_t n)
{
	return n == 1 || (n == 2 && planes == 1);
}

/* Bytes of a span of one column. */
static inline size_t acts_span_bytes(size_t planes)
{
	return sizeof(struct acts_span) + planes * SPAN;
}

/* Bytes of a span of n columns, including those of the other orders. */
static inline size_t acts_spans_bytes(size_t planes, size_t n)
{
	return n * (acts_span_bytes(planes) + (acts_decoded(planes, n) ? ACTS_ORDERS * planes * SPAN : 0));
}

/* A run: consecutive rows that decode.c and columns.c read as one, span after span. Of narrow rows, a run is the fewest
 * that fill whole spans, or half of each span could be padding. A row may then begin in any lane, so each column is
 * stored once for each row of a run. Any other row is a run by itself, padded to whole spans: in wide rows padding
 * costs little, and the copies of a column would fill the first-level cache. */
struct row_run {
	size_t rows, spans;     /* spans in all rows together */
	int contiguous;         /* 1: no padding */
};

enum { RUN_SPANS_MOST = 24 };   /* of a run of several rows */

static inline struct row_run row_run_of(size_t blocks)
{
	size_t rows = 1;

	while (blocks * rows % SPAN_BLOCKS)
		rows *= 2;
	if (rows > 1 && blocks * rows / SPAN_BLOCKS > RUN_SPANS_MOST)
		return (struct row_run){ 1, (blocks + SPAN_BLOCKS - 1) / SPAN_BLOCKS, 0 };
	return (struct row_run){ rows, blocks * rows / SPAN_BLOCKS, 1 };
}

/* The most columns of k elements that are multiplied without a panel. If rows end within spans, each end costs every
 * column a closing tree; in runs of more than four rows, that takes most of the time. */
static inline size_t most_few(enum acts_kind kind, size_t k)
{
	if (kind == ACTS_BF16_TILES)
		return BF16_TILES_FEW;
	if (kind == ACTS_BF16_DOT)
		return BF16_DOT_FEW;
	if (kind == ACTS_BF16)
		return BF16_FEW;
	if (kind == ACTS_F32)
		return FLOAT_FEW;
	if (k % SPAN == 0)
		return CODES_FEW;
	return row_run_of(k / 32).rows > 4 ? CODES_FEW_PARTIAL / 4 : CODES_FEW_PARTIAL;
}

static inline int acts_few(enum acts_kind kind, size_t k, size_t n)
{
	return n <= most_few(kind, k);
}

/* Columns of the tile that starts at column c of n. */
static inline size_t tile_width(size_t c, size_t n)
{
	return n - c > ACTS_NARROW ? ACTS_COLUMNS : ACTS_NARROW;
}

/* Columns of all tiles. */
static inline size_t tile_columns(size_t n)
{
	size_t whole = n / ACTS_COLUMNS * ACTS_COLUMNS;

	return whole < n ? whole + tile_width(whole, n) : n;
}

/* int32s of a block of a tile, without its extras. */
static inline size_t acts_block_ints(enum acts_kind kind, size_t columns)
{
	return (8 * acts_tile_planes(kind) + FIELDS) * columns;
}

/* The tile that starts at column c, and its extras. */
static inline int32_t *acts_tile(const struct acts *a, size_t c)
{
	return (int32_t *)a->data + acts_block_ints(a->kind, c) * (a->k / 32);
}

static inline int32_t *acts_extras(const struct acts *a, size_t c)
{
	return acts_tile(a, tile_columns(a->n)) + EXTRAS * c * (a->k / 32);
}

#endif
