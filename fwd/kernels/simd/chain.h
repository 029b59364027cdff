/* chain: products of small matrices of floats, as spec/scalar_vector.c defines them. A chain's sums keep the order of
 * i, so that columns are lanes; a dot product's elements are lanes, as in every other sum. */
#ifndef CHAIN_H
#define CHAIN_H

#include "elementwise.h"

/* Rows and vectors of columns whose sums stay in registers. */
enum { CHAIN_ROWS = 6, CHAIN_VECTORS = 4, DOTS_ROWS = 2, DOTS_COLS = 3 };

/* Rows from r on, columns from c on: whole vectors or, if `rest` is not 0, `rest` columns. */
INLINE void chain_tile(int rows, int vectors, size_t rest, const struct chain_job *d, size_t r, size_t c)
{
	const float *a = d->a + r * d->a_row, *b = d->b + c;
	float *y = d->y + r * d->y_row + c;
	f32x16 acc[CHAIN_ROWS][CHAIN_VECTORS], v[CHAIN_VECTORS];

	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int j = 0; j < vectors; j++)
			acc[i][j] = rest ? vf_load_n(y + (size_t)i * d->y_row, rest)
				: vf_load(y + (size_t)i * d->y_row + 16 * j);
	for (size_t n = d->n; n; n--, a += d->a_step, b += d->b_row) {
		UNROLL
		for (int j = 0; j < vectors; j++)
			v[j] = rest ? vf_load_n(b, rest) : vf_load(b + 16 * j);
		UNROLL
		for (int i = 0; i < rows; i++) {
			f32x16 x = vf_set1(a[(size_t)i * d->a_row]);

			UNROLL
			for (int j = 0; j < vectors; j++)
				acc[i][j] = vf_fma(x, v[j], acc[i][j]);
		}
	}
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int j = 0; j < vectors; j++)
			if (rest)
				vf_store_n(y + (size_t)i * d->y_row, acc[i][j], rest);
			else
				vf_store(y + (size_t)i * d->y_row + 16 * j, acc[i][j]);
}

/* All columns. */
INLINE void chain_rows(int rows, int vectors, const struct chain_job *d, size_t r)
{
	size_t c = 0;

	for (; c + 16 * (size_t)vectors <= d->cols; c += 16 * (size_t)vectors)
		chain_tile(rows, vectors, 0, d, r, c);
	for (; vectors > 2 && c + 32 <= d->cols; c += 32)
		chain_tile(rows, 2, 0, d, r, c);
	for (; vectors > 1 && c + 16 <= d->cols; c += 16)
		chain_tile(rows, 1, 0, d, r, c);
	if (c < d->cols)
		chain_tile(rows, 1, d->cols - c, d, r, c);
}

static void vector_chain(const struct chain_job *d)
{
	size_t r = 0;

	for (; r + CHAIN_ROWS <= d->rows; r += CHAIN_ROWS)
		chain_rows(CHAIN_ROWS, TILE_VECTORS, d, r);
	for (; r + 2 <= d->rows; r += 2)
		chain_rows(2, 2, d, r);
	if (r < d->rows)
		chain_rows(1, CHAIN_VECTORS, d, r);
}

INLINE void dots_tile(int rows, int cols, const struct chain_job *d, size_t r, size_t c)
{
	const float *a = d->a + r * d->a_row, *b = d->b + c * d->b_row;
	f32x16 acc[DOTS_ROWS][DOTS_COLS], v[DOTS_COLS];
	size_t at = 0, rest = d->n % 16;

	UNROLL
	for (int i = 0; i < rows * cols; i++)
		acc[i / cols][i % cols] = vf_zero();
	for (; at + 16 <= d->n; at += 16) {
		UNROLL
		for (int j = 0; j < cols; j++)
			v[j] = vf_load(b + (size_t)j * d->b_row + at);
		UNROLL
		for (int i = 0; i < rows * cols; i++)
			acc[i / cols][i % cols] = vf_fma(vf_load(a + (size_t)(i / cols) * d->a_row + at), v[i % cols],
				acc[i / cols][i % cols]);
	}
	UNROLL
	for (int i = 0; i < rows * cols; i++) {
		f32x16 sum = acc[i / cols][i % cols];
		const float *x = a + (size_t)(i / cols) * d->a_row + at, *z = b + (size_t)(i % cols) * d->b_row + at;

		if (rest)
			sum = vf_fma(vf_load_n(x, rest), vf_load_n(z, rest), sum);
		d->y[(r + (size_t)(i / cols)) * d->y_row + c + (size_t)(i % cols)] = vf_tree(sum);
	}
}

INLINE void dots_rows(int rows, const struct chain_job *d, size_t r)
{
	size_t c = 0;

	for (; c + DOTS_COLS <= d->cols; c += DOTS_COLS)
		dots_tile(rows, DOTS_COLS, d, r, c);
	if (c + 2 == d->cols)
		dots_tile(rows, 2, d, r, c);
	else if (c < d->cols)
		dots_tile(rows, 1, d, r, c);
}

static void vector_dots(const struct chain_job *d)
{
	size_t r = 0;

	for (; r + DOTS_ROWS <= d->rows; r += DOTS_ROWS)
		dots_rows(DOTS_ROWS, d, r);
	if (r < d->rows)
		dots_rows(1, d, r);
}

#endif
