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

/* Stores codes of 16 rows, four of a row in each lane. */
INLINE void store_codes(uint8_t *to, i32x16 codes, int i16)
{
	const i32x16 even = vi_set1(0x00ff00ff);

	if (i16)
		vi_store((int32_t *)(to + TILE_ODD), vi_and(vi_shr(codes, 8), even));
	vi_store((int32_t *)to, i16 ? vi_and(codes, even) : codes);
}

/* Sixteen rows of a span in memory, `step` bytes apart, and where they go. */
struct span_rows {
	const uint8_t *first;
	size_t step;
	size_t g, count;        /* number of the span, and of its blocks */
	size_t place;           /* in the panel: rows from 0 or from 16 on */
};

/* Stores half h of block b: sixteen codes of each row, four in each lane of each of v[4]. */
INLINE void store_half(struct panel *p, struct span_rows s, size_t b, size_t h, int i16, const b64 v[4], int shift)
{
	uint8_t *to = p->data + (p->first[b] + s.g) * p->block + (4 * h * KERNELS_ROWS + s.place) * 4;
	i32x16 fours[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		fours[i] = vb_as_int(vb_add(v[i], shift));
	tile_pair(&fours[0], &fours[1]);
	tile_pair(&fours[2], &fours[3]);
	UNROLL
	for (int i = 0; i < 4; i++)
		store_codes(to + i * 4 * KERNELS_ROWS, fours[i], i16);
}

/* The sixteen bytes at p of each row, four in each lane of each of v[4]. */
INLINE void load_half(const uint8_t *p, size_t step, b64 v[4])
{
	UNROLL
	for (int i = 0; i < 4; i++, p += step)
		v[i] = vb_of(vb_16(p), vb_16(p + 4 * step), vb_16(p + 8 * step), vb_16(p + 12 * step));
	vb_transpose_quarters(v);
}

/* The codes of sixteen rows. They lie in the lanes before nibbles are taken apart, which saves half of the shuffles.
 * shift: added to each. */
INLINE void fill_span(struct panel *p, struct code_layout l, struct span_rows s, int shift)
{
	size_t pairs = l.kind == LAYOUT_PAIRS, halves = l.kind == LAYOUT_NIBBLES ? 1 : 2;
	int i16 = p->i16;

	for (size_t b = 0; b < s.count; b += 1 + pairs) {
		const uint8_t *from = s.first + l.first + b % 8 * l.step + b / 8 * l.eight;

		UNROLL
		for (size_t h = 0; h < halves; h++) {
			b64 v[4], high[4];

			load_half(from + 16 * h, s.step, v);
			if (l.kind != LAYOUT_BYTES) {
				UNROLL
				for (int i = 0; i < 4; i++) {
					high[i] = vb_shr(v[i], 4, 15);
					v[i] = vb_low(v[i]);
					if (l.table) {
						high[i] = vb_lookup(l.table, high[i]);
						v[i] = vb_lookup(l.table, v[i]);
					}
				}
				store_half(p, s, b + pairs, pairs ? h : 1, i16, high, shift);
			}
			store_half(p, s, b, h, i16, v, shift);
		}
	}
}

/* Has each kind of layout compiled for itself. */
static void fill_span_of_any(struct panel *p, struct code_layout l, struct span_rows s, int shift)
{
	switch (l.kind) {
	case LAYOUT_NIBBLES: fill_span(p, l, s, shift); break;
	case LAYOUT_PAIRS: fill_span(p, l, s, shift); break;
	default: l.kind = LAYOUT_BYTES; fill_span(p, l, s, shift);
	}
}

/* Stores field f of each block. *v is that of the first row, with blocks in lane order; those of the others lie at the
 * same place of the next structs. */
static __attribute__((noinline)) void spread(struct panel *p, const f32x16 *v, struct span_rows s, int f)
{
	i32x16 t[16];

	UNROLL
	for (size_t i = 0; i < 16; i++)
		t[i] = vf_as_int(*(const f32x16 *)((const char *)v + i * sizeof(struct unpacked)));
	vi_transpose(t);
	UNROLL
	for (int i = 0; i < 16; i++) {
		f32x16 x = vi_as_float(t[i]);
		float *to = panel_field(p, s.g, lane_block[i], f) + s.place;

		if (lane_block[i] >= s.count)
			continue;
		if (f == PANEL_SCALE && panel_converts(p->planes))
			x = vf_sub(x, vf_sub(x, x));
		else if (f == PANEL_SCALE)
			vf_store(to + (PANEL_ADDEND - PANEL_SCALE) * KERNELS_ROWS, vf_mul(x, vf_set1(-MAGIC_FLOAT)));
		vf_store(to, x);
	}
}

/* Prefetches the next span of a row. What tiles_ahead() prefetched is in the second-level cache or, by now, in the
 * third, and the rows are too many streams for the hardware (AVX-512, Q8_0, other work on the machine: filling
 * takes a fiftieth of the time, a fifteenth without). */
INLINE void prefetch_span(const uint8_t *next, size_t bytes)
{
	for (size_t line = 0; line < bytes; line += 64)
		__builtin_prefetch(next + line, 0, 3);
}

typedef uint8_t span_copies[16][SPAN_BLOCKS * BLOCK_BYTES_MOST];

/* Span g of sixteen rows from r on, *step bytes apart. It is copied where it passes the end of the matrix, as the
 * mapping may end there, too, and where there are fewer rows; the last one then comes again. */
static const uint8_t *span_of_rows(const struct matrix *w, size_t r, size_t r1, size_t g, span_copies copy,
                                   size_t *step)
{
	size_t bytes = span_types[w->format->id].bytes, at = g * bytes;
	const uint8_t *data = w->data, *end = data + w->rows * w->row_bytes;

	*step = w->row_bytes;
	if (r + 16 <= r1 && (r + 15) * *step + at + bytes <= (size_t)(end - data))
		return data + r * *step + at;
	memset(copy, 0, sizeof(span_copies));
	for (size_t i = 0; i < 16; i++) {
		const uint8_t *from = data + size_min(r + i, r1 - 1) * *step + at;

		memcpy(copy[i], from, size_min((size_t)(end - from), bytes));
	}
	*step = sizeof copy[0];
	return copy[0];
}

static void fill_codes(struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	const struct format *f = w->format;
	const struct span_type *type = &span_types[f->id];
	int scattered = layouts[f->id].kind == LAYOUT_SCATTERED;
	struct unpacked span[16];
	span_copies copy;

	for (struct span_rows s = { .place = 0 }; s.place < KERNELS_ROWS; s.place += 16)
		for (s.g = 0; s.g * 16 < p->blocks; s.g++) {
			struct code_layout l = { LAYOUT_BYTES, 0, 32, 8 * 32, NULL };

			s.count = size_min(p->blocks - s.g * 16, 16);
			s.first = span_of_rows(w, r + s.place, r1, s.g, copy, &s.step);
			for (size_t i = 0; i < 16; i++) {
				const uint8_t *from = s.first + i * s.step;

				prefetch_span(from + type->bytes, type->bytes);
				if (scattered)
					type->unpack(from, &span[i]);
				else
					type->scales(from, &span[i].s);
			}
			if (scattered) {
				s.first = (const uint8_t *)span[0].codes;
				s.step = sizeof *span;
			} else
				l = layouts[f->id];
			fill_span_of_any(p, l, s, p->bias - type->offset);
			spread(p, &span[0].s.scale[0], s, PANEL_SCALE);
			if (f->scales == 2)
				spread(p, &span[0].s.scale[1], s, PANEL_SECOND);
			for (int i = 0; i < (f->minima ? f->scales : 0); i++)
				spread(p, &span[0].s.min[i], s, panel_min(f->scales) + i);
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
