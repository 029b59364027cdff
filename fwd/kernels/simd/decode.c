/* decode: products of quantised weights with one or two columns. The weights are read once, straight along their rows,
 * a span of sixteen blocks at a time; rows.h says where rows end.
 *
 * A type is one row of the table in unpack.h: how its codes and scales are read, in which order, and how many rows are
 * multiplied side by side. Every type has the same three loops, compiled from that row (LOOPS, at the end): for one
 * column, of rows of whole spans and of other rows, and for two columns. */
#include <string.h>

#include "lib/base/size.h"
#include "acts.h"
#include "prefetch.h"
#include "product.h"
#include "rows.h"
#include "spans.h"

/* ---- spans in registers ---- */

INLINE b64 codes_of_memory(const uint8_t *span, int pair)
{
	return ((const struct unpacked *)span)->codes[pair];
}

INLINE void four_of_memory(const uint8_t *span, int four, b64 codes[2])
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
	u.read_rows = NULL;
	u.signs = 0;
	u.four = u.four ? four_of_memory : NULL;
	u.placed = NULL;
	u.read_scales = scales_of_memory;
	return u;
}

/* ---- quantised weights ---- */

/* What a loop multiplies: rows side by side, and one column, or two of one plane. */
struct decode_shape {
	size_t rows, columns;
	int prefetches;         /* 1: it prefetches what comes next */
};

/* For the sum of each row i and column c of a shape. */
#define EACH_SUM(shape, i, c) \
	UNROLL for (size_t i = 0; i < (shape).rows; i++) \
		UNROLL for (size_t c = 0; c < (shape).columns; c++)

/* sum[column or plane][half]: the sums of products with a span's activations, n columns or planes, over the blocks'
 * first and second halves. */
INLINE void half_sums(struct unpacker u, const uint8_t *p, const int8_t *x, size_t n, i32x16 sum[2][2])
{
	i32x16 v[2][SPAN_VECTORS];
	struct grid_rows rows;

	read_rows(u, p, &rows);
	UNROLL
	for (int c = 0; c < SPAN_VECTORS; c++) {
		b64 w = plain_codes(u, p, &rows, c);

		UNROLL
		for (size_t i = 0; i < n; i++) {
			b64 q = vb_load(x + i * SPAN + 64 * c);

			if (u.signs)
				q = vb_negate(q, rows.signs + 8 * c);
			v[i][c] = u.is_signed ? vd_dot_signed(w, q) : vd_dot(w, q, u.top);
			vd_fold_halves(v[i], c, u.top);
		}
	}
	UNROLL
	for (size_t i = 0; i < n; i++)
		vd_half_sums(v[i], u.top, &sum[i][0], &sum[i][1]);
}

#if !PAIRS      /* never called: no type has these orders */
INLINE i32x16 vi_from_place(i32x16 sum, int place) { return sum; }
INLINE void vd_field_sums(const i32x16 v[4], int top, i32x16 sum[2]) { }
INLINE void vd_group_sums(const i32x16 v[4], int top, i32x16 sum[2]) { }
#endif

/* Like half_sums(), for codes in quarters, fields or groups. Types with codes in quarters have one scale a block: for
 * them sum[i][0] is over whole blocks and sum[i][1] is zero. With one column or plane, codes stay in their places
 * and the sums are shifted instead: half as many shifts (Zen 4: 0.97 of the time; Intel: TQ2_0 0.9, Q2_K and
 * Q3_K 0.97). With two, it would save none and take 1.03 of the time. */
INLINE void pair_sums(struct unpacker u, const uint8_t *p, const int8_t *x, size_t n, i32x16 sum[2][2])
{
	i32x16 v[2][SPAN_VECTORS / 2];
	int top = u.is_signed ? 255 : u.top, placed = u.placed && n == 1;

	UNROLL
	for (int c = 0; c < SPAN_VECTORS / 2; c++) {
		b64 w[2];

		(placed ? u.placed : u.four)(p, c, w);
		UNROLL
		for (size_t i = 0; i < n; i++) {
			const int8_t *q = x + i * SPAN + 128 * c;

			v[i][c] = vd_dot_two(w[0], vb_load(q), w[1], vb_load(q + 64));
			if (placed)
				v[i][c] = vi_from_place(v[i][c], u.place[c]);
			vd_fold_quarters(v[i], c);
		}
	}
	UNROLL
	for (size_t i = 0; i < n; i++)
		if (u.order == ORDER_FIELDS)
			vd_field_sums(v[i], top, sum[i]);
		else if (u.order == ORDER_GROUPS)
			vd_group_sums(v[i], top, sum[i]);
		else {
			sum[i][0] = vd_quarter_sums(v[i], top);
			sum[i][1] = vi_zero();
		}
}

#if EIGHTS
/* Like half_sums(), for codes in eights. For types with one scale a block, sum[i][0] is over whole blocks and sum[i][1]
 * is zero. */
INLINE void eight_sums(struct unpacker u, const uint8_t *p, const int8_t *x, size_t n, i32x16 sum[2][2])
{
	struct eights_shape s = { .vectors = 2 / u.scales, .top = u.top, .is_signed = u.is_signed };
	struct grid_rows rows;

	read_rows(u, p, &rows);
	UNROLL
	for (int four = 0; four < 4; four++) {
		i32x8 v[2][2];

		UNROLL
		for (int c = 0; c < 2; c++) {
			b64 w = codes_in_eights(u, p, &rows, 2 * four + c);

			UNROLL
			for (size_t i = 0; i < n; i++) {
				const int8_t *at = x + i * SPAN + 128 * four + 64 * c;
				b64 q = vb_load(at);

				if (u.signs)
					q = vb_negate_eights(q, rows.signs + 16 * four, c);
				v[i][c] = vd_eights(s, w, q, at + n * SPAN);
			}
		}
		UNROLL
		for (size_t i = 0; i < n; i++) {
			UNROLL
			for (int h = 0; h < u.scales; h++)
				vd_eight_sums(s, v[i] + h, four, &sum[i][h]);
		}
	}
	if (u.scales == 1) {
		UNROLL
		for (size_t i = 0; i < n; i++)
			sum[i][1] = vi_zero();
	}
}
#else   /* never called: no type has this order */
INLINE void eight_sums(struct unpacker u, const uint8_t *p, const int8_t *x, size_t n, i32x16 sum[2][2]) { }
#endif

/* With DOT_AT_ONCE, the activations take the signs of codebooks, so that codes need no offset. */
INLINE struct unpacker unpacker_at_once(struct unpacker u)
{
	if (u.signs) {
		u.top -= u.offset;
		u.offset = 0;
	}
	return u;
}

/* sum[column or plane][half]: the integer sums of a span, as above. */
INLINE void span_sums(struct unpacker u, const uint8_t *p, struct decode_shape s, const char *x, i32x16 sum[2][2])
{
	size_t n = s.columns * PLANES;
	const int8_t *codes = (const int8_t *)x + s.columns * acts_span_bytes(PLANES);

	if (in_eights(u))
		eight_sums(u, p, codes + ORDER_EIGHTS * n * SPAN, n, sum);
	else if (u.four)
		pair_sums(u, p, codes + u.order * n * SPAN, n, sum);
	else
		half_sums(u, p, codes + ORDER_PLAIN * n * SPAN, n, sum);
}

/* acc[column] += the products of a span, from its integer sums. */
INLINE void span_close(struct unpacker u, const uint8_t *p, struct decode_shape shape, const char *x,
                       i32x16 sum[2][2], f32x16 acc[2])
{
	size_t step = acts_span_bytes(PLANES);
	struct scales s;

	/* Keeps the compiler from reading the scales before the sums are done. In eights, it would spill them. With a
	 * byte a weight, reading is the limit, and loads of scales that come first, in descending order, slow the CPU's
	 * prefetchers down (Zen 4: Q8_0 1.05 times as fast). Unlike OPAQUE(), it is volatile, so that the compiler does
	 * not move it up. */
	if (in_eights(u) || (DOT_AT_ONCE && u.bytes > SPAN))
		__asm__ volatile("" : "+r"(p));
	u.read_scales(p, &s);
	UNROLL
	for (size_t c = 0; c < shape.columns; c++) {
		const struct acts_span *at = (const struct acts_span *)(x + c * step);

		acc[c] = vf_fma(vf_load(at->dx), span_product(numbers_of(u), sum + c, &s, at), acc[c]);
	}
}

/* acc[column] += the products of a span. With DOT_AT_ONCE the scales are read last. */
INLINE void span_add(struct unpacker u, const uint8_t *p, struct decode_shape s, const char *x, f32x16 acc[2])
{
	struct unpacked w;
	i32x16 sum[2][2];

	if (DOT_AT_ONCE) {
		u = unpacker_at_once(u);
	} else {
		unpack_codes(u, p, w.codes);
		u.read_scales(p, &w.s);
		u = unpacker_of_memory(u);
		p = (const uint8_t *)&w;
	}
	span_sums(u, p, s, x, sum);
	span_close(u, p, s, x, sum, acc);
}

/* acc[row][column] += the products of span g of a set of rows. */
INLINE void set_add(struct unpacker u, struct row_set set, size_t g, struct decode_shape s, const struct acts *a,
                    f32x16 acc[2][2])
{
	const char *x = (const char *)a->data + g * acts_spans_bytes(PLANES, s.columns);
	const uint8_t *p = set.start + g * u.bytes;

	UNROLL
	for (size_t i = 0; i < s.rows; i++) {
		if (s.prefetches)
			prefetch_side(set, i, g * u.bytes, u.bytes);
		span_add(u, p + i * set.row_bytes, s, x, acc[i]);
	}
}

/* `rows` rows of `bytes` bytes each, side by side, from r0 of the job on. */
INLINE struct row_set first_set(const struct product_job *j, size_t rows, size_t bytes)
{
	return (struct row_set){ .start = (const uint8_t *)j->w->data + j->r0 * j->w->row_bytes, .rows = rows,
		.row_bytes = bytes, .far = sets_ahead(rows * bytes), .near = PREFETCH_NEAR };
}

/* Rows of whole spans, side by side, so that they share the loads of the columns. (AVX-512, from memory, with
 * prefetches, two rows: Q4_0 and Q4_K 1.08 times as fast as row by row, Q6_K 1.05; with 16-bit activations 1.07 to
 * 1.28.) Returns the first row that is left. */
INLINE size_t decode_in_turn(struct unpacker u, struct decode_shape s, const struct product_job *j)
{
	struct row_set set = first_set(j, s.rows, j->w->row_bytes);
	size_t spans = j->w->cols / SPAN, r = j->r0;

	for (; r + s.rows <= j->r1; r += s.rows, set.start += s.rows * set.row_bytes) {
		f32x16 acc[2][2] = { { vf_zero(), vf_zero() }, { vf_zero(), vf_zero() } };

		for (size_t g = 0; g < spans; g++)
			set_add(u, set, g, s, j->x, acc);
		EACH_SUM(s, i, c)
			j->y[c * j->stride + r + i] = vd_close(acc[i][c]);
	}
	return r;
}

/* The same for one column, with the floats of a span computed after the integer sums of the next one: each is a long
 * chain of dependent instructions, and a CPU looks only a few hundred instructions ahead, which is one or two spans. */
INLINE size_t decode_overlapped(struct unpacker u, struct decode_shape s, const struct product_job *j)
{
	struct row_set set = first_set(j, s.rows, j->w->row_bytes);
	size_t step = acts_spans_bytes(PLANES, 1), last = j->w->cols / SPAN - 1, r = j->r0;

	u = unpacker_at_once(u);
	for (; r + s.rows <= j->r1; r += s.rows, set.start += s.rows * set.row_bytes) {
		const uint8_t *p = set.start;
		const char *x = j->x->data;
		i32x16 sum[2][2][2];            /* [row], as in span_sums() */
		f32x16 acc[2] = { vf_zero(), vf_zero() };

		UNROLL
		for (size_t i = 0; i < s.rows; i++)
			span_sums(u, p + i * set.row_bytes, s, x, sum[i]);
		for (size_t g = 0; g < last; g++, p += u.bytes, x += step)
			UNROLL
			for (size_t i = 0; i < s.rows; i++) {
				const uint8_t *at = p + i * set.row_bytes;
				i32x16 next[2][2];

				prefetch_side(set, i, g * u.bytes, u.bytes);
				span_sums(u, at + u.bytes, s, x + step, next);
				span_close(u, at, s, x, sum[i], &acc[i]);
				memcpy(sum[i], next, sizeof next);
			}
		UNROLL
		for (size_t i = 0; i < s.rows; i++) {
			prefetch_side(set, i, last * u.bytes, u.bytes);
			span_close(u, p + i * set.row_bytes, s, x, sum[i], &acc[i]);
			j->y[r + i] = vd_close(acc[i]);
		}
	}
	return r;
}

/* The most columns of a row that is read as a stream: beside it, the activations must stay in the first-level cache, as
 * loads from the second disturb the prefetchers. (Zen 4: rows of 8,192 1.1 to 1.25 times as fast, 11,264 0.9 to 1.05,
 * 14,336 0.55 to 0.97.) */
enum { STREAM_MOST = 8192 };

/* Rows of whole spans and one column. With a byte a weight or more, CPUs that have SYSTEM_ONE_STREAM read row after row
 * without prefetches (Zen 4: Q8_0 1.2 times as fast; types with fewer bits gain 3 to 8% with two threads, but lose up
 * to 20% with one). Spans of types that are slower to unpack than to read overlap. (Zen 4, from memory: TQ2_0 1.1 times
 * as fast, Q2_K 1.08, Q2_0 and Q3_K 1.06, codebooks 1.03; types of four bits and more 0.87 to 1.0, although 1.03 to
 * 1.07 in the cache. AVX2: 1.03 to 1.09, but with the sums of Q3_K, or of two planes unless it is a codebook, registers
 * are too few.) */
INLINE size_t decode_whole(struct unpacker u, struct decode_shape s, const struct product_job *j)
{
	struct decode_shape stream = { 1, 1, 0 };

	if (PLANES == 1 && u.bytes > SPAN && j->one_stream && j->w->cols <= STREAM_MOST)
		return decode_in_turn(u, stream, j);
	if (DOT_AT_ONCE && PLANES <= u.overlap)
		return decode_overlapped(u, s, j);
	return decode_in_turn(u, s, j);
}

/* decode_whole() for rows of any length, read in runs (struct row_run). For rows of whole spans it takes 3% more time.
 * Stops before a set of runs whose padding would be read past the end of the matrix; product_columns() takes that. */
INLINE size_t decode_runs(struct unpacker u, struct decode_shape s, const struct product_job *j)
{
	struct row_run run = row_run_of(j->w->cols / 32);
	size_t bytes = run.rows * j->w->row_bytes, rows = s.rows * run.rows, r = j->r0;
	size_t reach = s.rows * bytes + run.spans * u.bytes - bytes;    /* bytes read from a set's start on */
	const uint8_t *end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes;
	struct row_set set = first_set(j, s.rows, bytes);

	for (; r + rows <= j->r1 && (size_t)(end - set.start) >= reach; r += rows, set.start += s.rows * bytes) {
		size_t blocks = j->w->cols / 32, left = blocks, g = 0, ended = 0;
		float *y = j->y + r;
		f32x16 acc[2][2] = { { vf_zero(), vf_zero() }, { vf_zero(), vf_zero() } };
		f32x16 aside[2][2] = { { vf_zero(), vf_zero() }, { vf_zero(), vf_zero() } };

		while (g < run.spans) {
			for (size_t stop = ended ? g + 1 : g + left / SPAN_BLOCKS; g < stop; g++)
				set_add(u, set, g, s, j->x, acc);
			if (ended) {
				EACH_SUM(s, i, c)
					end_rows(left, &acc[i][c], aside[i][c], blocks, ended,
					         y + i * run.rows + c * j->stride);
				left = blocks - blocks_begun(left, blocks);
				y += ended;
				ended = 0;
			} else if ((left %= SPAN_BLOCKS)) {
				EACH_SUM(s, i, c)
					split_rows(left, &acc[i][c], &aside[i][c]);
				ended = rows_ended(left, blocks);
			}
		}
		if (!left)
			EACH_SUM(s, i, c)
				y[i * run.rows + c * j->stride] = vd_close(acc[i][c]);
	}
	return r;
}

/* The loops of a type: for one column, of rows of whole spans and of other rows, and for two columns. Each returns the
 * first row that is left. With few registers, two columns are multiplied one run at a time (AVX2: TQ2_0 then takes 0.75
 * of the time, MXFP4 0.9, the others the same). */
#define LOOP(kind, decode, name, ...) \
	static size_t kind##_##name(const struct product_job *j) \
	{ \
		return decode(unpack_##name, (struct decode_shape){ __VA_ARGS__ }, j); \
	}
#define LOOPS(id, NAME, name, ...) \
	LOOP(whole, decode_whole, name, unpack_##name.rows, 1, 1) \
	LOOP(runs, decode_runs, name, unpack_##name.rows, 1, 1) \
	LOOP(two, decode_runs, name, EIGHTS ? 1 : unpack_##name.rows, 2, 1)
FORMATS_QUANTISED(LOOPS)

void product_few(PLANES)(const struct product_job *j)
{
	typedef size_t loop(const struct product_job *j);
#define ROW(id, NAME, name, ...) [id] = { whole_##name, runs_##name, PLANES == 1 ? two_##name : NULL },
	static const struct { loop *whole, *runs, *two; } loops[FORMAT_LIMIT] = { FORMATS_QUANTISED(ROW) };
#undef ROW
	enum format_id id = j->w->format->id;
	struct product_job rest = *j;

	if (j->x->n == 1)
		rest.r0 = (j->w->cols % SPAN ? loops[id].runs : loops[id].whole)(j);
	else if (j->x->n == 2 && PLANES == 1)
		rest.r0 = loops[id].two(j);
	product_columns(PLANES)(&rest);
}
