/* decode: products with one or two columns, and of float weights with few. The weights are read once, straight along
 * their rows, a span of sixteen blocks at a time; rows.h says where rows end. */
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

/* What a loop multiplies: rows side by side, and columns of so many planes; two columns of one plane, or one column.
 * prefetches: 1: it prefetches what comes next. */
struct decode_shape {
	size_t rows, columns, planes;
	int prefetches;
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
 * and the sums are shifted instead: half as many shifts (Zen 4: 0.97 of the time). With two, it would save
 * none and take 1.03 of the time. */
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

INLINE int in_eights(struct unpacker u) { return EIGHTS && (u.order == ORDER_EIGHTS || u.read_rows); }

/* sum[column or plane][half]: the integer sums of a span, as above. */
INLINE void span_sums(struct unpacker u, const uint8_t *p, struct decode_shape s, const char *x, i32x16 sum[2][2])
{
	size_t n = s.columns * s.planes;
	const int8_t *codes = (const int8_t *)x + s.columns * acts_span_bytes(s.planes);

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
	size_t step = acts_span_bytes(shape.planes);
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

		acc[c] = vf_fma(vf_load(at->dx), span_product(u, sum + c, &s, at, (int)shape.planes), acc[c]);
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
	const char *x = (const char *)a->data + g * acts_spans_bytes(s.planes, s.columns);
	const uint8_t *p = set.start + g * u.bytes;

	UNROLL
	for (size_t i = 0; i < s.rows; i++) {
		if (s.prefetches)
			prefetch_side(set, i, g * u.bytes, u.bytes);
		span_add(u, p + i * set.row_bytes, s, x, acc[i]);
	}
}

/* Rows side by side, from r0 of the job on, of so many bytes each. */
INLINE struct row_set first_set(const struct product_job *j, size_t rows, size_t bytes)
{
	return (struct row_set){ .start = (const uint8_t *)j->w->data + j->r0 * j->w->row_bytes, .rows = rows,
		.row_bytes = bytes, .far = sets_ahead(rows * bytes), .near = PREFETCH_NEAR };
}

/* Rows of whole spans, side by side, so that they share the loads of the columns. (AVX-512, from memory, with
 * prefetches, two rows: Q4_0 and Q4_K 1.08 times as fast as row by row, Q6_K 1.05; with 16-bit activations 1.07 to
 * 1.28.) Returns the first row that is left. */
INLINE size_t decode_whole(struct unpacker u, struct decode_shape s, const struct product_job *j)
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

/* decode_whole() for one column of a type that is slower to unpack than to read. The floats of a span are computed
 * after the integer sums of the next one: each is a long chain of dependent instructions, and a CPU looks only a few
 * hundred instructions ahead, which is one or two spans. (Zen 4, from memory: TQ2_0 1.1 times as fast, Q2_K 1.08, Q2_0
 * and Q3_K 1.06, codebooks 1.03; types of four bits and more 0.87 to 1.0, although 1.03 in the cache. AVX2: 1.03 to
 * 1.09.) */
INLINE size_t decode_overlapped(struct unpacker u, struct decode_shape s, const struct product_job *j)
{
	struct row_set set = first_set(j, s.rows, j->w->row_bytes);
	size_t step = acts_spans_bytes(s.planes, 1), last = j->w->cols / SPAN - 1, r = j->r0;

	/* Too few registers for the sums of two planes, or for those of Q3_K (AVX2: 1.04 to 1.08 times the time). */
	if (!DOT_AT_ONCE || (EIGHTS && (s.planes == 2 || (u.scales == 2 && !in_eights(u)))))
		return decode_whole(u, s, j);
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

/* The loops of a type:
 *	runs            one column of one plane, rows in runs
 *	wide            the same for two planes
 *	whole           one column of one plane, rows of whole spans; adjacent spans overlap if the type is slower to
 *	                unpack than to read
 *	wide_whole      the same for two planes (AVX2: IQ4_XS, MXFP4 and NVFP4 1.1 to 1.2 times as fast as in runs);
 *	                not for TYPES_WITH_FEW_LOOPS
 *	two_columns     two columns of one plane, rows in runs: a tenth to a third less time than columns.c; not for
 *	                TYPES_WITH_FEW_LOOPS
 *	stream          like whole, but row after row without prefetches, for CPUs that have SYSTEM_ONE_STREAM (Zen 4:
 *	                Q8_0 1.2 times as fast, Q6_K 1.04; types with fewer bits gain 3 to 8% with two threads, but
 *	                lose up to 20% with one)
 * The third argument is the number of rows (or runs) that are multiplied side by side: two; one if unpacking takes most
 * of the time, or if memory is the limit, as with a byte or more a weight. With two planes, it is two, or one for
 * TYPES_WITH_FEW_LOOPS, unless spans overlap. With few registers (EIGHTS), two columns are multiplied one run at a time
 * (AVX2: TQ2_0 then takes 0.75 of the time, MXFP4 0.9, the others the same). */
#define TYPES_WITH_FEW_LOOPS(ROW) \
	ROW(IQ2_XXS, iq2_xxs, 1) ROW(IQ2_XS, iq2_xs, 1) ROW(IQ2_S, iq2_s, 1) ROW(IQ3_XXS, iq3_xxs, 1) \
	ROW(IQ3_S, iq3_s, 1) ROW(IQ1_S, iq1_s, 1) ROW(IQ1_M, iq1_m, 1) ROW(TQ1_0, tq1_0, 2) ROW(Q1_0, q1_0, 2) \
	ROW(Q2_0, q2_0, 2)
#define TYPES_SLOW_WITH_ALL_LOOPS(ROW) ROW(Q2_K, q2_k, 1) ROW(Q3_K, q3_k, 2) ROW(TQ2_0, tq2_0, 2)
#define TYPES_FAST(ROW) \
	ROW(Q4_0, q4_0, 2) ROW(Q4_1, q4_1, 2) ROW(Q5_0, q5_0, 2) ROW(Q5_1, q5_1, 2) ROW(Q8_0, q8_0, 1) \
	ROW(Q4_K, q4_k, 2) ROW(Q5_K, q5_k, 2) ROW(Q6_K, q6_k, 2) ROW(IQ4_NL, iq4_nl, 2) ROW(IQ4_XS, iq4_xs, 2) \
	ROW(MXFP4, mxfp4, 2) ROW(NVFP4, nvfp4, 2)
#define TYPES_AS_A_STREAM(ROW) ROW(Q6_K, q6_k, 1) ROW(Q8_0, q8_0, 1)
#define TYPES_SLOW(ROW) TYPES_WITH_FEW_LOOPS(ROW) TYPES_SLOW_WITH_ALL_LOOPS(ROW)
#define TYPES_WITH_ALL_LOOPS(ROW) TYPES_SLOW_WITH_ALL_LOOPS(ROW) TYPES_FAST(ROW)
#define LOOP(decode, kind, name, ...) \
	static size_t kind##_##name(const struct product_job *j) \
	{ \
		return decode(unpack_##name, (struct decode_shape){ __VA_ARGS__ }, j); \
	}
#define OVERLAPPED(NAME, name, rows) LOOP(decode_overlapped, whole, name, rows, 1, 1, 1)
#define WIDE_OVERLAPPED(NAME, name, rows) LOOP(decode_overlapped, wide_whole, name, rows, 1, 2, 1)
#define WHOLE(NAME, name, rows) LOOP(decode_whole, whole, name, rows, 1, 1, 1)
#define WIDE_WHOLE(NAME, name, rows) LOOP(decode_whole, wide_whole, name, 2, 1, 2, 1)
#define STREAM(NAME, name, rows) LOOP(decode_whole, stream, name, rows, 1, 1, 0)
#define RUNS(NAME, name, rows) LOOP(decode_runs, runs, name, rows, 1, 1, 1)
#define TWO_COLUMNS(NAME, name, rows) LOOP(decode_runs, two_columns, name, EIGHTS ? 1 : rows, 2, 1, 1)
#define WIDE_ONE_RUN(NAME, name, rows) LOOP(decode_runs, wide, name, 1, 1, 2, 1)
#define WIDE_TWO_RUNS(NAME, name, rows) LOOP(decode_runs, wide, name, 2, 1, 2, 1)
TYPES_SLOW(OVERLAPPED)
TYPES_SLOW_WITH_ALL_LOOPS(WIDE_OVERLAPPED)
TYPES_FAST(WHOLE)
TYPES_FAST(WIDE_WHOLE)
TYPES_AS_A_STREAM(STREAM)
TYPES_WITH_FEW_LOOPS(RUNS)
TYPES_WITH_FEW_LOOPS(WIDE_ONE_RUN)
TYPES_WITH_ALL_LOOPS(RUNS)
TYPES_WITH_ALL_LOOPS(WIDE_TWO_RUNS)
TYPES_WITH_ALL_LOOPS(TWO_COLUMNS)

/* The most columns of a row that is read as a stream: beside it, the activations must stay in the first-level cache, as
 * loads from the second disturb the prefetchers. (Zen 4: rows of 8,192 1.1 to 1.25 times as fast, 11,264 0.9 to 1.05,
 * 14,336 0.55 to 0.97.) */
enum { STREAM_MOST = 8192 };

static void decode_codes(const struct product_job *j)
{
	typedef size_t loop(const struct product_job *j);
#define ENTRY(kind, NAME, name) [FORMAT_##NAME] = kind##_##name,
#define WHOLE_ENTRY(NAME, name, rows) ENTRY(whole, NAME, name)
#define STREAM_ENTRY(NAME, name, rows) ENTRY(stream, NAME, name)
#define RUNS_ENTRY(NAME, name, rows) ENTRY(runs, NAME, name)
#define TWO_COLUMNS_ENTRY(NAME, name, rows) ENTRY(two_columns, NAME, name)
#define WIDE_WHOLE_ENTRY(NAME, name, rows) ENTRY(wide_whole, NAME, name)
#define WIDE_ENTRY(NAME, name, rows) ENTRY(wide, NAME, name)
	static loop *const whole[FORMAT_LIMIT] = { TYPES_SLOW(WHOLE_ENTRY) TYPES_FAST(WHOLE_ENTRY) },
	        *const stream[FORMAT_LIMIT] = { TYPES_AS_A_STREAM(STREAM_ENTRY) },
	        *const runs[FORMAT_LIMIT] = { TYPES_WITH_FEW_LOOPS(RUNS_ENTRY) TYPES_WITH_ALL_LOOPS(RUNS_ENTRY) },
	        *const two_columns[FORMAT_LIMIT] = { TYPES_WITH_ALL_LOOPS(TWO_COLUMNS_ENTRY) },
	        *const wide_whole[FORMAT_LIMIT] = { TYPES_WITH_ALL_LOOPS(WIDE_WHOLE_ENTRY) },
	        *const wide[FORMAT_LIMIT] = { TYPES_WITH_FEW_LOOPS(WIDE_ENTRY) TYPES_WITH_ALL_LOOPS(WIDE_ENTRY) };
#undef ENTRY
	enum format_id id = j->w->format->id;
	int whole_spans = j->w->cols % SPAN == 0;
	loop *decode = NULL;
	struct product_job rest = *j;

	if (j->x->n == 1 && j->x->kind == ACTS_Q16)
		decode = whole_spans && wide_whole[id] ? wide_whole[id] : wide[id];
	else if (j->x->n == 1 && whole_spans && j->w->cols <= STREAM_MOST && j->one_stream && stream[id])
		decode = stream[id];
	else if (j->x->n == 1)
		decode = whole_spans ? whole[id] : runs[id];
	else if (j->x->n == 2 && j->x->kind != ACTS_Q16)
		decode = two_columns[id];
	if (decode)
		rest.r0 = decode(j);
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
