/* columns: products of quantised weights with several columns, and the rows that decode.c leaves of one or two
 * columns. The weights are read as in decode.c, a span of sixteen blocks at a time. A span is unpacked once for all
 * columns. Its codes are transposed (lanes.h), as the activations already are, so the products of a block add up in its
 * lane and no column needs a tree. Several rows are read side by side: they share the activations in the first-level
 * cache, and rows whose sums are in registers together share the loads as well.
 *
 * Each type unpacks in its own way; in multiplying, types differ in their numbers alone (struct numbers). So a type has
 * one function, add_NAME(), that unpacks all rows of a span into memory, and types with the same numbers share the one
 * that multiplies them (NUMBERS), by one group of columns after the other, so that a group stays in the first-level
 * cache. With 32 registers of 64 bytes, codes stay in registers, and add_NAME() does both (AVX-512, 4 columns, in the
 * cache: 0.88 of the time). */
#include <string.h>

#include "lib/base/size.h"
#include "prefetch.h"
#include "product.h"
#include "rows.h"
#include "transposed.h"

/* Rows side by side; COLUMNS_ROWS of them have their sums in registers at a time. (AVX2, 16 columns: eight take 5%
 * less time than four, because the activations of a span come from the second-level cache.) */
enum { COLUMNS_SET = 8, COLUMNS_SUMS = COLUMNS_SET * CODES_FEW };

enum { IN_REGISTERS = COLUMNS_UNPACKED == COLUMNS_ROWS };       /* codes stay there */

enum { SMALL_SET = 20480 };     /* a set of rows is small if it has fewer bytes */

/* n columns in groups. The first `wider` groups have width + 1 columns, the others have width: a group much smaller
 * than the rest would have too few independent sums to hide the latency of the multiplications. */
struct column_groups {
	size_t n, groups, width, wider;
};

/* The same span of several rows and of all columns. */
struct span_job {
	const uint8_t *span[COLUMNS_SET];       /* where it begins in each row */
	size_t bytes;                           /* of each */
	size_t near_bytes;                      /* from each span to the one read next, which is prefetched */
	const uint8_t *far;                     /* prefetched far ahead: as many bytes as the spans have */
	size_t rows;                            /* a multiple of COLUMNS_ROWS */
	const char *x;                          /* activations of the first column */
	struct column_groups c;
	int begins;                             /* the first span: sums begin at zero, acc is not read */
};

/* The sums of one group of columns: columns_add() reads them from `from` and writes them to acc. The steps lead from
 * one row to the next. */
struct column_sums {
	f32x16 *acc;
	const f32x16 *from;
	size_t acc_step, from_step;
};

/* How to read the scales of rows, whose spans these are, once the codes are multiplied; or NULL: they are unpacked. */
struct late_scales {
	void (*read)(const uint8_t *span, struct scales *s);
	const uint8_t *const *span;
};

_Static_assert(COLUMNS_SIDE_2 <= COLUMNS_SIDE, "sums have room for COLUMNS_SIDE columns");
_Static_assert(!COLUMNS_AHEAD
	|| (IN_REGISTERS && COLUMNS_ROWS * COLUMNS_AHEAD == SPAN_VECTORS * 64),
	"for each vector of a row's codes, vd_columns() prefetches one near line and one far line");

/* Advances to the lines that the second group of columns prefetches. Those past the end of a short span are needed
 * soon, too. Later groups prefetch the same lines again, which costs little: they are cached or in flight. */
static inline void advance(struct column_ahead *a)
{
	a->far += COLUMNS_ROWS * COLUMNS_AHEAD;
	UNROLL
	for (size_t r = 0; r < COLUMNS_ROWS; r++)
		a->near[r] += COLUMNS_AHEAD;
}

/* to.acc[row][column] = to.from[row][column] + the products of unpacked spans of COLUMNS_ROWS rows with s.columns
 * columns of activations, the first at x. */
INLINE void columns_add(struct numbers t, struct column_shape s, struct column_ahead a, const struct unpacked *w,
                        struct late_scales late, const char *x, struct column_sums to)
{
	i32x16 sum[2][2][COLUMNS_ROWS][COLUMNS_SIDE];   /* [plane][half] */
	int bias = t.bias, bias_first = COLUMNS_ROWS > 1 && bias;

	if (bias_first)         /* the sums begin with what undoes the bias, computed once for all rows */
		t.bias = 0;
	UNROLL
	for (int p = 0; p < PLANES; p++)
		UNROLL
		for (int h = 0; h < t.scales; h++) {
			UNROLL
			for (int c = 0; c < s.columns; c++) {
				const struct acts_span *at = (const struct acts_span *)(x + (size_t)c * s.step);
				i32x16 start = vi_zero();

				if (bias_first && p == PLANES - 1)
					start = vi_sub(start, biased_by(at, t.scales == 2 ? h : WHOLE_BLOCK, bias));
				UNROLL
				for (int r = 0; r < COLUMNS_ROWS; r++)
					sum[p][h][r][c] = start;
			}
			s.prefetches = s.prefetches && p == 0;  /* once for all planes */
			vd_columns(s, a, sum[p][h], w->codes + h * s.quads,
			           (const int8_t *)(x + sizeof(struct acts_span)) + p * SPAN + h * s.quads * 64);
		}
	UNROLL
	for (int r = 0; r < COLUMNS_ROWS; r++, to.acc += to.acc_step, to.from += to.from_step) {
		struct scales scales;

		if (late.read) {
			const uint8_t *span = late.span[r];

			OPAQUE(span);   /* otherwise the compiler unpacks them first */
			late.read(span, &scales);
		} else {
			scales = w[r].s;        /* loaded once: for all that the compiler knows, acc overlaps them */
		}
		/* Otherwise the compiler loads the sums, or zeros, before it multiplies, and registers run out. */
		OPAQUE(to.from);
		UNROLL
		for (int c = 0; c < s.columns; c++) {
			const struct acts_span *at = (const struct acts_span *)(x + (size_t)c * s.step);
			i32x16 isum[2][2];

			UNROLL
			for (int p = 0; p < PLANES; p++) {
				isum[p][0] = sum[p][0][r][c];
				isum[p][1] = t.scales == 2 ? sum[p][1][r][c] : vi_zero();
			}
			to.acc[c] = vf_fma(vf_load(at->dx), span_product(t, isum, &scales, at), to.from[c]);
		}
	}
}

/* The most columns of a group. */
INLINE size_t columns_side(int scales)
{
	return scales == 1 && PLANES == 1 ? COLUMNS_SIDE : COLUMNS_SIDE_2;
}

static struct column_groups column_groups_of(size_t n, size_t side)
{
	size_t groups = (n + side - 1) / side;

	return (struct column_groups){ n, groups, n / groups, n % groups };
}

/* The sums of a group in acc, rows n vectors apart. For the first span all rows are read from the same zeros. */
INLINE struct column_sums sums_at(f32x16 *acc, size_t n, int begins)
{
	static const f32x16 zeros[COLUMNS_SIDE];

	return (struct column_sums){ acc, begins ? zeros : acc, n, begins ? 0 : n };
}

/* Not inlined, as registers are few where it is called. */
static __attribute__((noinline)) void prefetch_next(const struct span_job *j, size_t i)
{
	prefetch(j->span[i] + j->near_bytes, j->far + i * j->bytes, j->bytes);
}

/* Rows of a job from row i on, unpacked, and what is done meanwhile. */
struct unpacked_rows {
	size_t i, rows;
	const struct unpacked *w;
	struct late_scales late;
	int spread;             /* vd_columns() prefetches what comes next */
	int between;            /* the spans that come next are prefetched between the products of rows */
};

/* acc[row][column] += the products of these rows and all columns; the first span's products replace what is in acc. */
INLINE void rows_add(struct numbers t, struct unpacked_rows of, struct column_ahead a, const struct span_job *j,
                     f32x16 *acc)
{
	struct column_shape s = { .rows = COLUMNS_ROWS, .row_step = sizeof(struct unpacked) / sizeof(b64),
		.prefetches = of.spread, .quads = SPAN_VECTORS / t.scales, .top = t.top, .is_signed = t.is_signed,
		.step = acts_span_bytes(PLANES) };
	int side = (int)columns_side(t.scales);
	size_t n = j->c.n, group;

	for (size_t k = 0, c = 0; k < j->c.groups; k++, c += group) {
		group = j->c.width + (k < j->c.wider);
		UNROLL  /* a switch: each copy of columns_add() has a constant number of columns */
		for (s.columns = 1; s.columns <= side; s.columns++)
			for (size_t r = 0; r < of.rows && group == (size_t)s.columns; r += COLUMNS_ROWS) {
				if (of.between && k == 0)
					prefetch_next(j, of.i + r);
				columns_add(t, s, a, &of.w[r], of.late, j->x + c * s.step,
				            sums_at(acc + r * n + c, n, j->begins));
			}
		if (of.spread && k == 0 && j->c.groups > 1)
			advance(&a);
	}
}

/* The numbers that types have: ROW(name, scales, minima, is_signed, offset, top). Several types share most of them. */
#define NUMBERS(ROW) \
	ROW(add_3, 1, 0, 0, 1, 3) ROW(add_15, 1, 0, 0, 8, 15) ROW(add_31, 1, 0, 0, 16, 31) \
	ROW(add_127, 1, 0, 0, 64, 127) ROW(add_signed, 1, 0, 1, 0, 127) \
	ROW(add_15_minima, 1, 1, 0, 0, 15) ROW(add_31_minima, 1, 1, 0, 0, 31) \
	ROW(add_two_7, 2, 0, 0, 4, 7) ROW(add_two_31, 2, 0, 0, 16, 31) ROW(add_two_63, 2, 0, 0, 32, 63) \
	ROW(add_two_127, 2, 0, 0, 64, 127) ROW(add_two_3_minima, 2, 1, 0, 0, 3)

#define MULTIPLIER(name, n_scales, has_minima, signed_codes, offset, most) \
	static void name(const struct unpacked *w, const struct span_job *j, f32x16 *acc) \
	{ \
		struct numbers t = { n_scales, has_minima, signed_codes, most, signed_codes ? SIGNED_BIAS : offset }; \
		struct unpacked_rows of = { .rows = j->rows, .w = w, .between = j->bytes > SPAN }; \
		rows_add(t, of, (struct column_ahead){ 0 }, j, acc); \
	}
NUMBERS(MULTIPLIER)
#undef MULTIPLIER

/* rows_add() for the type of u: inlined, where codes stay in registers, or if no other type has such numbers. */
INLINE void multiply(struct unpacker u, struct unpacked_rows of, struct column_ahead a, const struct span_job *j,
                     f32x16 *acc)
{
#define TAKE(name, n_scales, has_minima, signed_codes, codes_offset, most) \
	if (!IN_REGISTERS && u.scales == n_scales && u.minima == has_minima && u.is_signed == signed_codes && \
	    u.offset == codes_offset && u.top <= most) { \
		name(of.w, j, acc); \
		return; \
	}
	NUMBERS(TAKE)
#undef TAKE
	rows_add(numbers_of(u), of, a, j, acc);
}

/* Whether scales are read late: where codes stay in registers, those of two rows and their sums fill them, and scales
 * and minima that are unpacked first are spilled. (Zen 4, one group of 4 columns: Q4_K and Q5_K take 0.95 of the time,
 * others would take 1.0; two groups of Q4_K 1.04, as each unpacks them.) */
INLINE int scales_late(struct unpacker u, const struct span_job *j)
{
	return IN_REGISTERS && PLANES == 1 && u.scales == 1 && u.minima && j->c.groups == 1;
}

/* acc[row][column] += the products of all rows and columns of the job. late: scales are read late. */
INLINE void spans_add(struct unpacker u, enum format_id id, int late, const struct span_job *j, f32x16 *acc)
{
	/* Spreading prefetches helps only if memory is the limit. It is not for types without a simple layout, as
	 * unpacking takes longer, nor with two planes and up to a byte a weight, as multiplying takes longer. */
	int compute_bound = layouts[id].kind == LAYOUT_SCATTERED || (PLANES == 2 && u.bytes <= SPAN);
	/* Where all rows are unpacked first, prefetches for all of them at once have to wait for each other, and while
	 * the rows are multiplied none is under way. (AVX2, from memory: Q8_0 with 4 columns takes 0.77 of the time if
	 * prefetches come between the rows' products, with 8 columns 0.88. Types of fewer bits gain nothing, and in
	 * the cache they take 1.05.) */
	int between = !IN_REGISTERS && u.bytes > SPAN;
	int spread = COLUMNS_AHEAD > 0 && u.scales == 1 && !compute_bound;
	size_t ahead = size_min(u.bytes, COLUMNS_AHEAD * size_min(j->c.groups, 2));     /* bytes that are spread */
	struct column_ahead a;

	for (size_t i = 0, rows; i < j->rows; i += rows, acc += rows * j->c.n) {
		struct unpacked w[COLUMNS_UNPACKED];

		rows = IN_REGISTERS ? COLUMNS_ROWS : j->rows;
		a.far = j->far + i * u.bytes;
		for (size_t r = 0; r < rows; r += COLUMNS_ROWS)
			UNROLL
			for (size_t k = 0; k < COLUMNS_ROWS; k++) {
				const uint8_t *span = j->span[i + r + k], *near = span + j->near_bytes;

				a.near[k] = near;
				if (!spread && !between)
					prefetch(near, a.far + (r + k) * u.bytes, u.bytes);
				/* what vd_columns() does not prefetch: far bytes after its COLUMNS_ROWS * ahead */
				for (size_t b = ahead; spread && b < u.bytes; b += 64)
					prefetch(near + b,
					         a.far + (COLUMNS_ROWS - 1) * ahead + k * (u.bytes - ahead) + b, 64);
				unpack_transposed(u, id, span, w[r + k].codes);
				if (!late)
					u.read_scales(span, &w[r + k].s);
			}
		multiply(u, (struct unpacked_rows){ i, rows, w, { late ? u.read_scales : NULL, j->span + i }, spread,
			between }, a, j, acc);
	}
}

typedef void adder(const struct span_job *j, f32x16 *acc);

#define ADDER(id, NAME, name, ...) \
	static __attribute__((noinline)) void add_late_##name(const struct span_job *j, f32x16 *acc) \
	{ \
		spans_add(unpack_##name, id, 1, j, acc); \
	} \
	static void add_##name(const struct span_job *j, f32x16 *acc) \
	{ \
		if (scales_late(unpack_##name, j)) \
			add_late_##name(j, acc); \
		else \
			spans_add(unpack_##name, id, 0, j, acc); \
	}
FORMATS_QUANTISED(ADDER)

#define ENTRY(id, NAME, name, ...) [id] = add_##name,
static adder *const adders[FORMAT_LIMIT] = { FORMATS_QUANTISED(ENTRY) };
#undef ENTRY

/* The row ends of one span. Of the row that it begins in, `left` blocks are left: the row ends inside the span if
 * left < SPAN_BLOCKS, and with the span, filling all lanes, if they are equal. The rows after it have `blocks` blocks.
 * `ended` rows end in this span. */
struct row_ends {
	size_t left, blocks, ended;
};

_Static_assert(COLUMNS_SET == 8, "end_eight_rows() ends the rows of a set");

/* Ends eight rows that fill all lanes, for n columns: rows are n sums apart in acc, columns `stride` floats apart in y.
 * A stride is often a power of two, so all columns fall into one set of the first-level cache, and the eight rows of a
 * column should be one store. acc is not cleared: it is not read again. */
static void end_eight_rows(const f32x16 *acc, size_t n, float *y, size_t stride)
{
	for (size_t c = 0; c < n; c++)
		vd_close_eight(acc + c, n, y + c * stride);
}

/* split_rows() for n columns. */
static void split_columns(struct row_ends e, f32x16 *acc, f32x16 *aside, size_t n)
{
	for (size_t c = 0; c < n; c++)
		split_rows(e.left, &acc[c], &aside[c]);
}

/* Ends the rows of e in one run, for n columns, `stride` floats apart in y. */
static void end_columns(struct row_ends e, f32x16 *acc, const f32x16 *aside, size_t n, float *y, size_t stride)
{
	for (size_t c = 0; c < n; c++)
		if (e.left < SPAN_BLOCKS) {
			end_rows(e.left, &acc[c], aside[c], e.blocks, e.ended, y + c * stride);
		} else {
			y[c * stride] = vd_close(acc[c]);
			acc[c] = vf_zero();
		}
}

/* What all sets of a product's rows have in common. */
struct columns {
	const struct product_job *j;
	const struct span_type *type;
	adder *add;
	struct column_groups groups;
	size_t blocks, step;                    /* of a row; bytes from a span of activations to the next */
	size_t run, run_bytes;                  /* rows of a run, and their bytes */
	size_t far_sets;                        /* far prefetches take the next set: 1, or the one after it: 2 */
	const uint8_t *end;                     /* of the weights */
};

/* Multiplies `runs` runs side by side: the one that starts at row r, and those that follow it. Only the first `rows`
 * rows of each are computed. A run is read span by span; rows may end anywhere in a span, and `done` of them have ended
 * so far. */
static void columns_set(const struct columns *k, size_t r, size_t rows, size_t runs)
{
	size_t n = k->groups.n, done = 0;
	const uint8_t *start = (const uint8_t *)k->j->w->data + r * k->j->w->row_bytes;
	float *y = k->j->y + r;
	struct row_ends e = { k->blocks, k->blocks, 0 };
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST];           /* a last span that the mapping may end in, padded */
	struct span_job spans = { .x = k->j->x->data, .c = k->groups, .begins = k->blocks >= SPAN_BLOCKS,
		.bytes = k->type->bytes,
		/* rounded up: the last run is read twice, and the second copy's sums are not used */
		.rows = (runs + COLUMNS_ROWS - 1) / COLUMNS_ROWS * COLUMNS_ROWS };
	f32x16 acc[COLUMNS_SUMS], aside[COLUMNS_SUMS];

	for (size_t i = 0; i < spans.rows; i++)
		spans.span[i] = start + size_min(i, runs - 1) * k->run_bytes;
	for (size_t c = 0; c < spans.rows * n && !spans.begins; c++)
		acc[c] = vf_zero();
	for (size_t g = 0; done < rows; g++, spans.x += k->step) {
		e.ended = size_min(rows_ended(e.left, k->blocks), rows - done);
		if (e.left < SPAN_BLOCKS)
			split_columns(e, acc, aside, runs * n);
		if ((size_t)(k->end - spans.span[runs - 1]) < spans.bytes) {
			memset(rest, 0, sizeof rest);
			memcpy(rest, spans.span[runs - 1], (size_t)(k->end - spans.span[runs - 1]));
			for (size_t i = runs - 1; i < spans.rows; i++)
				spans.span[i] = rest;
		}
		/* near: the run's next span; after its last, the first span of the run in this place of the next set */
		spans.near_bytes = done + e.ended < rows ? spans.bytes : runs * k->run_bytes - g * spans.bytes;
		spans.far = start + runs * (k->far_sets * k->run_bytes + g * spans.bytes);      /* through that set */
		k->add(&spans, acc);
		spans.begins = 0;
		if (e.ended && e.left >= SPAN_BLOCKS && runs == COLUMNS_SET && k->run == 1)
			end_eight_rows(acc, n, y, k->j->stride);
		else
			for (size_t i = 0; i < runs && e.ended; i++)
				end_columns(e, acc + i * n, aside + i * n, n, y + i * k->run + done, k->j->stride);
		done += e.ended;
		e.left = e.ended ? k->blocks - blocks_begun(e.left, k->blocks) : e.left - SPAN_BLOCKS;
		for (size_t i = 0; i < spans.rows; i++)
			spans.span[i] += spans.bytes;
	}
}

void product_columns(PLANES)(const struct product_job *j)
{
	const struct format *f = j->w->format;
	size_t blocks = j->w->cols / 32, run = row_run_of(blocks).rows, r = j->r0;
	struct columns k = { .j = j, .type = &span_types[f->id], .add = adders[f->id], .blocks = blocks,
		.groups = column_groups_of(j->x->n, columns_side(f->scales)),
		.step = acts_spans_bytes(PLANES, j->x->n), .run = run, .run_bytes = run * j->w->row_bytes,
		.end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes };

	/* The next set is not far enough if it is small and memory is the limit: at most one group of columns, and a
	 * byte a weight. (Zen 4, 4 columns of Q8_0, rows of 1,024: 1.13 to 1.25 times as fast, 2,048 1.05, 8,192 0.96;
	 * with 8 columns, 0.9 to 0.98 times. Intel: equal within the noise. AVX2: not measured.) */
	k.far_sets = k.type->bytes > SPAN && PLANES == 1 && k.groups.groups == 1
		&& COLUMNS_SET * k.run_bytes < SMALL_SET ? 2 : 1;
	for (; r + COLUMNS_SET * run <= j->r1; r += COLUMNS_SET * run)
		columns_set(&k, r, run, COLUMNS_SET);
	for (; r < j->r1; r += run)
		columns_set(&k, r, size_min(run, j->r1 - r), 1);
}
