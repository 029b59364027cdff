/* bf16: products of BF16 weights with activations rounded to BF16, by FMA; in bf16_dot.c by products of pairs. */
#include "vocabulary.h"

/* 1: with vf_dot_pairs(), in bf16_dot.c */
#ifndef DOT
#define DOT 0
INLINE f32x16 vf_dot_pairs(i32x16 w, i32x16 x, f32x16 sum) { return sum; }      /* never called */
#endif

#include "bf16_kernel.h"
#include "few.h"
#include "product.h"

/* One step of a chain: the odd elements, then the even ones. */
INLINE f32x16 bf16_step(i32x16 w, i32x16 x, f32x16 sum)
{
	if (DOT)
		return vf_dot_pairs(w, x, sum);
	sum = vf_fma(bf16_odd(w), bf16_odd(x), sum);
	return vf_fma(bf16_even(w), bf16_even(x), sum);
}

/* What few_rows() multiplies. */
struct bf16_few {
	struct row_set set;
	const int32_t *x;       /* the first column */
	size_t step;            /* int32s from column to column */
	int rows, columns;
	size_t vectors, whole;  /* of a row; those that it holds entirely */
	uint8_t (*rest)[64];    /* what follows them, filled up with zeros */
};

/* sum[rows][columns] = a chain from zero over vectors [v, end). */
INLINE void bf16_chain(struct bf16_few f, size_t v, size_t end, f32x16 (*sum)[FLOAT_SIDE])
{
	UNROLL
	for (int i = 0; i < f.rows; i++)
		UNROLL
		for (int c = 0; c < f.columns; c++)
			sum[i][c] = vf_zero();
	for (; v < end; v++) {
		i32x16 x[FLOAT_SIDE];

		UNROLL
		for (int i = 0; i < f.rows; i++)
			if (f.set.far)
				prefetch_side(f.set, (size_t)i, v * 64, 64);
		UNROLL
		for (int c = 0; c < f.columns; c++)
			x[c] = vi_load(f.x + (size_t)c * f.step + 16 * v);
		UNROLL
		for (int i = 0; i < f.rows; i++) {
			const uint8_t *at = f.set.start + (size_t)i * f.set.row_bytes + v * 64;
			i32x16 w = vi_bf16_pairs(v < f.whole ? at : f.rest[i]);

			UNROLL
			for (int c = 0; c < f.columns; c++)
				sum[i][c] = bf16_step(w, x[c], sum[i][c]);
		}
	}
}

/* As few.h declares it; next is always NULL. */
INLINE void few_rows(struct floats t, struct product_job j, size_t r, int rows, size_t c0, int columns, size_t far,
	const uint8_t *next)
{
	size_t vectors = bf16_vectors(j.w->cols), bytes = j.w->cols * sizeof(uint16_t);
	uint8_t rest[FLOAT_ROWS][64] = { { 0 } };
	struct bf16_few f = { .set = { .start = (const uint8_t *)j.w->data + r * j.w->row_bytes, .rows = (size_t)rows,
			.row_bytes = j.w->row_bytes, .far = far, .near = FLOAT_NEAR },
		.x = (const int32_t *)j.x->data + c0 * vectors * 16, .step = vectors * 16,
		.rows = rows, .columns = columns, .vectors = vectors, .whole = bytes / 64, .rest = rest };
	f32x16 acc[FLOAT_ROWS][FLOAT_SIDE], sum[FLOAT_ROWS][FLOAT_SIDE], second[FLOAT_ROWS][FLOAT_SIDE];

	UNROLL
	for (int i = 0; i < rows; i++) {
		if (f.whole < vectors)
			memcpy(rest[i], f.set.start + (size_t)i * f.set.row_bytes + f.whole * 64, bytes % 64);
		UNROLL
		for (int c = 0; c < columns; c++)
			acc[i][c] = vf_zero();
	}
	for (size_t v = 0; v < vectors; v += BF16_SPAN) {
		bf16_chain(f, v, size_min(v + BF16_CHAIN, vectors), sum);
		bf16_chain(f, v + BF16_CHAIN, size_min(v + BF16_SPAN, vectors), second);
		UNROLL
		for (int i = 0; i < rows; i++)
			UNROLL
			for (int c = 0; c < columns; c++)
				acc[i][c] = vf_add(acc[i][c], vf_add(sum[i][c], second[i][c]));
	}
	UNROLL
	for (int i = 0; i < rows; i++)
		UNROLL
		for (int c = 0; c < columns; c++)
			j.y[(c0 + (size_t)c) * j.stride + r + (size_t)i] = vf_tree(acc[i][c]);
}

static void fill(struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	fill_bf16(DOT, p, w, r, r1);
}

static void multiply(struct tiling *d, const struct panel *p, size_t c)
{
	if (tile_width(c, d->job->x->n) == ACTS_COLUMNS)
		bf16_tile(DOT, FLOAT_COLUMNS, ACTS_COLUMNS, d, p, c);
	else
		bf16_tile(DOT, ACTS_STEP, ACTS_NARROW, d, p, c);
}

void product_bf16(DOT)(const struct product_job *j)
{
	size_t k = j->w->cols;
	struct panel p = { .data = j->scratch };
	struct tiling d = { .job = j, .splits = splits_of(k, FLOAT_SPLIT),
		.pending = (float *)(p.data + bf16_panel_bytes(k)) };

	if (acts_few(j->x->kind, k, j->x->n))
		few_columns((struct floats){ NULL, sizeof(uint16_t) }, *j, NULL);
	else
		run_panels(&d, &p, fill, multiply, FLOAT_COLUMNS);
}
