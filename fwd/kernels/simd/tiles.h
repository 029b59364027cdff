/* tiles: how products with many columns are cut up to stay in the caches, for panel.h and float_product.h alike.
 *
 * A panel of rows is filled, then each tile of columns goes along it. A panel too long for the second cache is taken a chunk of residues at a time,
 * in visiting order (lanes.h), all tiles for one chunk before the next. A chunk is a subtree of the closing tree; its sums wait for the other half
 * in y and, where more than two are waiting, in scratch. */
#ifndef TILES_H
#define TILES_H

#include "lib/base/size.h"
#include "fwd/kernels/kernels.h"
#include "lanes.h"

enum { SLAB = 516 };            /* columns for whose sums there is room to wait */

/* Power of two, at most 16: chunks of n things along a row if one should have no more than most. */
static inline int chunks_of(size_t n, size_t most)
{
	int chunks = 1;

	while (chunks < 16 && n > most * (size_t)chunks)
		chunks *= 2;
	return chunks;
}

/* Scratch for sums that wait, beside those in y: one level less than the tree has above the chunks. */
static inline size_t waiting_bytes(int chunks)
{
	size_t levels = 0;

	for (; chunks > 2; chunks /= 2)
		levels++;
	return levels * SLAB * KERNELS_ROWS * sizeof(float);
}

/* The product that tiles are part of. */
struct tiled {
	float *y;
	size_t stride, n;       /* of y; columns in all */
	size_t r, r1;           /* the first row of the panel; the end of the rows */
	size_t c;               /* the first column of the slab */
	int chunk, chunks;
	float *waiting;         /* [levels][SLAB][KERNELS_ROWS] */
	const char *ahead, *ahead_end;  /* what is still to be asked for, and how much at a time */
	size_t ahead_step;
};

/* While tiles go along a panel, the rows of the next one are asked for, or filling it would wait for memory (with 16 columns, a quarter of the time): a
 * little whenever a tile of so many columns turns to another residue. */
static inline void tiles_begin_ahead(struct tiled *t, const struct matrix *w, size_t columns)
{
	size_t next = size_min(t->r + KERNELS_ROWS, w->rows), rows = size_min(w->rows - next, KERNELS_ROWS);
	size_t steps = 16 * ((t->n + columns - 1) / columns);

	t->ahead = (const char *)w->data + next * w->row_bytes;
	t->ahead_end = t->ahead + rows * w->row_bytes;
	t->ahead_step = (rows * w->row_bytes / steps + 63) / 64 * 64;
}

static inline void tiles_ahead(struct tiled *t)
{
	for (const char *end = t->ahead + t->ahead_step; t->ahead < end && t->ahead < t->ahead_end; t->ahead += 64)
		__builtin_prefetch(t->ahead, 0, 2);
}

static inline float *tile_place(const struct tiled *t, int level, size_t c, size_t row)
{
	if (level == 0)
		return t->y + c * t->stride + row;
	return t->waiting + ((size_t)(level - 1) * SLAB + c - t->c) * KERNELS_ROWS + row - t->r;
}

static inline f32x16 load_rows(const float *p, size_t n)
{
	return n < 16 ? vf_load_n(p, n) : vf_load(p);
}

/* Does all of this tile lie in y? */
static inline int tile_inside(const struct tiled *t, size_t vectors, size_t c, size_t columns, size_t row)
{
	return row + vectors * 16 <= t->r1 && c + columns <= t->n;
}

/* Asks for the lines of y that close_tile will write: they come from far, and the stores behind would all wait for them (AVX-512, k = 576: a seventh of
 * the time; k = 2048: a twentieth). */
INLINE void open_tile(const struct tiled *t, size_t vectors, size_t c, size_t columns, size_t row)
{
	if (!tile_inside(t, vectors, c, columns, row))
		return;
	UNROLL
	for (size_t j = 0; j < columns; j++)
		UNROLL
		for (size_t v = 0; v < vectors; v++)
			__builtin_prefetch(tile_place(t, 0, c + j, row + 16 * v), 1);
}

/* close_tile for part of a tile, or for one chunk of several. */
static void close_part(const struct tiled *t, const f32x16 *sum, size_t vectors, size_t c, size_t columns, size_t row)
{
	for (size_t j = 0; j < columns && c + j < t->n; j++)
		for (size_t v = 0, at = row; v < vectors && at < t->r1; v++, at += 16) {
			size_t n = t->r1 - at < 16 ? t->r1 - at : 16;
			int level = 0;
			f32x16 s = sum[j * vectors + v];

			for (int odd = t->chunk; odd & 1; odd >>= 1, level++)
				s = vf_add(load_rows(tile_place(t, level, c + j, at), n), s);
			if (t->chunk == t->chunks - 1)
				level = 0;
			if (n < 16)
				vf_store_n(tile_place(t, level, c + j, at), s, n);
			else
				vf_store(tile_place(t, level, c + j, at), s);
		}
}

/* sum[columns][vectors] of one chunk, for columns from c and rows from row: added to those that waited for them, and stored, to wait or for good. */
INLINE void close_tile(const struct tiled *t, const f32x16 *sum, size_t vectors, size_t c, size_t columns, size_t row)
{
	if (t->chunks > 1 || !tile_inside(t, vectors, c, columns, row)) {
		close_part(t, sum, vectors, c, columns, row);
		return;
	}
	UNROLL
	for (size_t j = 0; j < columns; j++)
		UNROLL
		for (size_t v = 0; v < vectors; v++)
			vf_store(tile_place(t, 0, c + j, row + 16 * v), sum[j * vectors + v]);
}

#endif
