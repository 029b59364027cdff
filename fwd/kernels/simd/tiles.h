/* tiles: how prompt.c keeps products with many columns in the caches.
 *
 * Thirty-two rows of weights at a time are unpacked into a panel, then multiplied with one tile of columns after the
 * other. A panel that is too long for the second-level cache is split along k: into sets of residues, in visiting order
 * (lanes.h), and all tiles are multiplied with one set before the next. The sums of a set are a subtree of the closing
 * tree. They wait for their other half in y and, where more than two are pending, in scratch. */
#ifndef TILES_H
#define TILES_H

#include "lib/base/size.h"
#include "acts.h"
#include "vocabulary.h"

enum { SLAB = 516 };            /* columns whose sums there is room to keep pending; a multiple of ACTS_COLUMNS */

/* Into how many parts to split n things along a row so that none has more than `most`: a power of two, at most 16. */
static inline int splits_of(size_t n, size_t most)
{
	int splits = 1;

	while (splits < 16 && n > most * (size_t)splits)
		splits *= 2;
	return splits;
}

/* Scratch for pending sums, beside those in y: one level less than the tree has above the parts. */
static inline size_t pending_bytes(int splits)
{
	size_t levels = 0;

	for (; splits > 2; splits /= 2)
		levels++;
	return levels * SLAB * KERNELS_ROWS * sizeof(float);
}

/* Of panels of floats. FLOAT_GAP floats of padding follow each residue, so that the residues, to which filling writes
 * alternately, do not share sets of the cache. */
enum { FLOAT_GAP = 2 * KERNELS_ROWS, FLOAT_SPLIT = 2048 };      /* elements of a row in one part, at most */
/* Prefetch distance when such a panel is filled, in bytes of each row, as in prefetch_span() (AVX-512, k = 8192: 1.02
 * times as fast). */
enum { FLOAT_FILL_AHEAD = 512 };
/* The same in elements when it is multiplied, as in tile_prefetch() (AVX-512: 0.93 of the peak for k = 2048 and 0.89
 * for 8192; without, 0.87 and 0.75). */
enum { FLOAT_TILE_AHEAD = 64 };

/* Thirty-two rows of weights, unpacked. panel.h, float_panel.h and bf16_panel.h have the layouts. */
struct panel {
	uint8_t *data;
	size_t first[16];       /* the places of the residues (lanes.h) */
	size_t blocks, block;   /* of codes: blocks of a row, bytes of a block of the panel */
	int i16;                /* codes are 16 bits wide */
	int bias;               /* added to each code */
	int planes;             /* of the activations */
};

/* A product on its way through panels and tiles. */
struct tiling {
	const struct product_job *job;
	size_t r;               /* the panel's first row */
	size_t c;               /* the slab's first column */
	int split, splits;
	float *pending;         /* [levels][SLAB][KERNELS_ROWS] */
	/* what of the next panel's rows is still to be prefetched, and how much at a time */
	const char *ahead, *ahead_end;
	size_t ahead_step;
};

/* While a panel is multiplied, the rows of the next one are prefetched, because filling it would wait for memory (a
 * quarter of the time with 16 columns): a little each time that a tile of `columns` columns starts another residue. */
static inline void tiles_begin_ahead(struct tiling *d, size_t columns)
{
	const struct matrix *w = d->job->w;
	size_t next = size_min(d->r + KERNELS_ROWS, w->rows), rows = size_min(w->rows - next, KERNELS_ROWS);
	size_t steps = 16 * ((d->job->x->n + columns - 1) / columns);

	d->ahead = (const char *)w->data + next * w->row_bytes;
	d->ahead_end = d->ahead + rows * w->row_bytes;
	d->ahead_step = (rows * w->row_bytes / steps + 63) / 64 * 64;
}

static inline void tiles_ahead(struct tiling *d)
{
	for (const char *end = d->ahead + d->ahead_step; d->ahead < end && d->ahead < d->ahead_end; d->ahead += 64)
		__builtin_prefetch(d->ahead, 0, 2);
}

/* Columns [c, c + columns) and rows [row, row + 16·vectors) of the result. */
struct tile {
	size_t c, columns, row, vectors;
};

/* Where the sums of a column and row are: level 0 is y, the others are pending. */
static inline float *tile_place(const struct tiling *d, int level, size_t c, size_t row)
{
	if (level == 0)
		return d->job->y + c * d->job->stride + row;
	return d->pending + ((size_t)(level - 1) * SLAB + c - d->c) * KERNELS_ROWS + row - d->r;
}

static inline int tile_inside(const struct tiling *d, struct tile t)
{
	return t.row + t.vectors * 16 <= d->job->r1 && t.c + t.columns <= d->job->x->n;
}

/* Prefetches the lines of y that close_tile() will write: the stores would wait for them one by one (AVX-512, k =
 * 576: a seventh of the time; k = 2048: a twentieth). */
INLINE void open_tile(const struct tiling *d, struct tile t)
{
	if (!tile_inside(d, t))
		return;
	UNROLL
	for (size_t j = 0; j < t.columns; j++)
		UNROLL
		for (size_t v = 0; v < t.vectors; v++)
			__builtin_prefetch(tile_place(d, 0, t.c + j, t.row + 16 * v), 1);
}

static inline f32x16 load_rows(const float *p, size_t n)
{
	return n < 16 ? vf_load_n(p, n) : vf_load(p);
}

/* close_tile() where the result ends within the tile, or where the product is split. */
static void close_partial(const struct tiling *d, const f32x16 *sum, struct tile t)
{
	for (size_t j = 0; j < t.columns && t.c + j < d->job->x->n; j++)
		for (size_t v = 0, row = t.row; v < t.vectors && row < d->job->r1; v++, row += 16) {
			size_t n = size_min(d->job->r1 - row, 16);
			int level = 0;
			f32x16 s = sum[j * t.vectors + v];

			for (int odd = d->split; odd & 1; odd >>= 1, level++)
				s = vf_add(load_rows(tile_place(d, level, t.c + j, row), n), s);
			if (d->split == d->splits - 1)
				level = 0;
			if (n < 16)
				vf_store_n(tile_place(d, level, t.c + j, row), s, n);
			else
				vf_store(tile_place(d, level, t.c + j, row), s);
		}
}

/* sum[columns][vectors] of one part of k: adds those that were pending for it, and stores the result in y or as
 * pending. */
INLINE void close_tile(const struct tiling *d, const f32x16 *sum, struct tile t)
{
	if (d->splits > 1 || !tile_inside(d, t)) {
		close_partial(d, sum, t);
		return;
	}
	UNROLL
	for (size_t j = 0; j < t.columns; j++)
		UNROLL
		for (size_t v = 0; v < t.vectors; v++)
			vf_store(tile_place(d, 0, t.c + j, t.row + 16 * v), sum[j * t.vectors + v]);
}

/* Fills a panel with rows [r, r + 32), the last one again for those past r1. */
typedef void panel_filler(struct panel *p, const struct matrix *w, size_t r, size_t r1);

/* Multiplies a panel with the tile of activations that starts at column c, along the current part of k. */
typedef void panel_kernel(struct tiling *d, const struct panel *p, size_t c);

/* columns: those that a kernel computes at a time. */
static void run_panels(struct tiling *d, struct panel *p, panel_filler *fill, panel_kernel *kernel, size_t columns)
{
	const struct product_job *j = d->job;

	for (d->r = j->r0; d->r < j->r1; d->r += KERNELS_ROWS) {
		fill(p, j->w, d->r, j->r1);
		tiles_begin_ahead(d, columns);
		for (d->c = 0; d->c < j->x->n; d->c += SLAB)
			for (d->split = 0; d->split < d->splits; d->split++)
				for (size_t c = d->c; c < size_min(d->c + SLAB, j->x->n); c += ACTS_COLUMNS)
					kernel(d, p, c);
	}
}

#endif
