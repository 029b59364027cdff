/* columns: products of quantised weights with several columns, and the rows that decode.c leaves of one or two
 * columns. The weights are read as in decode.c, a span of sixteen blocks at a time. A span is unpacked once for all
 * columns. Its codes are transposed (lanes.h), as the activations already are, so the products of a block add up in its
 * lane and no column needs a tree. Several rows are read side by side: they share the activations in the first-level
 * cache, and rows whose sums are in registers together share the loads as well. Codes stay in registers where there
 * are 32 registers of 64 bytes. Otherwise all rows are unpacked into memory first, and then multiplied by one group of
 * columns after the other, so that a group stays in the first-level cache. */
#include <string.h>

#include "lib/base/size.h"
#include "prefetch.h"
#include "product.h"
#include "rows.h"
#include "transposed.h"

/* Rows side by side; COLUMNS_ROWS of them have their sums in registers at a time. (AVX2, 16 columns: eight take 5%
 * less time than four, because the activations of a span come from the second-level cache.) */
enum { COLUMNS_SET = 8, COLUMNS_SUMS = COLUMNS_SET * CODES_FEW };

/* n columns in groups. The first `wider` groups have width + 1 columns, the others have width: a group much smaller
 * than the rest would have too few independent sums to hide the latency of the multiplications. */
struct column_groups {
	size_t n, groups, width, wider;
};

/* The same span of several rows and of all columns. */
struct span_job {
	const uint8_t *span[COLUMNS_SET];       /* where it begins in each row */
	size_t near;                            /* prefetched: the spans so many bytes further, which are read next */
	const uint8_t *far;                     /* prefetched far ahead: as many bytes as the spans have */
	size_t rows;                            /* a multiple of COLUMNS_ROWS */
	const char *x;                          /* activations of the first column */
	struct column_groups c;
	int begins;                             /* the first span: sums begin at zero, whatever acc holds */
};

/* Where columns_add() finds the sums of some columns and where it leaves them; steps from row to row. */
struct column_sums {
	f32x16 *acc;
	const f32x16 *before;
	size_t acc_step, before_step;
};

_Static_assert(COLUMNS_SIDE_2 <= COLUMNS_SIDE, "sums have room for COLUMNS_SIDE columns");
_Static_assert(!COLUMNS_AHEAD ||
	(COLUMNS_UNPACKED == COLUMNS_ROWS && COLUMNS_ROWS * COLUMNS_AHEAD == SPAN_VECTORS * 64),
	"vd_columns() prefetches a line of each kind for each vector of codes");

/* Moves on to what the second group of columns prefetches. Later groups prefetch the same lines again, which costs
 * little: they are on their way or in the cache. */
static inline void advance(struct column_ahead *a)
{
	a->far += COLUMNS_ROWS * COLUMNS_AHEAD;
	UNROLL
	for (size_t r = 0; r < COLUMNS_ROWS; r++)
		a->near[r] += COLUMNS_AHEAD;
}

/* acc[row][column] = before + the products of unpacked spans of COLUMNS_ROWS rows with s.columns columns of
 * activations, the first at x. */
INLINE void columns_add(struct unpacker u, struct column_shape s, struct column_ahead a, int planes,
                        const struct unpacked *w, const char *x, struct column_sums to)
{
	i32x16 sum[2][2][COLUMNS_ROWS][COLUMNS_SIDE];   /* [plane][half] */
	int bias = u.is_signed ? SIGNED_BIAS : u.offset, bias_first = COLUMNS_ROWS > 1 && bias;

	if (bias_first)         /* the sums begin with what undoes the bias, computed once for all rows */
		u.is_signed = u.offset = 0;
	UNROLL
	for (int p = 0; p < planes; p++)
		UNROLL
		for (int h = 0; h < u.scales; h++) {
			UNROLL
			for (int c = 0; c < s.columns; c++) {
				const struct acts_span *at = (const struct acts_span *)(x + (size_t)c * s.step);
				i32x16 start = vi_zero();

				if (bias_first && p == planes - 1)
					start = vi_sub(start, biased_by(at, u.scales == 2 ? h : WHOLE_BLOCK, bias));
				UNROLL
				for (int r = 0; r < COLUMNS_ROWS; r++)
					sum[p][h][r][c] = start;
			}
			s.prefetches = s.prefetches && p == 0;  /* once for all planes */
			vd_columns(s, a, sum[p][h], w->codes + h * s.quads,
			           (const int8_t *)(x + sizeof(struct acts_span)) + p * SPAN + h * s.quads * 64);
		}
	UNROLL
	for (int r = 0; r < COLUMNS_ROWS; r++, to.acc += to.acc_step, to.before += to.before_step) {
		struct scales scales = w[r].s;

		OPAQUE(to.before);      /* otherwise the compiler loads zeros first, and has no registers for them */
		UNROLL
		for (int c = 0; c < s.columns; c++) {
			const struct acts_span *at = (const struct acts_span *)(x + (size_t)c * s.step);
			i32x16 isum[2][2];

			UNROLL
			for (int p = 0; p < planes; p++) {
				isum[p][0] = sum[p][0][r][c];
				isum[p][1] = u.scales == 2 ? sum[p][1][r][c] : vi_zero();
			}
			to.acc[c] = vf_fma(vf_load(at->dx), span_product(u, isum, &scales, at, planes), to.before[c]);
		}
	}
}

INLINE size_t columns_side(int scales, size_t planes)
{
	return scales == 1 && planes == 1 ? COLUMNS_SIDE : COLUMNS_SIDE_2;
}

static struct column_groups groups_of(size_t n, size_t side)
{
	size_t groups = (n + side - 1) / side;

	return (struct column_groups){ n, groups, n / groups, n % groups };
}

/* n columns */
INLINE struct column_sums sums_at(f32x16 *acc, size_t n, int begins)
{
	static const f32x16 zeros[COLUMNS_SIDE];

	return (struct column_sums){ acc, begins ? zeros : acc, n, begins ? 0 : n };
}

/* acc[row][column] += the products of all rows and columns. */
INLINE void spans_add(struct unpacker u, enum format_id id, int planes, const struct span_job *j, f32x16 *acc)
{
	/* Types that are unpacked or multiplied more slowly than memory delivers them would gain nothing. */
	int computes = layouts[id].kind == LAYOUT_SCATTERED || (planes == 2 && u.bytes <= SPAN);
	struct column_shape s = { .rows = COLUMNS_ROWS, .row_step = sizeof(struct unpacked) / sizeof(b64),
		.prefetches = COLUMNS_AHEAD > 0 && u.scales == 1 && !computes,
		.quads = SPAN_VECTORS / u.scales, .top = u.top, .is_signed = u.is_signed,
		.step = acts_span_bytes((size_t)planes) };
	int side = (int)columns_side(u.scales, (size_t)planes);
	size_t n = j->c.n, groups = j->c.groups, most;
	size_t ahead = size_min(u.bytes, COLUMNS_AHEAD * size_min(groups, 2));  /* bytes that the groups prefetch */
	struct column_ahead a;

	for (size_t i = 0; i < j->rows; i += most, acc += most * n) {
		struct unpacked w[COLUMNS_UNPACKED];

		most = COLUMNS_UNPACKED == COLUMNS_ROWS ? COLUMNS_ROWS : size_min(COLUMNS_UNPACKED, j->rows - i);
		a.far = j->far + i * u.bytes;
		for (size_t r = 0; r < most; r += COLUMNS_ROWS)
			UNROLL
			for (size_t k = 0; k < COLUMNS_ROWS; k++) {
				a.near[k] = j->span[i + r + k] + j->near;
				if (!s.prefetches)
					prefetch(a.near[k], a.far + (r + k) * u.bytes, u.bytes);
				for (size_t b = ahead; s.prefetches && b < u.bytes; b += 64)
					prefetch(a.near[k] + b, a.far + ahead + k * (u.bytes - ahead) + b, 64);
				unpack_transposed(u, id, j->span[i + r + k], &w[r + k]);
			}
		for (size_t k = 0, c = 0, group; k < groups; k++, c += group) {
			group = j->c.width + (k < j->c.wider);
			UNROLL          /* code for each number of columns, of which one is run */
			for (s.columns = 1; s.columns <= side; s.columns++)
				for (size_t r = 0; r < most && group == (size_t)s.columns; r += COLUMNS_ROWS)
					columns_add(u, s, a, planes, &w[r], j->x + c * s.step,
					            sums_at(acc + r * n + c, n, j->begins));
			if (s.prefetches && k == 0 && groups > 1)
				advance(&a);
		}
	}
}

typedef void adder(const struct span_job *j, f32x16 *acc);

#define ADDER(id, name, planes, kind) \
	static void kind##_##name(const struct span_job *j, f32x16 *acc) \
	{ \
		spans_add(unpack_##name, id, planes, j, acc); \
	}
#define ADDERS(id, NAME, name, ...) ADDER(id, name, 1, add) ADDER(id, name, 2, add_wide)
FORMATS_QUANTISED(ADDERS)

/* By format and whether activations have 16 bits. */
#define ENTRY(id, NAME, name, ...) [id] = { add_##name, add_wide_##name },
static adder *const adders[FORMAT_LIMIT][2] = { FORMATS_QUANTISED(ENTRY) };
#undef ENTRY

/* Where rows end in a span: the first after `before` blocks, the next ones `blocks` apart; `ended` of them end in it.
 * A row with before == SPAN_BLOCKS ends with the span and fills all lanes; with more, none ends in it. */
struct row_ends {
	size_t before, blocks, ended;
};

/* Ends eight rows that fill all lanes, for n columns: rows are n sums apart in acc, columns `stride` floats apart in y.
 * A stride is often a power of two, and then all columns fall into one set of the first-level cache; so the eight rows
 * of a column go into one store. acc is not cleared: no row follows in it. */
static void end_eight_rows(const f32x16 *acc, size_t n, float *y, size_t stride)
{
	for (size_t c = 0; c < n; c++)
		vd_close_eight(acc + c, n, y + c * stride);
}

/* part_rows() for n columns. */
static void part_columns(struct row_ends e, f32x16 *acc, f32x16 *aside, size_t n)
{
	for (size_t c = 0; c < n; c++)
		part_rows(e.before, &acc[c], &aside[c]);
}

/* Ends the rows of e in one run, for n columns, `stride` floats apart in y. */
static void end_columns(struct row_ends e, f32x16 *acc, const f32x16 *aside, size_t n, float *y, size_t stride)
{
	for (size_t c = 0; c < n; c++)
		if (e.before < SPAN_BLOCKS) {
			end_rows(e.before, &acc[c], aside[c], e.blocks, e.ended, y + c * stride);
		} else {
			y[c * stride] = vd_close(acc[c]);
			acc[c] = vf_zero();
		}
}

/* What all sets of a product's rows have in common. */
struct columns {
	const struct product_job *j;
	adder *add;
	struct column_groups groups;
	size_t blocks, step;                    /* of a row; bytes from a span of activations to the next */
	size_t span, run, run_bytes;            /* bytes of a span of weights; rows of a run, and their bytes */
	const uint8_t *end;                     /* of the weights */
};

/* Rows [r, r + rows) of each of `runs` runs, which follow each other. A run is read span by span; rows may end anywhere
 * in a span, and `done` of them have ended so far. */
static void columns_set(const struct columns *k, size_t r, size_t rows, size_t runs)
{
	size_t n = k->groups.n, done = 0;
	const uint8_t *start = (const uint8_t *)k->j->w->data + r * k->j->w->row_bytes;
	float *y = k->j->y + r;
	struct row_ends e = { k->blocks, k->blocks, 0 };
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST];           /* the mapping may end after the matrix's last blocks */
	struct span_job spans = { .x = k->j->x->data, .c = k->groups, .begins = k->blocks >= SPAN_BLOCKS,
		.rows = (runs + COLUMNS_ROWS - 1) / COLUMNS_ROWS * COLUMNS_ROWS };      /* the last run counts twice */
	f32x16 acc[COLUMNS_SUMS], aside[COLUMNS_SUMS];

	for (size_t i = 0; i < spans.rows; i++)
		spans.span[i] = start + size_min(i, runs - 1) * k->run_bytes;
	for (size_t c = 0; c < spans.rows * n && !spans.begins; c++)
		acc[c] = vf_zero();
	for (size_t g = 0; done < rows; g++, spans.x += k->step) {
		e.ended = size_min(rows_ended(e.before, k->blocks), rows - done);
		if (e.before < SPAN_BLOCKS)
			part_columns(e, acc, aside, runs * n);
		if ((size_t)(k->end - spans.span[runs - 1]) < k->span) {
			memset(rest, 0, sizeof rest);
			memcpy(rest, spans.span[runs - 1], (size_t)(k->end - spans.span[runs - 1]));
			for (size_t i = runs - 1; i < spans.rows; i++)
				spans.span[i] = rest;
		}
		spans.near = done + e.ended < rows ? k->span : runs * k->run_bytes - g * k->span;
		spans.far = start + runs * (k->run_bytes + g * k->span);
		k->add(&spans, acc);
		spans.begins = 0;
		if (e.ended && e.before >= SPAN_BLOCKS && runs == COLUMNS_SET && k->run == 1)
			end_eight_rows(acc, n, y, k->j->stride);
		else
			for (size_t i = 0; i < runs && e.ended; i++)
				end_columns(e, acc + i * n, aside + i * n, n, y + i * k->run + done, k->j->stride);
		done += e.ended;
		e.before = e.ended ? k->blocks - (SPAN_BLOCKS - e.before) % k->blocks : e.before - SPAN_BLOCKS;
		for (size_t i = 0; i < spans.rows; i++)
			spans.span[i] += k->span;
	}
}

void product_columns(const struct product_job *j)
{
	const struct format *f = j->w->format;
	size_t blocks = j->w->cols / 32, planes = acts_planes(j->x->kind), run = acts_copies(blocks).copies, r = j->r0;
	struct columns k = { .j = j, .add = adders[f->id][planes == 2], .blocks = blocks, .run = run,
		.groups = groups_of(j->x->n, columns_side(f->scales, planes)),
		.step = acts_spans_bytes(planes, j->x->n), .span = span_types[f->id].bytes,
		.run_bytes = run * j->w->row_bytes,
		.end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes };

	for (; r + COLUMNS_SET * run <= j->r1; r += COLUMNS_SET * run)
		columns_set(&k, r, run, COLUMNS_SET);
	for (; r < j->r1; r += run)
		columns_set(&k, r, size_min(run, j->r1 - r), 1);
}
