/* bf16_kernel: filling panels of BF16 weights, and the kernel that multiplies them (tiles.h). */
#ifndef BF16_KERNEL_H
#define BF16_KERNEL_H

#include "bf16_panel.h"

/* Sixteen rows. */
INLINE void fill_bf16_rows(int dot, float *panel, const uint8_t *const row[16], size_t k)
{
	size_t vectors = bf16_vectors(k), bytes = k * sizeof(uint16_t);

	for (size_t v = 0; v < vectors; v++) {
		i32x16 t[16];

		bf16_transposed(row, bytes, v, t);
		UNROLL
		for (int i = 0; i < 16; i++) {
			float *to = panel + residues[i] * bf16_lane(dot, k) + v * bf16_parts(dot) * KERNELS_ROWS;

			vf_store(to, dot ? vi_as_float(t[i]) : bf16_odd(t[i]));
			if (!dot)
				vf_store(to + KERNELS_ROWS, bf16_even(t[i]));
		}
	}
}

INLINE void fill_bf16(int dot, struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	for (size_t rows = 0; rows < KERNELS_ROWS; rows += 16) {
		const uint8_t *row[16];

		for (size_t i = 0; i < 16; i++)
			row[i] = (const uint8_t *)w->data + size_min(r + rows + i, r1 - 1) * w->row_bytes;
		fill_bf16_rows(dot, (float *)p->data + rows, row, w->cols);
	}
}

/* Where a kernel is in a panel and in a tile of activations. */
struct bf16_at {
	const float *w, *x;
};

/* sum[columns][vectors] = a chain from zero over n pairs. */
INLINE void bf16_tile_chain(int dot, int columns, int width, struct bf16_at *at, size_t n,
                            f32x16 (*sum)[TILE_VECTORS])
{
	UNROLL
	for (int c = 0; c < columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			sum[c][v] = vf_zero();
	for (n *= bf16_parts(dot); n; n--, at->w += KERNELS_ROWS, at->x += width) {
		f32x16 a[TILE_VECTORS];

		__builtin_prefetch(at->x + FLOAT_TILE_AHEAD * width, 0, 2);
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			a[v] = vf_load(at->w + 16 * v);
		UNROLL
		for (int c = 0; c < columns; c++) {
			f32x16 b = vf_set1(at->x[c]);

			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				sum[c][v] = dot ? vf_dot_pairs(vf_as_int(a[v]), vf_as_int(b), sum[c][v])
				            : vf_fma(a[v], b, sum[c][v]);
		}
	}
}

/* to = from, [columns][vectors] */
INLINE void bf16_tile_copy(int columns, f32x16 (*to)[TILE_VECTORS], f32x16 (*from)[TILE_VECTORS])
{
	UNROLL
	for (int c = 0; c < columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			to[c][v] = from[c][v];
}

/* sum = a + sum, [columns][vectors] */
INLINE void bf16_tile_add(int columns, f32x16 (*sum)[TILE_VECTORS], f32x16 (*a)[TILE_VECTORS])
{
	UNROLL
	for (int c = 0; c < columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			sum[c][v] = vf_add(a[c][v], sum[c][v]);
}

/* As float_tile_run(). */
INLINE void bf16_tile_run(int dot, int columns, int width, struct tiling *d, struct bf16_at at,
                          f32x16 (*stack)[FLOAT_COLUMNS][TILE_VECTORS])
{
	size_t vectors = bf16_vectors(d->job->x->k);
	int count = 16 / d->splits;

	at.w += (size_t)(d->split * count) * bf16_lane(dot, d->job->x->k);
	at.x += (size_t)(d->split * count) * vectors * bf16_parts(dot) * (size_t)width;
	for (int u = 0; u < count; u++, stack++, at.w += FLOAT_GAP) {
		f32x16 sum[FLOAT_COLUMNS][TILE_VECTORS], first[FLOAT_COLUMNS][TILE_VECTORS];
		size_t v = 0;

		tiles_ahead(d);
		do {
			bf16_tile_chain(dot, columns, width, &at, size_min(vectors - v, BF16_CHAIN), sum);
			if (vectors - v > BF16_CHAIN) {
				bf16_tile_copy(columns, first, sum);
				bf16_tile_chain(dot, columns, width, &at,
				                size_min(vectors - v - BF16_CHAIN, BF16_CHAIN), sum);
				bf16_tile_add(columns, sum, first);
			}
			if (v)
				bf16_tile_add(columns, sum, *stack);
			if (vectors - v > BF16_SPAN)
				bf16_tile_copy(columns, *stack, sum);
		} while ((v += BF16_SPAN) < vectors);
		for (int odd = u; odd & 1; odd >>= 1, stack--)
			bf16_tile_add(columns, sum, stack[-1]);
		bf16_tile_copy(columns, *stack, sum);
	}
}

INLINE void bf16_tile(int dot, int columns, int width, struct tiling *d, const struct panel *p, size_t c)
{
	size_t computed = width == ACTS_COLUMNS || d->job->x->n - c > ACTS_STEP ? (size_t)width : ACTS_STEP;
	size_t column = bf16_tile_ints(d->job->x->kind, d->job->x->k);
	f32x16 stack[5][FLOAT_COLUMNS][TILE_VECTORS];

	for (size_t i = 0; i < computed; i += (size_t)columns)
		for (size_t v = 0; v < KERNELS_ROWS / 16; v += TILE_VECTORS) {
			struct tile t = { c + i, (size_t)columns, d->r + v * 16, TILE_VECTORS };
			struct bf16_at at = { (const float *)p->data + v * 16,
				(const float *)d->job->x->data + c * column + i };

			open_tile(d, t);
			bf16_tile_run(dot, columns, width, d, at, stack);
			close_tile(d, stack[0][0], t);
		}
}

#endif
