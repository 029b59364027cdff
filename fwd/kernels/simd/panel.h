/* panel: the panels of quantised weights and the kernels that multiply them (tiles.h). A panel holds codes of one
 * byte (or 16 bits) with the rows in the lanes, four codes of a row in each, block after block in visiting order
 * (lanes.h), and after each block its scales. The tiles of columns are multiplied with it, their integer sums in
 * registers. From there on the format matters no more, except for its number of scales and whether it has minima. */
#ifndef PANEL_H
#define PANEL_H

#include <string.h>

#include "spans.h"
#include "tiles.h"

/* Bytes of a block's codes: int8[8][32 rows][4]; or int16[2][8][32 rows][2], elements 0 and 2 of each four, then 1
 * and 3. */
INLINE size_t panel_codes(int i16)
{
	return (size_t)TILE_ODD << i16;
}

/* The fields after a block's codes: [32 rows] of each that the format has. */
enum panel_field {
	/* Integer sums are converted, and multiplied with the scale; or, unless panel_converts(), made as the float
	 * MAGIC_FLOAT + isum: then the addend is -scale·MAGIC_FLOAT, which is exact, and the fma takes it away. The
	 * scale (or the addend) is NaN where the scale is not finite. */
	PANEL_SCALE, PANEL_ADDEND,
	PANEL_SECOND,                   /* the scale of the second half */
	/* the minima: here with one scale a block, one field later with two (panel_min) */
	PANEL_MINIMA = PANEL_SECOND
};

INLINE int panel_min(int scales)
{
	return PANEL_MINIMA + scales - 1;
}

INLINE int panel_converts(int planes)
{
	return planes == 2 || TILE_PAIRS;
}

/* What a panel adds to codes, as tile_dot() takes no negative ones: a power of two, or 0. Codes of types with minima
 * are not negative and stay as they are. */
INLINE int tile_bias(struct tile_shape t)
{
	return t.minima ? 0 : t.i16 ? 128 : t.planes == 2 ? 0 : TILE_BIAS / t.run;
}

/* Is the bias undone in sums of 32 bits? */
INLINE int panel_undo(struct tile_shape t)
{
	return t.i16 || !TILE_PAIRS;
}

/* Parts of a panel of so many blocks. */
static inline int panel_splits(size_t blocks, int i16)
{
	return splits_of(blocks, i16 ? PANEL_SPLIT_I16 : PANEL_SPLIT);
}

INLINE size_t panel_block(int i16, int scales, int minima)
{
	return panel_codes(i16) + (size_t)(panel_min(scales) + (minima ? scales : 0)) * KERNELS_ROWS * 4;
}

static inline size_t panel_bytes(size_t k)
{
	return k / 32 * panel_block(TILE_I16, 2, 1);
}

/* ---- filling it ---- */

static inline float *panel_field(struct panel *p, size_t g, int block, int f)
{
	return (float *)(p->data + (p->first[block] + g) * p->block + panel_codes(p->i16)) + f * KERNELS_ROWS;
}

/* Stores v[row], whose lanes are blocks in lane order, in field f of the `count` blocks of a span. step: from the v of
 * a row to that of the next, in bytes. */
static __attribute__((noinline)) void spread(struct panel *p, const f32x16 *v, size_t step, size_t g, size_t count,
                                             size_t rows, int f)
{
	i32x16 t[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		t[i] = vf_as_int(*(const f32x16 *)((const char *)v + (size_t)i * step));
	vi_transpose(t);
	UNROLL
	for (int i = 0; i < 16; i++)
		if (lane_block[i] < count)
			vf_store(panel_field(p, g, lane_block[i], f) + rows, vi_as_float(t[i]));
}

/* Stores codes of 16 rows, four of a row in each lane. */
INLINE void store_codes(uint8_t *to, i32x16 codes, int i16)
{
	const i32x16 even = vi_set1(0x00ff00ff);

	if (i16)
		vi_store((int32_t *)(to + TILE_ODD), vi_and(vi_shr(codes, 8), even));
	vi_store((int32_t *)to, i16 ? vi_and(codes, even) : codes);
}

/* Stores span g of sixteen rows; rows: 0 or 16, the place of the first in the panel. */
static void fill_span(const struct format *f, struct panel *p, const struct unpacked span[16], size_t g, size_t rows)
{
	int shift = p->bias - span_types[f->id].offset;
	size_t count = p->blocks - g * 16 < 16 ? p->blocks - g * 16 : 16;
	f32x16 field[16];

	for (int c = 0; c < SPAN_VECTORS && (size_t)c * 2 < count; c++) {
		i32x16 v[16];

		UNROLL
		for (int i = 0; i < 16; i++)
			v[i] = vb_as_int(vb_add(span[i].codes[c], shift));
		vi_transpose(v);
		UNROLL
		for (int i = 0; i < 16; i += 2)
			tile_pair(&v[i], &v[i + 1]);
		UNROLL
		for (int i = 0; i < 16; i++)
			if ((size_t)(2 * c + i / 8) < count)
				store_codes(p->data + (p->first[2 * c + i / 8] + g) * p->block +
				            ((size_t)(i % 8 * KERNELS_ROWS) + rows) * 4, v[i], p->i16);
	}
	for (int i = 0; i < 16; i++) {
		f32x16 scale = span[i].s.scale[0];

		field[i] = panel_converts(p->planes) ? vf_sub(scale, vf_sub(scale, scale))
		        : vf_mul(scale, vf_set1(-MAGIC_FLOAT));
	}
	if (panel_converts(p->planes))
		spread(p, field, sizeof *field, g, count, rows, PANEL_SCALE);
	else {
		spread(p, &span[0].s.scale[0], sizeof *span, g, count, rows, PANEL_SCALE);
		spread(p, field, sizeof *field, g, count, rows, PANEL_ADDEND);
	}
	if (f->scales == 2)
		spread(p, &span[0].s.scale[1], sizeof *span, g, count, rows, PANEL_SECOND);
	for (int i = 0; i < (f->minima ? f->scales : 0); i++)
		spread(p, &span[0].s.min[i], sizeof *span, g, count, rows, panel_min(f->scales) + i);
}

/* Prefetches the next span of a row. What tiles_ahead() prefetched is in the second-level cache or, by now, in the
 * third, and the rows are too many streams for the hardware (AVX-512, Q8_0, other work on the machine: filling
 * takes a fiftieth of the time, a fifteenth without). */
INLINE void prefetch_span(const uint8_t *next, size_t bytes)
{
	for (size_t line = 0; line < bytes; line += 64)
		__builtin_prefetch(next + line, 0, 3);
}

static void fill_codes(struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	const struct span_type *type = &span_types[w->format->id];
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST];
	struct unpacked span[16];

	for (size_t rows = 0; rows < KERNELS_ROWS; rows += 16)
		for (size_t g = 0; g * 16 < p->blocks; g++) {
			size_t left = w->row_bytes - g * type->bytes;

			for (size_t i = 0; i < 16; i++) {
				size_t row = r + rows + i < r1 ? r + rows + i : r1 - 1;
				const uint8_t *from = (const uint8_t *)w->data + row * w->row_bytes + g * type->bytes;

				prefetch_span(from + type->bytes, type->bytes);
				if (left < type->bytes) {
					memset(rest, 0, sizeof rest);
					from = memcpy(rest, from, left);
				}
				type->unpack(from, &span[i]);
			}
			fill_span(w->format, p, span, g, rows);
		}
}

/* ---- multiplying it ---- */

typedef i32x16 tile_sums[TILE_COLUMNS][TILE_VECTORS];

INLINE f32x16 tile_setf(const int32_t *x)
{
	float f;

	memcpy(&f, x, sizeof f);
	return vf_set1(f);
}

/* The integer sums over `quads` fours of codes, from four q0 of the block on. start[column]: what undoes the panel's
 * bias. */
INLINE void tile_integers(struct tile_shape t, i32x16 (*s)[TILE_VECTORS], const uint8_t *w, const int32_t *x, int q0,
                          int quads, const int32_t *start)
{
	int biased = tile_bias(t) && panel_undo(t);

	if (t.planes == 2 && !t.i16) {
		UNROLL
		for (int c = 0; c < t.columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				s[c][v] = vi_zero();
		tile_dot(t, s, w + q0 * 4 * KERNELS_ROWS, x + q0 * t.width, quads, start);
		x += 8 * t.width;
	}
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++) {
			i32x16 from = biased ? vi_set1(start[c])
			        : panel_converts(t.planes) ? vi_zero() : vi_set1(MAGIC);

			s[c][v] = t.planes == 1 || t.i16 ? from : vi_add(from, vi_sub(vi_shl(s[c][v], 8), s[c][v]));
		}
	tile_dot(t, s, w + q0 * 4 * KERNELS_ROWS, x + q0 * t.width, quads, start);
}

/* Which extras a kernel reads: the first and how many, or none. */
INLINE int tile_extra(struct tile_shape t)
{
	if (t.minima)
		return t.scales == 2 ? EXTRA_XSUM_FIRST : EXTRA_XSUM;
	return t.run == 2 ? EXTRA_BIAS_QUARTERS : EXTRA_BIAS_FIRST;
}

INLINE int tile_extras(struct tile_shape t)
{
	if (t.minima)
		return t.less ? 2 : t.scales;
	return t.run == 2 ? 4 : t.scales == 2 ? 2 : 0;
}

/* Prefetches the activations TILE_AHEAD blocks on. They come from the third-level cache or from memory, and the
 * kernel reads them too slowly for the hardware to look far enough ahead (AVX-512, k = 8192, 512 columns: 0.72 of
 * the peak, 0.55 without). A block may begin anywhere in a line; 15 int32s more cover its last one. */
enum { TILE_AHEAD = 8 };

INLINE void tile_prefetch(struct tile_shape t, const int32_t *x, const int32_t *extras)
{
	int near = (8 * t.planes + FIELDS) * t.width, far = tile_extras(t) * t.width;

	UNROLL
	for (int i = 0; i < near + 15; i += 16)
		__builtin_prefetch(x + TILE_AHEAD * near + i, 0, 2);
	if (far)
		UNROLL
		for (int i = 0; i < far + 15; i += 16)
			__builtin_prefetch(extras + (TILE_AHEAD * EXTRAS + tile_extra(t)) * t.width + i, 0, 2);
}

/* acc += the products of one block */
INLINE void tile_block(struct tile_shape t, f32x16 (*acc)[TILE_VECTORS], const uint8_t *w, const int32_t *x,
                       const int32_t *extras)
{
	const float *field = (const float *)(w + panel_codes(t.i16));
	const int32_t *near = x + 8 * t.planes * t.width, *start = extras + tile_extra(t) * t.width;
	tile_sums s;
	f32x16 sum[TILE_COLUMNS][TILE_VECTORS];

	tile_integers(t, s, w, x, 0, 8 / t.scales,
	              t.scales == 2 || t.run == 2 ? start : near + FIELD_BIAS * t.width);
	if (t.less)
		UNROLL
		for (int c = 0; c < t.columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				s[c][v] = vi_add(s[c][v], vi_set1(extras[EXTRA_LESS * t.width + c]));
	UNROLL
	for (int v = 0; v < TILE_VECTORS; v++) {
		f32x16 scale = vf_load(field + PANEL_SCALE * KERNELS_ROWS + 16 * v);

		UNROLL
		for (int c = 0; c < t.columns; c++)
			sum[c][v] = panel_converts(t.planes) ? vf_mul(scale, vi_to_float(s[c][v]))
			        : vf_fma(scale, vi_as_float(s[c][v]),
			                 vf_load(field + PANEL_ADDEND * KERNELS_ROWS + 16 * v));
	}
	if (t.scales == 2) {
		tile_integers(t, s, w, x, 4, 4, start + tile_extras(t) / 2 * t.width);
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++) {
			f32x16 scale = vf_load(field + PANEL_SECOND * KERNELS_ROWS + 16 * v);

			UNROLL
			for (int c = 0; c < t.columns; c++)
				sum[c][v] = vf_fma(scale, panel_converts(t.planes) ? vi_to_float(s[c][v])
				                   : vf_sub(vi_as_float(s[c][v]), vf_set1(MAGIC_FLOAT)), sum[c][v]);
		}
	}
	for (int m = 0; m < (t.minima ? t.scales : 0); m++) {
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++) {
			f32x16 min = vf_load(field + (panel_min(t.scales) + m) * KERNELS_ROWS + 16 * v);

			UNROLL
			for (int c = 0; c < t.columns; c++)
				sum[c][v] = vf_fma(min, tile_setf(start + m * t.width + c), sum[c][v]);
		}
	}
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			acc[c][v] = vf_fma(tile_setf(near + FIELD_DX * t.width + c), sum[c][v], acc[c][v]);
}

/* A strip is a few blocks (TILE_STRIP). These columns and vectors of rows are multiplied with one strip before the
 * next: all of the tile, or one registerful. */
enum {
	STRIP_COLUMNS = TILE_STRIP ? ACTS_COLUMNS : TILE_COLUMNS,
	STRIP_VECTORS = TILE_STRIP ? KERNELS_ROWS / 16 : TILE_VECTORS
};

typedef f32x16 tile_floats[STRIP_COLUMNS][STRIP_VECTORS];

/* Where a kernel is in a residue: the panel, the activations and their extras, and the stack of sums. */
struct tile_walk {
	const uint8_t *w;
	const int32_t *x, *extras;
	size_t blocks;          /* of the residue */
	int u;                  /* number of the residue in this part of k */
	tile_floats *stack;
};

INLINE size_t tile_panel_block(struct tile_shape t)
{
	return panel_block(t.i16, t.scales, t.minima);
}

static inline size_t tile_ints(struct tile_shape t)
{
	return acts_block_ints(t.planes == 2 ? ACTS_Q16 : ACTS_Q8, (size_t)t.width);
}

/* Blocks [b0, b1) of the residue, for a registerful: columns from c0 and vectors of rows from v0 of the tile.
 * *stack has the sums of the blocks before b0 and takes those of these blocks. Where a residue is complete, the
 * sums are added to those that they meet in the closing tree. */
INLINE void tile_strip(struct tile_shape t, struct tile_walk at, int c0, int v0, size_t b0, size_t b1)
{
	int ahead = !TILE_STRIP || (c0 == 0 && v0 == 0);
	f32x16 acc[TILE_COLUMNS][TILE_VECTORS];

	at.w += b0 * tile_panel_block(t) + (size_t)v0 * 64;
	at.x += b0 * tile_ints(t) + (size_t)c0;
	at.extras += b0 * EXTRAS * (size_t)t.width + (size_t)c0;
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			acc[c][v] = b0 ? (*at.stack)[c0 + c][v0 + v] : vf_zero();
	for (size_t b = b0; b < b1; b++, at.w += tile_panel_block(t), at.x += tile_ints(t),
	     at.extras += EXTRAS * t.width) {
		if (ahead)
			tile_prefetch(t, at.x, at.extras);
		tile_block(t, acc, at.w, at.x, at.extras);
	}
	for (int odd = b1 == at.blocks ? at.u : 0; odd & 1; odd >>= 1) {
		at.stack--;
		UNROLL
		for (int c = 0; c < t.columns; c++)
			UNROLL
			for (int v = 0; v < TILE_VECTORS; v++)
				acc[c][v] = vf_add((*at.stack)[c0 + c][v0 + v], acc[c][v]);
	}
	UNROLL
	for (int c = 0; c < t.columns; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			(*at.stack)[c0 + c][v0 + v] = acc[c][v];
}

/* Columns of the tile at c that are computed, in steps of t.columns: those that there are, and zeros. */
INLINE int tile_computed(struct tile_shape t, size_t c, size_t n)
{
	return t.width == ACTS_COLUMNS || n - c > ACTS_STEP ? t.width : ACTS_STEP;
}

/* The tile of activations that begins at column c: the accumulators of one residue after the other, on a stack where
 * the closing tree adds them as they come. Where registers are few, all columns and rows of the tile are multiplied
 * with a strip before the next one, so that its codes and activations stay in the first-level cache; where there are
 * many, a registerful of columns and rows runs through all of the part. */
INLINE void tile_multiply(struct tile_shape t, struct tiling *d, const struct panel *p, size_t c)
{
	const struct acts *x = d->job->x;
	int computed = tile_computed(t, c, x->n), columns = TILE_STRIP ? computed : t.columns;
	int count = 16 / d->splits, rows = KERNELS_ROWS / 16;
	const unsigned char *residue = residues + d->split * count;
	size_t place = p->first[*residue];

	for (int turn = 0; turn < computed / columns * (rows / STRIP_VECTORS); turn++) {
		int c0 = turn / (rows / STRIP_VECTORS) * columns, v0 = turn % (rows / STRIP_VECTORS) * STRIP_VECTORS;
		struct tile tile = { c + (size_t)c0, (size_t)columns, d->r + (size_t)v0 * 16, STRIP_VECTORS };
		struct tile_walk at = { .w = p->data + place * tile_panel_block(t) + (size_t)v0 * 64 };
		tile_floats stack[5];

		at.x = acts_tile(x, c) + place * tile_ints(t) + c0;
		at.extras = acts_extras(x, c) + place * EXTRAS * (size_t)t.width + c0;
		at.stack = stack;
		open_tile(d, tile);
		for (at.u = 0; at.u < count; at.u++) {
			size_t b = 0, end;

			at.blocks = residue_count(p->blocks, residue[at.u]);
			tiles_ahead(d);
			do {
				end = TILE_STRIP > 0 && b + TILE_STRIP < at.blocks ? b + TILE_STRIP : at.blocks;
				for (int i = 0; i < columns; i += t.columns)
					for (int v = 0; v < STRIP_VECTORS; v += TILE_VECTORS)
						tile_strip(t, at, i, v, b, end);
				b = end;
			} while (b < at.blocks);
			at.w += at.blocks * tile_panel_block(t);
			at.x += at.blocks * tile_ints(t);
			at.extras += at.blocks * EXTRAS * (size_t)t.width;
			at.stack = stack + __builtin_popcount((unsigned)at.u + 1);
		}
		close_tile(d, stack[0][0], tile);
	}
}

INLINE void code_kernel(struct tile_shape t, struct tiling *d, const struct panel *p, size_t c)
{
	if (tile_width(c, d->job->x->n) == ACTS_COLUMNS) {
		t.columns = t.scales == 2 ? TILE_COLUMNS_2 : TILE_COLUMNS, t.width = ACTS_COLUMNS;
		tile_multiply(t, d, p, c);
	} else {
		t.columns = ACTS_STEP, t.width = ACTS_NARROW;
		tile_multiply(t, d, p, c);
	}
}

/* The kernels that the panels of all formats share. */
#define CODE_KERNEL(name, ...) \
	static void name(struct tiling *d, const struct panel *p, size_t c) \
	{ \
		code_kernel((struct tile_shape){ __VA_ARGS__ }, d, p, c); \
	}
#define BYTES_KERNEL(name, n_scales, has_minima, fours, offset) \
	CODE_KERNEL(name, .planes = 1, .scales = n_scales, .minima = has_minima, .run = fours, .less = offset)
TILE_BYTES(BYTES_KERNEL)
CODE_KERNEL(kernel_wide_1, .planes = 2, .i16 = TILE_I16, .scales = 1)
CODE_KERNEL(kernel_wide_1_minima, .planes = 2, .i16 = TILE_I16, .scales = 1, .minima = 1)
CODE_KERNEL(kernel_wide_2, .planes = 2, .i16 = TILE_I16, .scales = 2)
CODE_KERNEL(kernel_wide_2_minima, .planes = 2, .i16 = TILE_I16, .scales = 2, .minima = 1)
#undef BYTES_KERNEL
#undef CODE_KERNEL

/* A kernel and what its panels add to codes. */
struct code_panel {
	panel_kernel *kernel;
	int bias;
};

static struct code_panel code_panel_of(const struct format *f, int planes)
{
#define ROW(name, n_scales, has_minima, fours, offset) \
	{ name, tile_bias((struct tile_shape){ .planes = 1, .minima = has_minima, .run = fours }) },
	const struct code_panel bytes[] = { TILE_BYTES(ROW) };
#undef ROW
	static panel_kernel *const wide[2][2] = {
		{ kernel_wide_1, kernel_wide_1_minima }, { kernel_wide_2, kernel_wide_2_minima }
	};

	if (planes == 1)
		return bytes[tile_kernel(f)];
	return (struct code_panel){ wide[f->scales - 1][f->minima],
		tile_bias((struct tile_shape){ .planes = 2, .i16 = TILE_I16, .minima = f->minima }) };
}

#endif
