/* few: the loops over rows and columns of float_rows.c and bf16.c, whose few columns are multiplied without a panel. */
#ifndef FEW_H
#define FEW_H

#include "floats.h"
#include "prefetch.h"

enum { FLOAT_NEAR = 2048 };     /* prefetch distance in each row, in bytes */

/* How elements of a float format are read. */
struct floats {
	float_reader *read;
	size_t size;            /* bytes of an element */
};

/* The file that includes this one defines it. Multiplies `rows` rows from r on and `columns` columns from c0 on, few
 * enough that their sums stay in registers. far: sets_ahead(), or 0 where the rows are in the cache already. next: what
 * is prefetched meanwhile, a line for each sixteen elements; or NULL. */
INLINE void few_rows(struct floats f, struct product_job j, size_t r, int rows, size_t c0, int columns, size_t far,
	const uint8_t *next);

/* FLOAT_ROWS rows from r on and all columns, three or more, split evenly into turns; the rows stay in the
 * first-level cache meanwhile. far, next: as in few_rows(). */
INLINE void few_set(struct floats f, struct product_job j, size_t r, size_t far, const uint8_t *next)
{
	size_t turns = (j.x->n + FLOAT_SIDE - 1) / FLOAT_SIDE, c = 0;

	for (size_t turn = 0; turn < turns; turn++, far = 0, next = NULL) {
		size_t columns = j.x->n * (turn + 1) / turns - c;

		if (FLOAT_SIDE > 2 && columns == 2)
			few_rows(f, j, r, FLOAT_ROWS, c, 2, far, next);
		else if (FLOAT_SIDE > 3 && columns == 3)
			few_rows(f, j, r, FLOAT_ROWS, c, 3, far, next);
		else if (FLOAT_SIDE > 4 && columns == 4)
			few_rows(f, j, r, FLOAT_ROWS, c, 4, far, next);
		else if (FLOAT_SIDE > 5 && columns == 5)
			few_rows(f, j, r, FLOAT_ROWS, c, 5, far, next);
		else
			few_rows(f, j, r, FLOAT_ROWS, c, FLOAT_SIDE, far, next);
		c += columns;
	}
}

/* A single column goes row by row, unless it is longer than this and does not fit the first-level cache; two go
 * along two rows. Each row more is one more stream from memory (AVX-512, one thread, whole engine: one column
 * along two rows 0.9 of the speed, two along four 0.75). Short rows, as adapters have, are adjacent anyway, and go
 * together so that their sums do not wait for each other (rows of 16 in the cache: AVX-512 7.0 ns a row, then 1.6;
 * AVX2 15, then 8.4). */
enum { FLOAT_LONG = 6144, FLOAT_SHORT = 64 };

/* next: as in few_rows(), where the rows are in the cache. */
INLINE void few_columns(struct floats f, struct product_job j, const uint8_t *next)
{
	size_t r = j.r0, far = next ? 0 : sets_ahead(2 * j.w->row_bytes);
	size_t far_1 = next ? 0 : sets_ahead(j.w->row_bytes);
	size_t far_all = next ? 0 : sets_ahead(FLOAT_ROWS * j.w->row_bytes);

	if (j.x->n > 2)
		for (; r + FLOAT_ROWS <= j.r1; r += FLOAT_ROWS)
			few_set(f, j, r, far_all, next);
	else if (j.x->n == 2)
		for (; r + 2 <= j.r1; r += 2)
			few_rows(f, j, r, 2, 0, 2, far, next);
	else if (j.w->cols <= FLOAT_SHORT)
		for (; r + FLOAT_ROWS <= j.r1; r += FLOAT_ROWS)
			few_rows(f, j, r, FLOAT_ROWS, 0, 1, far_all, next);
	else if (j.w->cols > FLOAT_LONG)
		for (; r + 2 <= j.r1; r += 2)
			few_rows(f, j, r, 2, 0, 1, far, next);
	for (; r < j.r1; r++)
		for (size_t c = 0; c < j.x->n; c++)
			few_rows(f, j, r, 1, c, 1, c ? 0 : far_1, c ? NULL : next);
}

#endif
