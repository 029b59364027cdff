/* panel_kernel: multiplies a panel of quantised weights (panel.h) with tiles of columns (tiles.h), whose integer sums
 * are in registers. */
#ifndef PANEL_KERNEL_H
#define PANEL_KERNEL_H

#include "panel.h"

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
