/* decode: products with one column, and of float weights with few. The weights are read once, straight along their
 * rows, a span of sixteen blocks at a time; rows.h says where rows end. */
#include <string.h>

#include "lib/base/size.h"
#include "acts.h"
#include "float_rows.h"
#include "product.h"
#include "rows.h"
#include "spans.h"

/* ---- spans in registers ---- */

INLINE b64 codes_of_memory(const uint8_t *span, int pair)
{
	return ((const struct unpacked *)span)->codes[pair];
}

INLINE void quarters_of_memory(const uint8_t *span, int four, b64 codes[2])
{
	codes[0] = codes_of_memory(span, 2 * four);
	codes[1] = codes_of_memory(span, 2 * four + 1);
}

INLINE void scales_of_memory(const uint8_t *span, struct scales *s)
{
	*s = ((const struct unpacked *)span)->s;
}

/* An unpacker that takes a span which u has unpacked. */
INLINE struct unpacker unpacker_of_memory(struct unpacker u)
{
	u.codes = codes_of_memory;
	u.quarters = u.quarters ? quarters_of_memory : NULL;
	u.read_scales = scales_of_memory;
	return u;
}

/* ---- quantised weights ---- */

/* sum[plane][half]: the sums of products with a span's activations over the blocks' first and second halves. */
INLINE void half_sums(struct unpacker u, const uint8_t *p, const int8_t *x, int planes, i32x16 sum[2][2])
{
	i32x16 v[2][SPAN_VECTORS];

	UNROLL
	for (int c = 0; c < SPAN_VECTORS; c++) {
		b64 w = u.codes(p, c);

		UNROLL
		for (int i = 0; i < planes; i++) {
			b64 q = vb_load(x + i * SPAN + 64 * c);

			v[i][c] = u.is_signed ? vd_dot_signed(w, q) : vd_dot(w, q, u.top);
			vd_fold_halves(v[i], c, u.top);
		}
	}
	UNROLL
	for (int i = 0; i < planes; i++)
		vd_half_sums(v[i], u.top, &sum[i][0], &sum[i][1]);
}

/* The same with quarters: sum[plane][0] is over whole blocks, sum[plane][1] is zero. */
INLINE void quarter_sums(struct unpacker u, const uint8_t *p, const int8_t *x, int planes, i32x16 sum[2][2])
{
	i32x16 v[2][SPAN_VECTORS / 2];

	UNROLL
	for (int c = 0; c < SPAN_VECTORS / 2; c++) {
		b64 w[2];

		u.quarters(p, c, w);
		UNROLL
		for (int i = 0; i < planes; i++) {
			const int8_t *q = x + i * SPAN + 128 * c;

			v[i][c] = vd_dot_two(w[0], vb_load(q), w[1], vb_load(q + 64));
			vd_fold_quarters(v[i], c);
		}
	}
	UNROLL
	for (int i = 0; i < planes; i++) {
		sum[i][0] = vd_quarter_sums(v[i]);
		sum[i][1] = vi_zero();
	}
}

INLINE void span_sums(struct unpacker u, const uint8_t *p, const struct acts_span *x, int planes, i32x16 sum[2][2])
{
	const int8_t *q = (const int8_t *)(x + 1);

	if (u.quarters)
		quarter_sums(u, p, q + 2 * planes * SPAN, planes, sum);
	else
		half_sums(u, p, q + planes * SPAN, planes, sum);
}

/* The products of a span with one column, before dx. With DOT_AT_ONCE each vector of codes is multiplied as soon as
 * it is unpacked, and the scales are read last. */
INLINE f32x16 span_times(struct unpacker u, const uint8_t *p, const struct acts_span *x, int planes)
{
	struct unpacked w;
	struct scales s;
	i32x16 sum[2][2];

	if (!DOT_AT_ONCE) {
		unpack_codes(u, p, w.codes);
		u.read_scales(p, &w.s);
		u = unpacker_of_memory(u);
		p = (const uint8_t *)&w;
	}
	span_sums(u, p, x, planes, sum);
	u.read_scales(p, &s);
	return span_product(u, sum, &s, x, planes);
}

/* acc[i] += the products of span g of row i of a set with a single column. */
INLINE void set_add(struct unpacker u, struct row_set set, size_t g, const struct acts *a, int planes, f32x16 acc[2])
{
	const struct acts_span *x = (const struct acts_span *)((const char *)a->data + g * acts_span_bytes(a->kind, 1));
	const uint8_t *p = set.start + g * u.bytes;

	UNROLL
	for (size_t i = 0; i < set.rows; i++) {
		prefetch_side(set, i, g * u.bytes, u.bytes);
		acc[i] = vf_fma(vf_load(x->dx), span_times(u, p + i * set.row_bytes, x, planes), acc[i]);
	}
}

/* Rows side by side, from r0 of the job on, of so many bytes each. */
INLINE struct row_set first_set(const struct product_job *j, size_t rows, size_t bytes)
{
	return (struct row_set){ .start = (const uint8_t *)j->w->data + j->r0 * j->w->row_bytes, .rows = rows,
		.row_bytes = bytes, .far = sets_ahead(rows * bytes), .near = PREFETCH_NEAR };
}

/* A single column and rows of whole spans, side by side, so that they share the loads of the column. (AVX-512, from
 * memory, two rows: Q4_0 and Q4_K 1.08 times as fast as row by row, Q6_K 1.05; with 16-bit activations 1.07 to 1.28.)
 * Returns the first row that is left. */
INLINE size_t decode_whole(struct unpacker u, size_t rows, const struct product_job *j)
{
	struct row_set set = first_set(j, rows, j->w->row_bytes);
	size_t spans = j->w->cols / SPAN, r = j->r0;

	for (; r + rows <= j->r1; r += rows, set.start += rows * set.row_bytes) {
		f32x16 acc[2] = { vf_zero(), vf_zero() };

		for (size_t g = 0; g < spans; g++)
			set_add(u, set, g, j->x, 1, acc);
		UNROLL
		for (size_t i = 0; i < rows; i++)
			j->y[r + i] = vd_close(acc[i]);
	}
	return r;
}

/* The same for rows of any length, in runs of as many rows as fill whole spans, or one row; whole spans are 3% slower
 * here. */
INLINE size_t decode_runs(struct unpacker u, size_t runs, int planes, const struct product_job *j)
{
	struct acts_copies copies = acts_copies(j->w->cols / 32);
	size_t bytes = copies.copies * j->w->row_bytes, rows = runs * copies.copies, r = j->r0;
	size_t reach = runs * bytes + copies.spans * u.bytes - bytes;
	const uint8_t *end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes;
	struct row_set set = first_set(j, runs, bytes);

	for (; r + rows <= j->r1 && (size_t)(end - set.start) >= reach; r += rows, set.start += runs * bytes) {
		size_t blocks = j->w->cols / 32, left = blocks, g = 0, ended = 0;
		float *y = j->y + r;
		f32x16 acc[2] = { vf_zero(), vf_zero() }, aside[2] = { vf_zero(), vf_zero() };

		while (g < copies.spans) {
			for (size_t stop = ended ? g + 1 : g + left / SPAN_BLOCKS; g < stop; g++)
				set_add(u, set, g, j->x, planes, acc);
			if (ended) {
				UNROLL
				for (size_t i = 0; i < runs; i++)
					end_rows(left, &acc[i], aside[i], blocks, ended, y + i * copies.copies);
				left = blocks - (SPAN_BLOCKS - left) % blocks;
				y += ended;
				ended = 0;
			} else if ((left %= SPAN_BLOCKS)) {
				UNROLL
				for (size_t i = 0; i < runs; i++)
					part_rows(left, &acc[i], &aside[i]);
				ended = rows_ended(left, blocks);
			}
		}
		if (!left)
			UNROLL
			for (size_t i = 0; i < runs; i++)
				y[i * copies.copies] = vd_close(acc[i]);
	}
	return r;
}

/* How many runs of a format's rows are read side by side: two, but one where unpacking takes most of the time, and
 * where memory is the limit, as with a byte or more a weight. The second list has loops for 16-bit activations too. */
#define RUNS_SMALL(ROW) \
	ROW(IQ2_XXS, iq2_xxs, 1) ROW(IQ2_XS, iq2_xs, 1) ROW(IQ2_S, iq2_s, 1) ROW(IQ3_XXS, iq3_xxs, 1) \
	ROW(IQ3_S, iq3_s, 1) ROW(IQ1_S, iq1_s, 1) ROW(IQ1_M, iq1_m, 1) ROW(TQ1_0, tq1_0, 1) ROW(Q1_0, q1_0, 1) \
	ROW(Q2_0, q2_0, 1)
#define RUNS_BOTH(ROW) \
	ROW(Q4_0, q4_0, 2) ROW(Q4_1, q4_1, 2) ROW(Q5_0, q5_0, 2) ROW(Q5_1, q5_1, 2) ROW(Q8_0, q8_0, 1) \
	ROW(Q2_K, q2_k, 2) ROW(Q3_K, q3_k, 2) ROW(Q4_K, q4_k, 2) ROW(Q5_K, q5_k, 2) ROW(Q6_K, q6_k, 2) \
	ROW(IQ4_NL, iq4_nl, 2) ROW(IQ4_XS, iq4_xs, 2) ROW(TQ2_0, tq2_0, 2) ROW(MXFP4, mxfp4, 2) ROW(NVFP4, nvfp4, 2)
#define WHOLE(NAME, name, runs) \
	static size_t whole_##name(const struct product_job *j) { return decode_whole(unpack_##name, runs, j); }
#define RUNS(NAME, name, runs) \
	static size_t runs_##name(const struct product_job *j) { return decode_runs(unpack_##name, runs, 1, j); }
#define RUNS_WIDE(NAME, name, runs) \
	static size_t runs_wide_##name(const struct product_job *j) { return decode_runs(unpack_##name, 2, 2, j); }
RUNS_BOTH(WHOLE)
RUNS_SMALL(RUNS)
RUNS_BOTH(RUNS)
RUNS_BOTH(RUNS_WIDE)

static void decode_codes(const struct product_job *j)
{
#define ENTRY(NAME, name, runs) [FORMAT_##NAME] = whole_##name,
	static size_t (*const whole[FORMAT_LIMIT])(const struct product_job *j) = { RUNS_BOTH(ENTRY) };
#undef ENTRY
#define ENTRY(NAME, name, runs) [FORMAT_##NAME] = runs_##name,
#define ENTRY_WIDE(NAME, name, runs) [FORMAT_##NAME] = runs_wide_##name,
	static size_t (*const runs[2][FORMAT_LIMIT])(const struct product_job *j) =
	        { { RUNS_SMALL(ENTRY) RUNS_BOTH(ENTRY) }, { RUNS_BOTH(ENTRY_WIDE) } };
#undef ENTRY
	const struct format *f = j->w->format;
	int wide = j->x->kind == ACTS_Q16;
	struct product_job rest = *j;

	if (j->x->n == 1 && !wide && j->w->cols % SPAN == 0 && whole[f->id])
		rest.r0 = whole[f->id](j);
	else if (j->x->n == 1 && runs[wide][f->id])
		rest.r0 = runs[wide][f->id](j);
	product_columns(&rest);
}

/* ---- any format ---- */

#define DECODE_FLOATS(id, NAME, name, bytes) \
	static void decode_##name(const struct product_job *j) \
	{ \
		decode_floats((struct floats){ floats_##name, bytes }, *j); \
	}
FORMATS_FLOAT(DECODE_FLOATS)

void product_few(const struct product_job *j)
{
#define ENTRY(id, NAME, name, ...) [id] = decode_##name,
	static void (*const floats[FORMAT_LIMIT])(const struct product_job *) = { FORMATS_FLOAT(ENTRY) };

	(j->w->format->widen ? floats[j->w->format->id] : decode_codes)(j);
}
