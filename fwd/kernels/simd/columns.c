/* columns: products of quantised weights with several columns, and the rows of one or two columns that decode.c
 * leaves. The weights are read as in decode.c, a span of sixteen blocks at a time. A span is unpacked into memory once
 * for all columns, and its codes are turned so that each lane holds one block, as the activations already are: the
 * products of a block add up in its lane, without a tree for each column. Several rows go side by side: those whose
 * sums are in registers at once share the loads of the activations, all of them the activations in the first-level
 * cache. */
#include <string.h>

#include "lib/base/size.h"
#include "product.h"
#include "rows.h"
#include "spans.h"

/* Rows side by side, and their sums. (16 columns, AVX2: eight rows take 5% less time than four, as the activations of a
 * span come from the second-level cache.) */
enum { COLUMNS_SET = 8, COLUMNS_SUMS = COLUMNS_SET * CODES_FEW };

/* acc[row][column] += the products of unpacked spans of COLUMNS_ROWS rows with so many columns of activations, the
 * first at x; rows are n apart in acc. */
INLINE void columns_add(struct unpacker u, struct column_shape s, int planes, const struct unpacked *w, const char *x,
                        size_t n, f32x16 *acc)
{
	i32x16 sum[2][2][COLUMNS_ROWS][COLUMNS_SIDE];   /* [plane][half] */
	int bias = u.is_signed ? SIGNED_BIAS : u.offset, shared = COLUMNS_ROWS > 1 && bias;

	/* Otherwise the compiler loads all codes before the loop, and spills them. */
	__asm__("" : "+r"(w));
	s.quads = SPAN_VECTORS / u.scales;
	s.top = u.top;
	s.is_signed = u.is_signed;
	if (shared)             /* the rows' sums begin with what undoes the bias */
		u.is_signed = u.offset = 0;
	UNROLL
	for (int p = 0; p < planes; p++)
		UNROLL
		for (int h = 0; h < u.scales; h++) {
			UNROLL
			for (int c = 0; c < s.columns; c++) {
				const struct acts_span *at = (const struct acts_span *)(x + (size_t)c * s.step);
				i32x16 start = vi_zero();

				if (shared && p == planes - 1)
					start = vi_sub(start, biased_by(at, u.scales == 2 ? h : WHOLE_BLOCK, bias));
				UNROLL
				for (int r = 0; r < COLUMNS_ROWS; r++)
					sum[p][h][r][c] = start;
			}
			vd_columns(s, sum[p][h], w->codes + h * s.quads,
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

/* The same for any number of rows, a multiple of COLUMNS_ROWS, and n columns: all rows with one group of columns after
 * the other, so that these stay in the first-level cache. The groups are of about the same size, as the sums of a small
 * one wait for each other. */
INLINE void columns_all(struct unpacker u, int planes, const struct unpacked *w, size_t rows, const char *x, size_t n,
                        f32x16 *acc)
{
	struct column_shape s = { .rows = COLUMNS_ROWS, .row_step = sizeof *w / sizeof *w->codes,
		.step = acts_span_bytes((size_t)planes) };

	for (size_t left = n, groups = (n + COLUMNS_SIDE - 1) / COLUMNS_SIDE, group; left; left -= group, groups--) {
		group = (left + groups - 1) / groups;
		UNROLL
		for (s.columns = 1; s.columns <= COLUMNS_SIDE; s.columns++)
			for (size_t r = 0; r < rows && group == (size_t)s.columns; r += COLUMNS_ROWS)
				columns_add(u, s, planes, w + r, x, n, acc + r * n);
		x += group * s.step;
		acc += group;
	}
}

/* Each kind of sums. */
#define KINDS(ROW) \
	ROW(15, CLASS_15, 1, 0, .offset = 8, .top = 15) \
	ROW(15_minima, CLASS_15, 1, 1, .top = 15) \
	ROW(31, CLASS_31, 1, 0, .offset = 1, .top = 31) \
	ROW(31_minima, CLASS_31, 1, 1, .top = 31) \
	ROW(31_twice, CLASS_31, 2, 0, .offset = 1, .top = 31) \
	ROW(31_twice_minima, CLASS_31, 2, 1, .top = 31) \
	ROW(63_twice, CLASS_63, 2, 0, .offset = 1, .top = 63) \
	ROW(127, CLASS_127, 1, 0, .offset = 1, .top = 127) \
	ROW(127_twice, CLASS_127, 2, 0, .offset = 1, .top = 127) \
	ROW(signed, CLASS_SIGNED, 1, 0, .is_signed = 1, .top = 127)

typedef void adder(int offset, const struct unpacked *w, size_t rows, const char *x, size_t n, f32x16 *acc);

#define ADDER(name, planes, n_scales, has_minima, ...) \
	static void add_##name(int offset, const struct unpacked *w, size_t rows, const char *x, size_t n, \
	                       f32x16 *acc) \
	{ \
		struct unpacker u = { .scales = n_scales, .minima = has_minima, __VA_ARGS__ }; \
		if (u.offset && !offset)        /* so that no column asks */ \
			__builtin_unreachable(); \
		u.offset = u.offset ? offset : 0; \
		columns_all(u, planes, w, rows, x, n, acc); \
	}
#define ADDERS(name, class, ...) ADDER(name, 1, __VA_ARGS__) ADDER(wide_##name, 2, __VA_ARGS__)
KINDS(ADDERS)

/* By class, scales, minima and whether activations have 16 bits. */
#define ENTRY(name, class, n_scales, has_minima, ...) \
	[class][n_scales - 1][has_minima] = { add_##name, add_wide_##name },
static adder *const adders[CODE_CLASSES][2][2][2] = { KINDS(ENTRY) };
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
	adder *add = adders[type->class][f->scales - 1][f->minima][j->x->kind == ACTS_Q16];
	struct acts_copies copies = acts_copies(j->w->cols / 32);
	size_t n = j->x->n, step = acts_spans_bytes(acts_planes(j->x->kind), n), blocks = j->w->cols / 32, done = 0,
	       bytes = copies.copies * j->w->row_bytes, far = sets_ahead(runs * bytes),
	       multiplied = (runs + COLUMNS_ROWS - 1) / COLUMNS_ROWS * COLUMNS_ROWS;    /* the last run maybe twice */
	const uint8_t *start = (const uint8_t *)j->w->data + r * j->w->row_bytes,
	        *end = (const uint8_t *)j->w->data + j->w->rows * j->w->row_bytes;
	struct row_ends e = { blocks, blocks, 0 };
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST];           /* the mapping may end after the matrix's last blocks */
	struct unpacked w[COLUMNS_SET];
	f32x16 acc[COLUMNS_SUMS], aside[COLUMNS_SUMS];

	for (size_t c = 0; c < multiplied * n; c++)
		acc[c] = vf_zero();
	for (size_t g = 0; done < rows; g++) {
		e.ended = size_min(rows_ended(e.before, blocks), rows - done);
		if (e.before < SPAN_BLOCKS)
			part_columns(e, acc, aside, runs * n);
		for (size_t i = 0; i < multiplied; i++) {
			const uint8_t *p = start + size_min(i, runs - 1) * bytes + g * type->bytes, *span = p;

			if ((size_t)(end - p) < type->bytes) {
				memset(rest, 0, sizeof rest);
				span = memcpy(rest, p, (size_t)(end - p));
			}
			type->unpack_turned(span, start + far + (runs * g + i) * type->bytes, &w[i]);
		}
		add(type->offset, w, multiplied, (const char *)j->x->data + g * step, n, acc);
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
