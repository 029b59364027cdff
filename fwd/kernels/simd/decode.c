/* decode: products with few columns. The weights are read once, straight along their rows, a span of sixteen
 * blocks at a time, and the products of a span lie one in each lane: the lanes are the sixteen accumulators. Where
 * rows are read as one contiguous run (struct acts_copies), block b of a row is not in lane b mod 16 but rotated
 * by the same amount for every b; the closing tree then adds the same pairs. */
#include <string.h>

#include "lib/base/size.h"
#include "acts.h"
#include "float_rows.h"
#include "product.h"
#include "spans.h"
#include "unpack.h"

/* ---- spans in memory ---- */

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

/* An unpacker that reads a span from memory where u has unpacked it. */
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

INLINE i32x16 unbiased(i32x16 isum, const int32_t *xsum, int bias)
{
	return bias ? vi_sub(isum, vi_shl(vi_load(xsum), __builtin_ctz((unsigned)bias))) : isum;
}

INLINE void span_sums(struct unpacker u, const uint8_t *p, const struct acts_span *x, int planes, i32x16 sum[2][2])
{
	const int8_t *q = (const int8_t *)(x + 1);

	if (u.quarters)
		quarter_sums(u, p, q + planes * SPAN, planes, sum);
	else
		half_sums(u, p, q, planes, sum);
}

/* The products of a span's blocks, before dx, from those sums. */
INLINE f32x16 span_product(struct unpacker u, i32x16 sum[2][2], const struct scales *s, const struct acts_span *x,
                           int planes)
{
	int bias = u.is_signed ? SIGNED_BIAS : u.offset;
	f32x16 t, none = vf_sub(s->scale[0], s->scale[0]);      /* zero, or NaN where the scale is not finite */
	i32x16 *isum = sum[0], *low = sum[1];

	if (planes == 2)
		for (int h = 0; h < 2; h++)
			isum[h] = vi_add(vi_sub(vi_shl(isum[h], 8), isum[h]), low[h]);
	if (u.scales == 2) {
		t = vf_fma(s->scale[0], vi_to_float(unbiased(isum[0], x->xsum[FIRST_HALF], bias)), none);
		t = vf_fma(s->scale[1], vi_to_float(unbiased(isum[1], x->xsum[SECOND_HALF], bias)), t);
		if (u.minima) {
			t = vf_fma(s->min[0], vf_load(x->fsum[FIRST_HALF]), t);
			t = vf_fma(s->min[1], vf_load(x->fsum[SECOND_HALF]), t);
		}
	} else {
		t = vf_fma(s->scale[0], vi_to_float(unbiased(vi_add(isum[0], isum[1]), x->xsum[WHOLE_BLOCK], bias)),
		           none);
		if (u.minima)
			t = vf_fma(s->min[0], vf_load(x->fsum[WHOLE_BLOCK]), t);
	}
	return t;
}

/* The products of a span with one column, before dx. With DOT_AT_ONCE each vector of codes is multiplied as soon as
 * it is unpacked, and the scales are read last. */
INLINE f32x16 span_times(struct unpacker u, const uint8_t *p, const struct acts_span *x, int planes)
{
	struct unpacked w;
	struct scales s;
	i32x16 sum[2][2];

	if (!DOT_AT_ONCE) {
		unpack_codes(u, p, w.codes, 1);
		u.read_scales(p, &w.s);
		u = unpacker_of_memory(u);
		p = (const uint8_t *)&w;
	}
	span_sums(u, p, x, planes, sum);
	u.read_scales(p, &s);
	return span_product(u, sum, &s, x, planes);
}

/* Lanes of the span's blocks before b from v, the others from rest. */
INLINE f32x16 lanes_before(size_t b, f32x16 v, f32x16 rest)
{
	return vf_select_less(vf_load_i8((const int8_t *)lane_block), vf_set1((float)b), v, rest);
}

/* A row ends before block b of the next span: its sums of the lanes from there on are put aside, so that those lanes
 * take the sums of the row after it. */
INLINE void part_rows(size_t b, f32x16 *acc, f32x16 *aside)
{
	*aside = lanes_before(b, vf_zero(), *acc);
	*acc = lanes_before(b, *acc, vf_zero());
}

/* Ends that row with the span added, and any others that end in the same span; acc keeps the sums of the one that
 * goes on. */
INLINE void end_rows(size_t b, f32x16 *acc, f32x16 aside, size_t blocks, size_t ended, float *y)
{
	f32x16 row = lanes_before(b, *acc, aside);

	for (;; b += blocks) {
		*y++ = vd_close(row);
		*acc = lanes_before(b, vf_zero(), *acc);
		if (--ended == 0)
			return;
		row = lanes_before(b + blocks, *acc, vf_zero());
	}
}

/* The same for n columns, `stride` apart in y: compiled once for all formats. */
static __attribute__((noinline)) void part_columns(size_t b, f32x16 *acc, f32x16 *aside, size_t n)
{
	for (size_t c = 0; c < n; c++)
		part_rows(b, &acc[c], &aside[c]);
}

static __attribute__((noinline)) void end_columns(size_t b, f32x16 *acc, const f32x16 *aside, size_t n, size_t blocks,
                                                  size_t ended, float *y, size_t stride)
{
	for (size_t c = 0; c < n; c++)
		end_rows(b, &acc[c], aside[c], blocks, ended, y + c * stride);
}

/* How many of the rows of so many blocks, of which the first has `left`, end in a span. */
INLINE size_t rows_ended(size_t left, size_t blocks)
{
	return left > SPAN_BLOCKS ? 0 : 1 + (SPAN_BLOCKS - left) / blocks;
}

/* acc[n] += the products of an unpacked span with n columns of activations: x, and those `column` bytes apart.
 * in_memory: the codes stay in memory. */
INLINE void columns_add(struct unpacker u, const struct unpacked *w, int in_memory, const char *x, size_t column,
                        size_t n, int planes, f32x16 *acc)
{
	for (size_t c = 0; c < n; c++, x += column) {
		const struct acts_span *at = (const struct acts_span *)x;
		const uint8_t *span = (const uint8_t *)w;
		i32x16 sum[2][2];

		/* Otherwise the compiler loads all codes before the loop, and spills them. */
		if (DOT_AT_ONCE && in_memory)
			__asm__("" : "+r"(span) : "m"(*w));
		span_sums(u, span, at, planes, sum);
		acc[c] = vf_fma(vf_load(at->dx), span_product(u, sum, &w->s, at, planes), acc[c]);
	}
}

/* Any number of columns, and spans unpacked into memory: sums that all types of a class share. */
INLINE void decode_columns(struct unpacker u, struct unpacker own, int planes, const struct product_job *j)
{
	const struct span_type *type = &span_types[j->w->format->id];
	struct acts_copies copies = acts_copies(j->w->cols / 32);
	size_t step = acts_span_bytes(j->x->kind), column = copies.spans * step, at = 0, n = j->x->n,
	       blocks = j->w->cols / 32, left = blocks, ended;
	const uint8_t *start = j->w->data, *end = start + j->w->rows * j->w->row_bytes,
	        *p = start + j->r0 * j->w->row_bytes, *span;
	/* the matrix's last blocks: the mapping may end after them */
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST] = { 0 };
	struct unpacked w;
	f32x16 acc[FEW], aside[FEW];

	u.offset = u.offset ? type->offset : 0;
	for (size_t c = 0; c < n; c++)
		acc[c] = vf_zero();
	for (size_t r = j->r0; r < j->r1; r += ended) {
		ended = size_min(rows_ended(left, blocks), j->r1 - r);
		if (left < SPAN_BLOCKS)
			part_columns(left, acc, aside, n);
		span = (size_t)(end - p) >= type->bytes ? p : memcpy(rest, p, (size_t)(end - p));
		if (own.codes)
			unpack_span(own, 1, span, &w);
		else
			type->unpack_few(span, &w);
		columns_add(u, &w, !own.codes, (const char *)j->x->data + at, column, n, planes, acc);
		if (left < SPAN_BLOCKS)
			end_columns(left, acc, aside, n, blocks, ended, j->y + r, j->stride);
		for (size_t c = 0; left == SPAN_BLOCKS && c < n; c++) {
			j->y[c * j->stride + r] = vd_close(acc[c]);
			acc[c] = vf_zero();
		}
		p += type->bytes;
		at = at + step < column ? at + step : 0;
		left = ended ? blocks - (SPAN_BLOCKS - left) % blocks : left - SPAN_BLOCKS;
		if (ended && !copies.contiguous) {
			p = start + (r + ended) * j->w->row_bytes;
			left = blocks;
			at = 0;
		}
	}
}

/* A single column and runs of rows side by side, which share the loads of the column; a run is as many rows as fill
 * whole spans, or one row. (AVX-512, from memory, two runs: Q4_0 and Q4_K 1.08 times as fast as row by row, Q6_K 1.05;
 * with 16-bit activations 1.07 to 1.28.) Returns the first row that is left. */
INLINE size_t decode_runs(struct unpacker u, size_t runs, int planes, const struct product_job *j)
{
	struct acts_copies copies = acts_copies(j->w->cols / 32);
	size_t bytes = copies.copies * j->w->row_bytes;
	size_t step = acts_span_bytes(j->x->kind), reach = runs * bytes + copies.spans * u.bytes - bytes, r = j->r0;
	const uint8_t *end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes;
	struct row_set set = { .start = (const uint8_t *)j->w->data + j->r0 * j->w->row_bytes, .rows = runs,
		.row_bytes = bytes, .far = sets_ahead(runs * bytes), .near = PREFETCH_NEAR };

	for (; r + runs * copies.copies <= j->r1 && (size_t)(end - set.start) >= reach; r += runs * copies.copies) {
		size_t blocks = j->w->cols / 32, left = blocks, g = 0, ended = 0;
		float *y = j->y + r;
		f32x16 acc[2] = { vf_zero(), vf_zero() }, aside[2] = { vf_zero(), vf_zero() };

		while (g < copies.spans) {
			for (size_t stop = ended ? g + 1 : g + left / SPAN_BLOCKS; g < stop; g++) {
				const struct acts_span *x =
				        (const struct acts_span *)((const char *)j->x->data + g * step);
				const uint8_t *p = set.start + g * u.bytes;

				UNROLL
				for (size_t i = 0; i < runs; i++) {
					prefetch_side(set, i, g * u.bytes, u.bytes);
					acc[i] = vf_fma(vf_load(x->dx), span_times(u, p + i * bytes, x, planes),
						acc[i]);
				}
			}
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
		set.start += runs * bytes;
	}
	return r;
}

/* ---- any quantised format ---- */

static const struct unpacker none;

/* The sums of each kind, and with 16-bit activations. */
#define KINDS(ROW) \
	ROW(quarters, CLASS_QUARTERS, 1, 0, .offset = 8, .quarters = quarters_of_memory) \
	ROW(quarters_minima, CLASS_QUARTERS, 1, 1, .quarters = quarters_of_memory) \
	ROW(31, CLASS_31, 1, 0, .offset = 1, .top = 31) \
	ROW(31_minima, CLASS_31, 1, 1, .top = 31) \
	ROW(31_twice, CLASS_31, 2, 0, .offset = 1, .top = 31) \
	ROW(31_twice_minima, CLASS_31, 2, 1, .top = 31) \
	ROW(63_twice, CLASS_63, 2, 0, .offset = 1, .top = 63) \
	ROW(127, CLASS_127, 1, 0, .offset = 1, .top = 127) \
	ROW(127_twice, CLASS_127, 2, 0, .offset = 1, .top = 127) \
	ROW(signed, CLASS_SIGNED, 1, 0, .is_signed = 1, .top = 127)
#define COLUMNS(name, class, n_scales, has_minima, ...) \
	static const struct unpacker unpack_##name = { .scales = n_scales, .minima = has_minima, __VA_ARGS__, \
		.codes = codes_of_memory, .read_scales = scales_of_memory }; \
	static void columns_##name(const struct product_job *j) { decode_columns(unpack_##name, none, 1, j); } \
	static void columns_wide_##name(const struct product_job *j) { decode_columns(unpack_##name, none, 2, j); }
KINDS(COLUMNS)

/* Loops of their own for several columns. */
#define HOT(ROW) ROW(Q4_0, q4_0) ROW(Q4_K, q4_k) ROW(Q5_K, q5_k) ROW(Q6_K, q6_k) ROW(Q8_0, q8_0)
#define OWN(NAME, name) \
	static void own_##name(const struct product_job *j) \
	{ \
		decode_columns(unpacker_of_memory(unpack_##name), unpack_##name, 1, j); \
	}
HOT(OWN)

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
#define RUNS(NAME, name, runs) \
	static size_t runs_##name(const struct product_job *j) { return decode_runs(unpack_##name, runs, 1, j); }
#define RUNS_WIDE(NAME, name, runs) \
	static size_t runs_wide_##name(const struct product_job *j) { return decode_runs(unpack_##name, 2, 2, j); }
RUNS_SMALL(RUNS)
RUNS_BOTH(RUNS)
RUNS_BOTH(RUNS_WIDE)

static void decode_codes(const struct product_job *j)
{
#define ENTRY(NAME, name, runs) [FORMAT_##NAME] = runs_##name,
#define ENTRY_WIDE(NAME, name, runs) [FORMAT_##NAME] = runs_wide_##name,
	static size_t (*const runs[2][FORMAT_LIMIT])(const struct product_job *j) =
	        { { RUNS_SMALL(ENTRY) RUNS_BOTH(ENTRY) }, { RUNS_BOTH(ENTRY_WIDE) } };
#undef ENTRY
#define ENTRY(NAME, name) [FORMAT_##NAME] = own_##name,
	static void (*const own[2][FORMAT_LIMIT])(const struct product_job *j) = { { HOT(ENTRY) } };
#undef ENTRY
#define ENTRY(name, class, n_scales, has_minima, ...) \
	[class][n_scales - 1][has_minima] = { columns_##name, columns_wide_##name },
	static void (*const columns[CODE_CLASSES][2][2][2])(const struct product_job *j) = { KINDS(ENTRY) };
#undef ENTRY
	const struct format *f = j->w->format;
	int wide = j->x->kind == ACTS_Q16;
	struct product_job rest = *j;

	if (j->x->n == 1 && runs[wide][f->id])
		rest.r0 = runs[wide][f->id](j);
	(own[wide][f->id] ? own[wide][f->id] : columns[span_types[f->id].class][f->scales - 1][f->minima][wide])(&rest);
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
