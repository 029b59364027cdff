/* columns: products of quantised weights with several columns, and the rows of one or two columns that decode.c
 * leaves. The weights are read as in decode.c, a span of sixteen blocks at a time. A span is unpacked once for all
 * columns, and its codes are transposed (lanes.h), as the activations already are: the products of a block add up in
 * its lane, without a tree for each column. Several rows go side by side: all of them share the activations in the
 * first-level cache, and those whose sums are in registers at once share their loads, too. With 32 registers of 64
 * bytes the codes stay in them; otherwise all rows are unpacked into memory before they are multiplied, and one group
 * of columns after the other is in the first-level cache. */
#include <string.h>

#include "lib/base/size.h"
#include "prefetch.h"
#include "product.h"
#include "rows.h"
#include "transposed.h"

/* COLUMNS_SET: rows side by side, of which COLUMNS_ROWS are in registers at once. (16 columns, AVX2: eight rows take 5%
 * less time than four, as the activations of a span come from the second-level cache.) */
enum { COLUMNS_SET = 8, COLUMNS_SUMS = COLUMNS_SET * CODES_FEW };

/* The same span of several rows and of n columns. */
struct span_job {
	const uint8_t *span[COLUMNS_SET];       /* where it begins in each row */
	const uint8_t *near[COLUMNS_SET];       /* prefetched: the spans that come after these */
	const uint8_t *far;                     /* prefetched far ahead: as many bytes as the spans have */
	size_t rows;                            /* a multiple of COLUMNS_ROWS */
	const char *x;                          /* activations of the first of n columns */
	size_t n;
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

/* acc[row][column] += the products of unpacked spans of COLUMNS_ROWS rows with s.columns columns of activations, the
 * first at x; rows are n apart in acc. */
INLINE void columns_add(struct unpacker u, struct column_shape s, struct column_ahead a, int planes,
                        const struct unpacked *w, const char *x, size_t n, f32x16 *acc)
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
	for (int r = 0; r < COLUMNS_ROWS; r++, acc += n) {
		struct scales scales = w[r].s;

		UNROLL
		for (int c = 0; c < s.columns; c++) {
			const struct acts_span *at = (const struct acts_span *)(x + (size_t)c * s.step);
			i32x16 isum[2][2];

			UNROLL
			for (int p = 0; p < planes; p++) {
				isum[p][0] = sum[p][0][r][c];
				isum[p][1] = u.scales == 2 ? sum[p][1][r][c] : vi_zero();
			}
			acc[c] = vf_fma(vf_load(at->dx), span_product(u, isum, &scales, at, planes), acc[c]);
		}
	}
}

/* acc[row][column] += the products of all rows and columns. The groups of columns are of about the same size, as the
 * sums of a small one wait for each other. */
INLINE void spans_add(struct unpacker u, enum format_id id, int planes, const struct span_job *j, f32x16 *acc)
{
	/* Types that are unpacked or multiplied more slowly than memory delivers them would gain nothing. */
	int computes = layouts[id].kind == LAYOUT_SCATTERED || (planes == 2 && u.bytes <= SPAN);
	struct column_shape s = { .rows = COLUMNS_ROWS, .row_step = sizeof(struct unpacked) / sizeof(b64),
		.prefetches = COLUMNS_AHEAD > 0 && u.scales == 1 && !computes,
		.quads = SPAN_VECTORS / u.scales, .top = u.top, .is_signed = u.is_signed,
		.step = acts_span_bytes((size_t)planes) };
	int side = u.scales == 1 && planes == 1 ? COLUMNS_SIDE : COLUMNS_SIDE_2;
	size_t n = j->n, groups = (n + (size_t)side - 1) / (size_t)side, least = n / groups, larger = n % groups, most;
	size_t ahead = size_min(u.bytes, COLUMNS_AHEAD * size_min(groups, 2));  /* bytes that the groups prefetch */
	struct column_ahead a;

	for (size_t i = 0; i < j->rows; i += most, acc += most * n) {
		struct unpacked w[COLUMNS_UNPACKED];

		most = COLUMNS_UNPACKED == COLUMNS_ROWS ? COLUMNS_ROWS : size_min(COLUMNS_UNPACKED, j->rows - i);
		a.far = j->far + i * u.bytes;
		for (size_t r = 0; r < most; r += COLUMNS_ROWS)
			UNROLL
			for (size_t k = 0; k < COLUMNS_ROWS; k++) {
				a.near[k] = j->near[i + r + k];
				if (!s.prefetches)
					prefetch(a.near[k], a.far + (r + k) * u.bytes, u.bytes);
				for (size_t b = ahead; s.prefetches && b < u.bytes; b += 64)
					prefetch(a.near[k] + b, a.far + ahead + k * (u.bytes - ahead) + b, 64);
				unpack_transposed(u, id, j->span[i + r + k], &w[r + k]);
			}
		for (size_t k = 0, c = 0, group; k < groups; k++, c += group) {
			group = least + (k < larger);
			UNROLL
			for (s.columns = 1; s.columns <= side; s.columns++)
				for (size_t r = 0; r < most && group == (size_t)s.columns; r += COLUMNS_ROWS)
					columns_add(u, s, a, planes, &w[r], j->x + c * s.step, n, acc + r * n + c);
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

/* Where rows end in a span: the first before its block `before`, each of the others `blocks` further. */
struct row_ends {
	size_t before, blocks, ended;
};

/* Ends eight rows whose sums fill all lanes, for n columns: those of a row are n apart in acc, and columns `stride`
 * apart in y. Often that is a power of two, and all columns share one set of the first-level cache: so each takes its
 * rows in one store. */
static void end_eight_rows(const f32x16 *acc, size_t n, float *y, size_t stride)
{
	for (size_t c = 0; c < n; c++)
		vd_close_eight(acc + c, n, y + c * stride);
}

static void part_columns(struct row_ends e, f32x16 *acc, f32x16 *aside, size_t n)
{
	for (size_t c = 0; c < n; c++)
		part_rows(e.before, &acc[c], &aside[c]);
}

/* For n columns, `stride` apart in y. */
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

/* Rows [r, r + rows) of each of `runs` runs, which lie as many rows apart as there are copies of the column. */
static void columns_set(const struct product_job *j, size_t r, size_t rows, size_t runs)
{
	const struct format *f = j->w->format;
	const struct span_type *type = &span_types[f->id];
	adder *add = adders[f->id][j->x->kind == ACTS_Q16];
	struct acts_copies copies = acts_copies(j->w->cols / 32);
	size_t n = j->x->n, step = acts_spans_bytes(acts_planes(j->x->kind), n), blocks = j->w->cols / 32, done = 0,
	       bytes = copies.copies * j->w->row_bytes;
	const uint8_t *start = (const uint8_t *)j->w->data + r * j->w->row_bytes,
	        *end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes;
	struct row_ends e = { blocks, blocks, 0 };
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST];           /* the mapping may end after the matrix's last blocks */
	struct span_job spans = { .n = n,
		.rows = (runs + COLUMNS_ROWS - 1) / COLUMNS_ROWS * COLUMNS_ROWS };      /* the last run counts twice */
	f32x16 acc[COLUMNS_SUMS], aside[COLUMNS_SUMS];

	for (size_t c = 0; c < spans.rows * n; c++)
		acc[c] = vf_zero();
	for (size_t g = 0; done < rows; g++) {
		e.ended = size_min(rows_ended(e.before, blocks), rows - done);
		if (e.before < SPAN_BLOCKS)
			part_columns(e, acc, aside, runs * n);
		for (size_t i = 0; i < spans.rows; i++) {
			const uint8_t *p = start + size_min(i, runs - 1) * bytes + g * type->bytes;

			spans.span[i] = p;
			spans.near[i] = done + e.ended < rows ? p + type->bytes : start + (runs + i) * bytes;
			if ((size_t)(end - p) < type->bytes) {
				memset(rest, 0, sizeof rest);
				spans.span[i] = memcpy(rest, p, (size_t)(end - p));
			}
		}
		spans.far = start + runs * (bytes + g * type->bytes);
		spans.x = (const char *)j->x->data + g * step;
		add(&spans, acc);
		if (e.ended && e.before >= SPAN_BLOCKS && runs == COLUMNS_SET && copies.copies == 1)
			end_eight_rows(acc, n, j->y + r, j->stride);
		else
			for (size_t i = 0; i < runs && e.ended; i++)
				end_columns(e, acc + i * n, aside + i * n, n, j->y + r + i * copies.copies + done,
				            j->stride);
		done += e.ended;
		e.before = e.ended ? blocks - (SPAN_BLOCKS - e.before) % blocks : e.before - SPAN_BLOCKS;
	}
}

void product_columns(const struct product_job *j)
{
	size_t run = acts_copies(j->w->cols / 32).copies, r = j->r0;

	for (; r + COLUMNS_SET * run <= j->r1; r += COLUMNS_SET * run)
		columns_set(j, r, run, COLUMNS_SET);
	for (; r < j->r1; r += run)
		columns_set(j, r, size_min(run, j->r1 - r), 1);
}
