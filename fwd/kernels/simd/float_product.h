/* float_product: products with weights that are floats of some kind, in the vocabulary included before: few columns straight along the rows, many
 * by panels of thirty-two rows, as dot.h and panel.h do it for codes, element by element. */
#ifndef FLOAT_PRODUCT_H
#define FLOAT_PRODUCT_H

#include <string.h>

#include "acts.h"
#include "dot.h"
#include "fwd/kernels/kernels.h"
#include "tiles.h"

/* Sixteen elements at p. */
typedef f32x16 float_reader(const uint8_t *p);

INLINE f32x16 floats_f32(const uint8_t *p)
{
	return vf_load((const float *)p);
}

INLINE f32x16 floats_f16(const uint8_t *p)
{
	return vf_load_f16((const uint16_t *)p);
}

INLINE f32x16 floats_bf16(const uint8_t *p)
{
	return vf_load_bf16(p);
}

enum { FLOAT_NEAR = 2048 };     /* bytes ahead in each row */

/* Of the steps of sixteen elements: does a line of the cache begin with this one, so that it is asked for once? */
INLINE int begins_line(size_t size, size_t e)
{
	return size == 4 || e % 32 == 0;
}

/* ---- few columns ---- */

/* Rows r to r + rows, and columns from c. The elements past the last multiple of sixteen are read from a copy filled up with zeros. far: see
 * prefetch_side(), or 0 where the rows are in the cache already. */
INLINE void float_rows(float_reader *read, size_t size, const struct matrix *w, const struct acts *x, size_t r, int rows, size_t c0, int columns, size_t far,
	float *y, size_t stride)
{
	size_t k = w->cols, whole = k / 16 * 16, padded = (k + 15) / 16 * 16;
	const float *data = (const float *)x->data + c0 * padded;
	f32x16 acc[FLOAT_ROWS][FLOAT_SIDE];
	const uint8_t *row[FLOAT_ROWS];
	uint8_t rest[FLOAT_ROWS][64] = { { 0 } };

	y += c0 * stride + r;
	UNROLL
	for (int i = 0; i < rows; i++) {
		row[i] = (const uint8_t *)w->data + (r + (size_t)i) * w->row_bytes;
		if (whole < k)
			memcpy(rest[i], row[i] + whole * size, (k - whole) * size);
		UNROLL
		for (int c = 0; c < columns; c++)
			acc[i][c] = vf_zero();
	}
	for (size_t e = 0; e < whole; e += 16) {
		int line = far && begins_line(size, e);

		UNROLL
		for (int i = 0; i < rows; i++)
			if (line)
				prefetch_side(row[0], (size_t)rows, w->row_bytes, (size_t)i, e * size, 64, far, FLOAT_NEAR);
		UNROLL
		for (int i = 0; i < rows; i++) {
			f32x16 v = read(row[i] + e * size);

			UNROLL
			for (int c = 0; c < columns; c++)
				acc[i][c] = vf_fma(v, vf_load(data + (size_t)c * padded + e), acc[i][c]);
		}
	}
	UNROLL
	for (int i = 0; i < rows; i++) {
		UNROLL
		for (int c = 0; c < columns; c++) {
			if (whole < k)
				acc[i][c] = vf_fma(read(rest[i]), vf_load(data + (size_t)c * padded + whole), acc[i][c]);
			y[(size_t)c * stride + (size_t)i] = vf_tree(acc[i][c]);
		}
	}
}

/* FLOAT_ROWS rows from r on and all columns, three or more, as evenly as they go into the registers; the rows stay in the first cache meanwhile. */
INLINE void float_set(float_reader *read, size_t size, const struct matrix *w, const struct acts *x, size_t r, float *y, size_t stride)
{
	size_t turns = (x->n + FLOAT_SIDE - 1) / FLOAT_SIDE, far = sets_ahead(FLOAT_ROWS * w->row_bytes), c = 0;

	for (size_t turn = 0; turn < turns; turn++, far = 0) {
		size_t columns = x->n * (turn + 1) / turns - c;

		if (FLOAT_SIDE > 2 && columns == 2)
			float_rows(read, size, w, x, r, FLOAT_ROWS, c, 2, far, y, stride);
		else if (FLOAT_SIDE > 3 && columns == 3)
			float_rows(read, size, w, x, r, FLOAT_ROWS, c, 3, far, y, stride);
		else if (FLOAT_SIDE > 4 && columns == 4)
			float_rows(read, size, w, x, r, FLOAT_ROWS, c, 4, far, y, stride);
		else if (FLOAT_SIDE > 5 && columns == 5)
			float_rows(read, size, w, x, r, FLOAT_ROWS, c, 5, far, y, stride);
		else
			float_rows(read, size, w, x, r, FLOAT_ROWS, c, FLOAT_SIDE, far, y, stride);
		c += columns;
	}
}

/* A single column goes row by row, unless it is too long for the first cache, and two go along two rows: rows side by side are as many streams from
 * memory (AVX-512, one thread, whole engine: one column along two rows 0.9 of the speed, two along four 0.75). */
enum { FLOAT_LONG = 6144 };

INLINE void float_dot(float_reader *read, size_t size, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride)
{
	size_t r = r0, far = sets_ahead(2 * w->row_bytes);

	if (x->n > 2)
		for (; r + FLOAT_ROWS <= r1; r += FLOAT_ROWS)
			float_set(read, size, w, x, r, y, stride);
	else if (x->n == 2)
		for (; r + 2 <= r1; r += 2)
			float_rows(read, size, w, x, r, 2, 0, 2, far, y, stride);
	else if (w->cols > FLOAT_LONG)
		for (; r + 2 <= r1; r += 2)
			float_rows(read, size, w, x, r, 2, 0, 1, far, y, stride);
	for (; r < r1; r++)
		for (size_t c = 0; c < x->n; c++)
			float_rows(read, size, w, x, r, 1, c, 1, c ? 0 : sets_ahead(w->row_bytes), y, stride);
}

/* ---- many ---- */

/* A gap after each residue, in floats: it keeps the residues, to which filling the panel writes in turn, out of each other's sets of the cache. */
enum { FLOAT_GAP = 2 * KERNELS_ROWS, FLOAT_CHUNK = 2048 };      /* elements of a row of a chunk at most */
enum { FLOAT_FILL_AHEAD = 512 };        /* bytes of each row, as prefetch_group of panel.h (AVX-512, k = 8192: 1.02) */

static inline size_t float_panel_floats(size_t k)
{
	return k * KERNELS_ROWS + 16 * FLOAT_GAP;
}

/* Sixteen rows to panel[k in visiting order][32]. */
INLINE void fill_float_rows(float_reader *read, size_t size, float *panel, const uint8_t *const row[16], size_t k)
{
	float *to[16];
	size_t first[16], whole = k / 16 * 16;
	i32x16 v[16];

	residue_places(k, first);
	for (size_t i = 0; i < 16; i++)
		to[residues[i]] = panel + first[residues[i]] * KERNELS_ROWS + i * FLOAT_GAP;
	for (size_t e = 0; e < whole; e += 16) {
		UNROLL
		for (int i = 0; i < 16; i++)
			if (begins_line(size, e))
				__builtin_prefetch(row[i] + e * size + FLOAT_FILL_AHEAD, 0, 3);
		UNROLL
		for (int i = 0; i < 16; i++)
			v[i] = vf_as_int(read(row[i] + e * size));
		vi_transpose(v);
		UNROLL
		for (int i = 0; i < 16; i++)
			vf_store(to[i] + e / 16 * KERNELS_ROWS, vi_as_float(v[i]));
	}
	if (whole < k) {
		for (int i = 0; i < 16; i++) {
			uint8_t rest[64] = { 0 };

			v[i] = vf_as_int(read(memcpy(rest, row[i] + whole * size, (k - whole) * size)));
		}
		vi_transpose(v);
		for (size_t i = 0; i < k - whole; i++)
			vf_store(to[i] + whole / 16 * KERNELS_ROWS, vi_as_float(v[i]));
	}
}

/* Rows [r, r + 32), the last one again for those past r1. */
INLINE void fill_float_panel(float_reader *read, size_t size, float *panel, const struct matrix *w, size_t r, size_t r1)
{
	for (size_t rows = 0; rows < KERNELS_ROWS; rows += 16) {
		const uint8_t *row[16];

		for (size_t i = 0; i < 16; i++)
			row[i] = (const uint8_t *)w->data + (r + rows + i < r1 ? r + rows + i : r1 - 1) * w->row_bytes;
		fill_float_rows(read, size, panel + rows, row, w->cols);
	}
}

/* Elements ahead, as tile_prefetch of panel.h (AVX-512: 0.93 of the peak for k = 2048 and 0.89 for 8192, 0.87 and 0.75 without). */
enum { FLOAT_TILE_AHEAD = 64 };

/* As tile_strip of panel.h, along all of a chunk. */
INLINE void float_tile_run(int columns, int width, struct tiled *d, const float *w, const float *x, size_t k, const size_t first[16],
                           f32x16 (*stack)[FLOAT_COLUMNS][TILE_VECTORS])
{
	int count = 16 / d->chunks;
	const unsigned char *residue = residues + d->chunk * count;

	w += first[*residue] * KERNELS_ROWS + (size_t)(d->chunk * count) * FLOAT_GAP;
	x += first[*residue] * (size_t)width;
	for (int u = 0; u < count; u++, stack++, w += FLOAT_GAP) {
		f32x16 acc[FLOAT_COLUMNS][TILE_VECTORS];

		tiles_ahead(d);
		UNROLL
		for (int c = 0; c < columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				acc[c][v] = vf_zero();
		for (size_t n = residue_count(k, residue[u]); n; n--, w += KERNELS_ROWS, x += width) {
			f32x16 a[TILE_VECTORS];

			__builtin_prefetch(x + FLOAT_TILE_AHEAD * width, 0, 2);
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				a[v] = vf_load(w + 16 * v);
			UNROLL
			for (int c = 0; c < columns; c++) {
				f32x16 b = vf_set1(x[c]);

				UNROLL
				for (int v = 0; v < TILE_VECTORS; v++)
					acc[c][v] = vf_fma(a[v], b, acc[c][v]);
			}
		}
		for (int odd = u; odd & 1; odd >>= 1, stack--) {
			UNROLL
			for (int c = 0; c < columns; c++)
				UNROLL
				for (int v = 0; v < TILE_VECTORS; v++)
					acc[c][v] = vf_add(stack[-1][c][v], acc[c][v]);
		}
		UNROLL
		for (int c = 0; c < columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				stack[0][c][v] = acc[c][v];
	}
}

INLINE void float_tile(int columns, int width, struct tiled *d, const float *panel, const struct acts *x, const size_t first[16], size_t c)
{
	f32x16 stack[5][FLOAT_COLUMNS][TILE_VECTORS];

	for (size_t at = 0; at < (size_t)width; at += (size_t)columns)
		for (size_t v0 = 0; v0 < KERNELS_ROWS / 16; v0 += TILE_VECTORS) {
			open_tile(d, TILE_VECTORS, c + at, (size_t)columns, d->r + v0 * 16);
			float_tile_run(columns, width, d, panel + v0 * 16, (const float *)x->data + c * x->k + at, x->k, first, stack);
			close_tile(d, stack[0][0], TILE_VECTORS, c + at, (size_t)columns, d->r + v0 * 16);
		}
}

/* A chunk of the slab's columns. */
static void float_columns(struct tiled *d, const float *panel, const struct acts *x)
{
	size_t end = x->n - d->c < SLAB ? x->n : d->c + SLAB, first[16];

	residue_places(x->k, first);
	for (size_t c = d->c; c < end; c += ACTS_COLUMNS)
		switch (tile_width(c, x->n)) {
		case ACTS_COLUMNS: float_tile(FLOAT_COLUMNS, ACTS_COLUMNS, d, panel, x, first, c); break;
		case ACTS_STEP: float_tile(ACTS_STEP, ACTS_STEP, d, panel, x, first, c); break;
		default: float_tile(ACTS_STEP, 2 * ACTS_STEP, d, panel, x, first, c); break;
		}
}

INLINE void float_many(float_reader *read, size_t size, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride,
                       float *scratch)
{
	struct tiled d = { .y = y, .stride = stride, .n = x->n, .r1 = r1, .chunks = chunks_of(w->cols, FLOAT_CHUNK) };

	d.waiting = scratch + float_panel_floats(w->cols);
	for (d.r = r0; d.r < r1; d.r += KERNELS_ROWS) {
		fill_float_panel(read, size, scratch, w, d.r, r1);
		tiles_begin_ahead(&d, w, FLOAT_COLUMNS);
		for (d.c = 0; d.c < x->n; d.c += SLAB)
			for (d.chunk = 0; d.chunk < d.chunks; d.chunk++)
				float_columns(&d, scratch, x);
	}
}

INLINE void float_product(float_reader *read, size_t size, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride,
                          void *scratch)
{
	if (acts_few(ACTS_F32, x->n))
		float_dot(read, size, w, x, r0, r1, y, stride);
	else
		float_many(read, size, w, x, r0, r1, y, stride, scratch);
}

#endif
