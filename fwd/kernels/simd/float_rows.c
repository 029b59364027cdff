/* float_rows: products of float weights with few columns. */
#include "acts.h"
#include "floats.h"
#include "prefetch.h"
#include "product.h"

enum { FLOAT_NEAR = 2048 };     /* prefetch distance in each row, in bytes */

/* A float format. */
struct floats {
	float_reader *read;
	size_t size;            /* bytes of an element */
};

/* Rows from r on and columns from c0 on, few enough that their sums stay in registers. Elements past the last
 * multiple of sixteen are read from a copy that is filled up with zeros. far: sets_ahead(), or 0 where the rows
 * are in the cache already. */
INLINE void float_rows(struct floats f, struct product_job j, size_t r, int rows, size_t c0, int columns, size_t far)
{
	size_t k = j.w->cols, whole = k / 16 * 16, padded = (k + 15) / 16 * 16;
	const float *x = (const float *)j.x->data + c0 * padded;
	struct row_set set = { .start = (const uint8_t *)j.w->data + r * j.w->row_bytes, .rows = (size_t)rows,
		.row_bytes = j.w->row_bytes,
		.far = far, .near = FLOAT_NEAR };
	f32x16 acc[FLOAT_ROWS][FLOAT_SIDE];
	const uint8_t *row[FLOAT_ROWS];
	uint8_t rest[FLOAT_ROWS][64] = { { 0 } };

	UNROLL
	for (int i = 0; i < rows; i++) {
		row[i] = set.start + (size_t)i * j.w->row_bytes;
		if (whole < k)
			memcpy(rest[i], row[i] + whole * f.size, (k - whole) * f.size);
		UNROLL
		for (int c = 0; c < columns; c++)
			acc[i][c] = vf_zero();
	}
	for (size_t e = 0; e < whole; e += 16) {
		int ahead = far && begins_line(f.size, e);

		UNROLL
		for (int i = 0; i < rows; i++)
			if (ahead)
				prefetch_side(set, (size_t)i, e * f.size, 64);
		UNROLL
		for (int i = 0; i < rows; i++) {
			f32x16 v = f.read(row[i] + e * f.size);

			UNROLL
			for (int c = 0; c < columns; c++)
				acc[i][c] = vf_fma(v, vf_load(x + (size_t)c * padded + e), acc[i][c]);
		}
	}
	UNROLL
	for (int i = 0; i < rows; i++) {
		UNROLL
		for (int c = 0; c < columns; c++) {
			if (whole < k)
				acc[i][c] = vf_fma(f.read(rest[i]), vf_load(x + (size_t)c * padded + whole), acc[i][c]);
			j.y[(c0 + (size_t)c) * j.stride + r + (size_t)i] = vf_tree(acc[i][c]);
		}
	}
}

/* FLOAT_ROWS rows from r on and all columns, three or more, split evenly into turns; the rows stay in the
 * first-level cache meanwhile. */
INLINE void float_set(struct floats f, struct product_job j, size_t r)
{
	size_t turns = (j.x->n + FLOAT_SIDE - 1) / FLOAT_SIDE, far = sets_ahead(FLOAT_ROWS * j.w->row_bytes), c = 0;

	for (size_t turn = 0; turn < turns; turn++, far = 0) {
		size_t columns = j.x->n * (turn + 1) / turns - c;

		if (FLOAT_SIDE > 2 && columns == 2)
			float_rows(f, j, r, FLOAT_ROWS, c, 2, far);
		else if (FLOAT_SIDE > 3 && columns == 3)
			float_rows(f, j, r, FLOAT_ROWS, c, 3, far);
		else if (FLOAT_SIDE > 4 && columns == 4)
			float_rows(f, j, r, FLOAT_ROWS, c, 4, far);
		else if (FLOAT_SIDE > 5 && columns == 5)
			float_rows(f, j, r, FLOAT_ROWS, c, 5, far);
		else
			float_rows(f, j, r, FLOAT_ROWS, c, FLOAT_SIDE, far);
		c += columns;
	}
}

/* A single column goes row by row, unless it is longer than this and does not fit the first-level cache; two go
 * along two rows. Each row more is one more stream from memory (AVX-512, one thread, whole engine: one column
 * along two rows 0.9 of the speed, two along four 0.75). Short rows, as adapters have, are adjacent anyway, and go
 * together so that their sums do not wait for each other (rows of 16 in the cache: AVX-512 7.0 ns a row, then 1.6;
 * AVX2 15, then 8.4). */
enum { FLOAT_LONG = 6144, FLOAT_SHORT = 64 };

INLINE void decode_floats(struct floats f, struct product_job j)
{
	size_t r = j.r0, far = sets_ahead(2 * j.w->row_bytes), far_1 = sets_ahead(j.w->row_bytes);
	size_t far_all = sets_ahead(FLOAT_ROWS * j.w->row_bytes);

	if (j.x->n > 2)
		for (; r + FLOAT_ROWS <= j.r1; r += FLOAT_ROWS)
			float_set(f, j, r);
	else if (j.x->n == 2)
		for (; r + 2 <= j.r1; r += 2)
			float_rows(f, j, r, 2, 0, 2, far);
	else if (j.w->cols <= FLOAT_SHORT)
		for (; r + FLOAT_ROWS <= j.r1; r += FLOAT_ROWS)
			float_rows(f, j, r, FLOAT_ROWS, 0, 1, far_all);
	else if (j.w->cols > FLOAT_LONG)
		for (; r + 2 <= j.r1; r += 2)
			float_rows(f, j, r, 2, 0, 1, far);
	for (; r < j.r1; r++)
		for (size_t c = 0; c < j.x->n; c++)
			float_rows(f, j, r, 1, c, 1, c ? 0 : far_1);
}

#define DECODE_FLOATS(id, NAME, name, bytes) \
	static void decode_##name(const struct product_job *j) \
	{ \
		decode_floats((struct floats){ floats_##name, bytes }, *j); \
	}
FORMATS_FLOAT(DECODE_FLOATS)

void product_floats(const struct product_job *j)
{
#define ENTRY(id, NAME, name, ...) [id] = decode_##name,
	static void (*const floats[FORMAT_LIMIT])(const struct product_job *) = { FORMATS_FLOAT(ENTRY) };

	floats[j->w->format->id](j);
}
